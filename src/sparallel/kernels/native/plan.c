#include "plan.h"

#include <limits.h>
#include <stdlib.h>

/* In vectors of 32 bytes; wider registers come with larger caches, so one set serves. */
enum {
    L1_VECTORS = 1024,
    L2_VECTORS = 6144,
    LONGEST_TILE = 12,
    ENTRIES = 16 /* kept weights a channel and block that make a tile's loop worth starting */
};

static int most(int a, int b) { return a > b ? a : b; }
static int least(int a, int b) { return a < b ? a : b; }

/* Channels to sum over at a time: as many as the L1 cache holds, but not so few that a block has
 * next to no kept weights. `others` counts the channels on the other side. */
static void split(visiting_order *order, int channels, int others, int kept,
                  int vectors_a_channel) {
    int fitting = most(1, L1_VECTORS / most(1, vectors_a_channel));
    double needed = (double)ENTRIES * channels * others / most(kept, 1);
    if (needed > fitting) fitting = needed < channels ? (int)needed : channels;
    order->blocks = (channels + fitting - 1) / fitting;
    order->channels_a_block = (channels + order->blocks - 1) / order->blocks;
}

static int allocate(visiting_order *order, int64_t groups, int kept) {
    order->start = calloc((size_t)groups + 1, sizeof *order->start);
    order->offset = malloc(((size_t)kept + 1) * sizeof *order->offset);
    order->position = malloc(((size_t)kept + 1) * sizeof *order->position);
    return order->start && order->offset && order->position;
}

/* A counting sort, stable, so the order of the sums never depends on anything but the pattern. */
static void place(visiting_order *order, int groups, int kept, const int *group,
                  const int32_t *offset) {
    for (int i = 0; i < kept; i++) order->start[group[i] + 1]++;
    for (int i = 0; i < groups; i++) order->start[i + 1] += order->start[i];
    for (int i = 0; i < kept; i++) {
        int at = order->start[group[i]]++;
        order->offset[at] = offset[i];
        order->position[at] = i;
    }
    for (int i = groups; i > 0; i--) order->start[i] = order->start[i - 1];
    order->start[0] = 0;
}

static const char *bad_shape(const geometry *s) {
    if (s->in_channels < 1 || s->in_height < 1 || s->in_width < 1 || s->out_channels < 1 ||
        s->out_height < 1 || s->out_width < 1 || s->kernel_height < 1 || s->kernel_width < 1 ||
        s->stride_y < 1 || s->stride_x < 1)
        return "sizes and strides must be positive";
    if (s->pad_top < 0 || s->pad_left < 0) return "padding must not be negative";
    if (s->pool && (s->out_height < 2 || s->out_width < 2))
        return "a 2x2 pool needs an output of at least 2x2";
    /* In doubles, which cannot overflow: a bound on every offset the plans hold. */
    double height = (double)s->out_height * s->stride_y + s->kernel_height + s->in_height +
                    s->pad_top;
    double width = (double)s->out_width * s->stride_x + s->kernel_width + s->in_width +
                   s->pad_left;
    double channels = (double)s->in_channels + s->out_channels;
    double weights = (double)s->in_channels * s->out_channels * s->kernel_height *
                     s->kernel_width;
    if (height * width * channels > INT_MAX / 4 || weights > INT_MAX / 4)
        return "the layer is too large for 32-bit offsets";
    return NULL;
}

static void describe(conv_plan *plan) {
    geometry *s = &plan->shape;
    int height = (s->out_height - 1) * s->stride_y + s->kernel_height;
    int width = (s->out_width - 1) * s->stride_x + s->kernel_width;
    plan->copies_input = s->relu || s->pad_top || s->pad_left || height > s->in_height ||
                         width > s->in_width;
    plan->x_row = plan->copies_input ? width : s->in_width;
    /* Below four rows a band would mostly copy what its neighbours copy too. */
    int rows = L2_VECTORS / (s->in_channels * plan->x_row) - s->kernel_height;
    plan->band = plan->copies_input ? least(s->out_height, most(4, rows / s->stride_y + 1))
                                    : s->out_height;
    if (s->pool && plan->band < s->out_height) plan->band &= ~1; /* whole pooled rows */
    plan->x_rows = plan->copies_input ? (plan->band - 1) * s->stride_y + s->kernel_height
                                      : s->in_height;
    plan->x_plane = plan->x_row * plan->x_rows;
    plan->taps_y = (s->kernel_height - 1) / s->stride_y + 1;
    plan->taps_x = (s->kernel_width - 1) / s->stride_x + 1;
    plan->g_left = plan->taps_x - 1;
    int reach = (s->in_width - 1 + s->pad_left) / s->stride_x + 1;
    plan->g_row = plan->g_left + most(reach, s->out_width);
    plan->g_rows = s->out_height;
    plan->g_band = s->in_height;
    int fitting = most(L2_VECTORS / (s->out_channels * plan->g_row), plan->taps_y + 3);
    if (!s->pool && fitting < s->out_height) {
        plan->g_rows = fitting;
        plan->g_band = (fitting - plan->taps_y) * s->stride_y + 1;
    }
    plan->g_plane = plan->g_row * plan->g_rows;
    plan->pooled_height = s->out_height / 2;
    plan->pooled_width = s->out_width / 2;
}

static int block_loops(conv_plan *plan) {
    const geometry *s = &plan->shape;
    int tile_rows = s->pool ? 2 : 1, tile = LONGEST_TILE / tile_rows;
    int rows = (tile_rows - 1) * s->stride_y + s->kernel_height;
    int columns = (tile - 1) * s->stride_x + s->kernel_width;
    int in = s->in_channels, out = s->out_channels, kept = plan->kept;
    split(&plan->forward, in, out, kept, rows * columns);
    split(&plan->input, out, in, kept, plan->taps_y * (LONGEST_TILE + plan->taps_x - 1));
    int together = least(in, (int)least(1 << 20, ENTRIES * in / most(kept / out, 1) + 1));
    int fitting = L1_VECTORS / (together * plan->x_row) - s->kernel_height;
    plan->weights_rows = least(plan->band, most(1, fitting / s->stride_y + 1));
    int height = (plan->weights_rows - 1) * s->stride_y + s->kernel_height;
    split(&plan->weights, in, out, kept, height * plan->x_row);
    int64_t groups = (int64_t)plan->input.blocks * in * s->stride_y * s->stride_x * plan->taps_y;
    return groups < INT_MAX / 4 &&
           allocate(&plan->forward, (int64_t)plan->forward.blocks * out, kept) &&
           allocate(&plan->weights, (int64_t)plan->weights.blocks * out, kept) &&
           allocate(&plan->input, groups, kept);
}

static void place_all(conv_plan *plan, const int64_t *indices, int *group, int32_t *offset) {
    const geometry *s = &plan->shape;
    int area = s->kernel_height * s->kernel_width, fan_in = s->in_channels * area;
    for (int pass = 0; pass < 2; pass++) {
        visiting_order *order = pass ? &plan->weights : &plan->forward;
        for (int i = 0; i < plan->kept; i++) {
            int out = (int)(indices[i] / fan_in), in = (int)(indices[i] % fan_in / area);
            int y = (int)(indices[i] % area / s->kernel_width);
            int x = (int)(indices[i] % s->kernel_width);
            group[i] = in / order->channels_a_block * s->out_channels + out;
            offset[i] = in * plan->x_plane + y * plan->x_row + x;
        }
        place(order, order->blocks * s->out_channels, plan->kept, group, offset);
    }
    visiting_order *order = &plan->input;
    for (int i = 0; i < plan->kept; i++) {
        int out = (int)(indices[i] / fan_in), in = (int)(indices[i] % fan_in / area);
        int y = (int)(indices[i] % area / s->kernel_width);
        int x = (int)(indices[i] % s->kernel_width);
        int phase = y % s->stride_y * s->stride_x + x % s->stride_x;
        int block = out / order->channels_a_block;
        group[i] = ((block * s->in_channels + in) * s->stride_y * s->stride_x + phase) *
                       plan->taps_y + y / s->stride_y;
        offset[i] = out * plan->g_plane - y / s->stride_y * plan->g_row - x / s->stride_x;
    }
    place(order, order->blocks * s->in_channels * s->stride_y * s->stride_x * plan->taps_y,
          plan->kept, group, offset);
}

static const char *bad_indices(const int64_t *indices, int kept, int64_t size) {
    if (kept < 0) return "the number of kept weights is negative";
    for (int i = 0; i < kept; i++)
        if (indices[i] < 0 || indices[i] >= size || (i && indices[i] <= indices[i - 1]))
            return "kept indices must ascend and lie inside the weight";
    return NULL;
}

conv_plan *conv_plan_new(const geometry *shape, const int64_t *indices, int kept,
                         const char **reason) {
    const char *bad = bad_shape(shape);
    if (!bad)
        bad = bad_indices(indices, kept, (int64_t)shape->in_channels * shape->out_channels *
                                             shape->kernel_height * shape->kernel_width);
    *reason = bad ? bad : "out of memory";
    conv_plan *plan = bad ? NULL : calloc(1, sizeof *plan);
    if (!plan) return NULL;
    plan->shape = *shape;
    plan->kept = kept;
    describe(plan);
    int *group = malloc(((size_t)kept + 1) * sizeof *group);
    int32_t *offset = malloc(((size_t)kept + 1) * sizeof *offset);
    int enough = block_loops(plan) && group && offset;
    if (enough) place_all(plan, indices, group, offset);
    free(group);
    free(offset);
    if (enough) return plan;
    conv_plan_free(plan);
    return NULL;
}

static void release(visiting_order *order) {
    free(order->start);
    free(order->offset);
    free(order->position);
}

void conv_plan_free(conv_plan *plan) {
    if (!plan) return;
    release(&plan->forward);
    release(&plan->weights);
    release(&plan->input);
    free(plan);
}

linear_plan *linear_plan_new(int features, int outputs, const int64_t *indices, int kept,
                             const int64_t *columns, const char **reason) {
    *reason = "sizes must be positive and small enough for 32-bit offsets";
    int64_t size = (int64_t)features * outputs;
    if (features < 1 || outputs < 1 || size > INT_MAX / 4) return NULL;
    if ((*reason = bad_indices(indices, kept, size))) return NULL;
    *reason = "a feature's position lies outside the layer";
    for (int i = 0; columns && i < features; i++)
        if (columns[i] < 0 || columns[i] >= features) return NULL;
    *reason = "out of memory";
    linear_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return NULL;
    *plan = (linear_plan){.features = features, .outputs = outputs, .kept = kept};
    visiting_order by_column = {0};
    int *group = malloc(((size_t)kept + 1) * sizeof *group);
    plan->row_start = calloc((size_t)outputs + 1, sizeof *plan->row_start);
    plan->column = malloc(((size_t)kept + 1) * sizeof *plan->column);
    int enough = allocate(&by_column, features, kept) && group && plan->row_start && plan->column;
    plan->column_start = by_column.start;
    plan->column_output = by_column.offset;
    plan->column_position = by_column.position;
    if (enough) {
        int32_t *output = malloc(((size_t)kept + 1) * sizeof *output);
        enough = output != NULL;
        for (int i = 0; enough && i < kept; i++) {
            int feature = (int)(indices[i] % features);
            output[i] = (int32_t)(indices[i] / features);
            group[i] = plan->column[i] = columns ? (int32_t)columns[feature] : feature;
            plan->row_start[output[i] + 1]++;
        }
        for (int i = 0; enough && i < outputs; i++) plan->row_start[i + 1] += plan->row_start[i];
        if (enough) place(&by_column, features, kept, group, output);
        free(output);
    }
    free(group);
    if (enough) return plan;
    linear_plan_free(plan);
    return NULL;
}

void linear_plan_free(linear_plan *plan) {
    if (!plan) return;
    free(plan->row_start);
    free(plan->column);
    free(plan->column_start);
    free(plan->column_output);
    free(plan->column_position);
    free(plan);
}
