/* Convolutions against loops that follow the definition. */
#include "check.h"

typedef struct {
    geometry s;
    int64_t *indices;
    int kept, blocks, out_height, out_width;
    buffer x, values, bias, residual, gradient; /* residual: empty behind a pool */
    double *full, *out, *to_values, *to_bias, *to_x; /* what the definition says */
} layer;

static double input(const layer *l, size_t n, int c, int y, int x, size_t *at, int lane) {
    const geometry *s = &l->s;
    if (y < 0 || y >= s->in_height || x < 0 || x >= s->in_width) return 0.0;
    *at = (((n * s->in_channels + c) * s->in_height + y) * s->in_width + x) * set->lanes + lane;
    double value = l->x.at[*at];
    return s->relu && value <= 0 ? 0.0 : value;
}

/* Calls for every kept weight, pixel and lane: forward adds, backward spreads. */
static void convolve(layer *l, const double *to_full) {
    const geometry *s = &l->s;
    int area = s->kernel_height * s->kernel_width, lanes = set->lanes;
    for (int n = 0; n < l->blocks; n++)
        for (int e = 0; e < l->kept; e++) {
            int index = (int)l->indices[e], c = index / (s->in_channels * area);
            int in = index / area % s->in_channels, ky = index % area / s->kernel_width;
            for (int p = 0; p < s->out_height * s->out_width * lanes; p++) {
                int lane = p % lanes, x = p / lanes % s->out_width, y = p / lanes / s->out_width;
                int row = y * s->stride_y - s->pad_top + ky;
                int column = x * s->stride_x - s->pad_left + index % s->kernel_width;
                size_t at = 0, to = ((size_t)n * s->out_channels + c) * s->out_height *
                                        s->out_width * lanes + p;
                double value = input(l, n, in, row, column, &at, lane);
                if (!to_full) {
                    l->full[to] += l->values.at[e] * value;
                    continue;
                }
                l->to_values[e] += to_full[to] * value;
                int inside = row >= 0 && row < s->in_height && column >= 0 && column < s->in_width;
                if (inside && !(s->relu && l->x.at[at] <= 0))
                    l->to_x[at] += to_full[to] * l->values.at[e];
            }
        }
}

static void define(layer *l, size_t full_size, const uint8_t *choice) {
    const geometry *s = &l->s;
    size_t pixels = (size_t)s->out_height * s->out_width * set->lanes;
    double *to_full = zeros(full_size);
    for (size_t i = 0; i < full_size; i++)
        l->full[i] = l->bias.at[i / pixels % s->out_channels];
    convolve(l, NULL);
    for (size_t i = 0; i < l->gradient.count; i++) {
        int lane = (int)(i % set->lanes), x = (int)(i / set->lanes % l->out_width);
        size_t rest = i / set->lanes / l->out_width, y = rest % l->out_height;
        size_t plane = rest / l->out_height * pixels;
        if (!s->pool) {
            l->out[i] = l->full[i] + l->residual.at[i];
            to_full[i] = l->gradient.at[i];
            continue;
        }
        l->out[i] = 0.0;
        for (int corner = 0; corner < 4; corner++) {
            size_t at = plane + ((2 * y + corner / 2) * s->out_width + 2 * x + corner % 2) *
                                    set->lanes + lane;
            if (l->full[at] > l->out[i]) l->out[i] = l->full[at];
            /* Near ties the choice may be either; the value at it is checked by `out`. */
            if (choice && choice[i] == corner) to_full[at] += l->gradient.at[i];
        }
    }
    convolve(l, to_full);
    for (size_t i = 0; i < full_size; i++)
        l->to_bias[i / pixels % s->out_channels] += to_full[i];
    free(to_full);
}

static void run(layer *l, const conv_plan *plan, int shift, buffer results[4], uint8_t *choice) {
    buffer x = moved(&l->x, shift), values = moved(&l->values, shift);
    buffer bias = moved(&l->bias, shift), gradient = moved(&l->gradient, shift);
    buffer residual = moved(&l->residual, shift);
    size_t sizes[] = {l->gradient.count, (size_t)l->kept, (size_t)l->s.out_channels, l->x.count};
    for (int i = 0; i < 4; i++) results[i] = new_buffer(sizes[i], shift, 0);
    int status = set->conv_forward(plan, l->blocks, x.at, values.at, bias.at,
                                   l->s.pool ? NULL : residual.at, results[0].at,
                                   l->s.pool ? choice : NULL);
    status |= set->conv_backward(plan, l->blocks, x.at, values.at, gradient.at,
                                 l->s.pool ? choice : NULL, results[1].at, results[2].at,
                                 results[3].at);
    /* Without the input's gradient the weights' must not change. */
    buffer alone = new_buffer((size_t)l->kept, shift, 0);
    status |= set->conv_backward(plan, l->blocks, x.at, values.at, gradient.at,
                                 l->s.pool ? choice : NULL, alone.at, NULL, NULL);
    if (status) fail("status", status);
    same_bits("weights' gradient alone", shift, &alone, &results[1]);
    buffer *all[] = {&x, &values, &bias, &gradient, &residual, &alone};
    for (int i = 0; i < 6; i++) free(all[i]->memory);
}

void check_convolution(int round) {
    layer l = {0};
    geometry *s = &l.s;
    /* Now and then enough channels for the loops to be cut to the size of the caches. */
    *s = (geometry){.in_channels = 1 + below(round % 10 ? 6 : 40), .out_channels = 1 + below(round % 10 == 5 ? 40 : 7)};
    s->kernel_height = 1 + below(5), s->kernel_width = 1 + below(5);
    s->stride_y = 1 + below(3), s->stride_x = 1 + below(3);
    s->in_height = 1 + below(14), s->in_width = 1 + below(30);
    s->pad_top = below(3), s->pad_left = below(3);
    int height = s->in_height + s->pad_top + below(3) - s->kernel_height;
    int width = s->in_width + s->pad_left + below(3) - s->kernel_width;
    if (height < 0 || width < 0) return;
    s->out_height = height / s->stride_y + 1, s->out_width = width / s->stride_x + 1;
    s->relu = below(2), s->pool = s->out_height > 1 && s->out_width > 1 && below(2);
    l.out_height = s->pool ? s->out_height / 2 : s->out_height;
    l.out_width = s->pool ? s->out_width / 2 : s->out_width;
    l.blocks = 1 + below(2);
    int size = s->in_channels * s->out_channels * s->kernel_height * s->kernel_width;
    l.indices = malloc(size * sizeof *l.indices);
    l.kept = choose_kept(l.indices, size);
    size_t images = (size_t)l.blocks * set->lanes;
    size_t full = images * s->out_channels * s->out_height * s->out_width;
    size_t out = images * s->out_channels * l.out_height * l.out_width;
    l.x = new_buffer(images * s->in_channels * s->in_height * s->in_width, 0, 1);
    l.values = new_buffer((size_t)l.kept, 0, 1);
    l.bias = new_buffer((size_t)s->out_channels, 0, 1);
    l.gradient = new_buffer(out, 0, 1);
    l.residual = new_buffer(s->pool ? 0 : out, 0, 1);
    l.full = zeros(full), l.out = zeros(out), l.to_values = zeros((size_t)l.kept);
    l.to_bias = zeros((size_t)s->out_channels), l.to_x = zeros(l.x.count);
    const char *reason = NULL;
    conv_plan *plan = conv_plan_new(s, l.indices, l.kept, &reason);
    if (!plan) fail(reason, round);
    buffer results[2][4];
    uint8_t *choice = malloc(out);
    run(&l, plan, 0, results[0], choice);
    define(&l, full, choice);
    run(&l, plan, 1 + below(5), results[1], choice);
    static const char *const names[] = {"output", "weights' gradient", "bias's gradient",
                                        "input's gradient"};
    const double *expected[] = {l.out, l.to_values, l.to_bias, l.to_x};
    for (int i = 0; i < 4; i++) {
        compare(names[i], round, &results[0][i], expected[i]);
        same_bits(names[i], round, &results[0][i], &results[1][i]);
        free(results[0][i].memory);
        free(results[1][i].memory);
    }
    conv_plan_free(plan);
    void *all[] = {choice, l.indices, l.x.memory, l.values.memory, l.bias.memory,
                   l.gradient.memory, l.residual.memory, l.full, l.out, l.to_values, l.to_bias, l.to_x};
    for (int i = 0; i < 12; i++) free(all[i]);
}
