/* Every kernel set this machine runs, and the widest, on random layers, against loops that follow the definition.
 *
 * Built by the tests with AddressSanitizer and UBSan. Every buffer has exactly the size the layer
 * needs, so one read or write beyond it ends the program; each result is computed twice, the
 * second time in buffers of another alignment, and must have the same bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

extern const kernel_set kernels_wide; /* wide.c */

static uint64_t state = 1;
static const kernel_set *set;

static int below(int limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)limit);
}

static float uniform(void) { return (float)below(20001) / 10000.0f - 1.0f; }

/* A buffer that starts `shift` floats after an aligned address and ends where memory ends. */
typedef struct {
    float *memory, *at;
    size_t count;
} buffer;

static buffer new_buffer(size_t count, int shift, int filled) {
    buffer b = {malloc((count + shift + !count) * sizeof(float)), NULL, count};
    if (!b.memory) abort();
    b.at = b.memory + shift;
    for (size_t i = 0; i < count; i++) b.at[i] = filled ? uniform() : NAN;
    return b;
}

static buffer moved(const buffer *from, int shift) {
    buffer b = new_buffer(from->count, shift, 0);
    memcpy(b.at, from->at, from->count * sizeof(float));
    return b;
}

static void fail(const char *what, int round) {
    printf("%s: %s differs in round %d\n", set->name, what, round);
    exit(1);
}

static void compare(const char *what, int round, const buffer *found, const double *expected) {
    double scale = 1.0;
    for (size_t i = 0; i < found->count; i++) scale = fmax(scale, fabs(expected[i]));
    for (size_t i = 0; i < found->count; i++)
        if (!(fabs(found->at[i] - expected[i]) <= 2e-5 * scale)) fail(what, round);
}

static void same_bits(const char *what, int round, const buffer *a, const buffer *b) {
    if (a->count && memcmp(a->at, b->at, a->count * sizeof(float))) fail(what, round);
}

static int choose_kept(int64_t *indices, int size) {
    static const int percent[] = {0, 1, 7, 30, 100};
    int share = percent[below(5)], kept = 0;
    for (int i = 0; i < size; i++)
        if (below(100) < share) indices[kept++] = i;
    return kept;
}

static double *zeros(size_t count) {
    double *out = calloc(count + 1, sizeof *out);
    if (!out) abort();
    return out;
}

typedef struct {
    geometry s;
    int64_t *indices;
    int kept, blocks, out_height, out_width;
    buffer x, values, bias, gradient;
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
            l->out[i] = l->full[i];
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
    size_t sizes[] = {l->gradient.count, (size_t)l->kept, (size_t)l->s.out_channels, l->x.count};
    for (int i = 0; i < 4; i++) results[i] = new_buffer(sizes[i], shift, 0);
    int status = set->conv_forward(plan, l->blocks, x.at, values.at, bias.at, NULL, results[0].at,
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
    buffer *all[] = {&x, &values, &bias, &gradient, &alone};
    for (int i = 0; i < 5; i++) free(all[i]->memory);
}

static void check_convolution(int round) {
    layer l = {0};
    geometry *s = &l.s;
    *s = (geometry){.in_channels = 1 + below(round % 10 ? 6 : 40), .out_channels = 1 + below(7)};
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
                   l.gradient.memory, l.full, l.out, l.to_values, l.to_bias, l.to_x};
    for (int i = 0; i < 11; i++) free(all[i]);
}

static void check_linear(int round) {
    int features = 1 + below(50), outputs = 1 + below(12), blocks = 1 + below(19);
    int lanes = set->lanes;
    int64_t *indices = malloc((size_t)features * outputs * sizeof *indices);
    int64_t *columns = malloc((size_t)features * sizeof *columns);
    int kept = choose_kept(indices, features * outputs);
    for (int i = 0; i < features; i++) columns[i] = (i + 3) % features;
    buffer x = new_buffer((size_t)blocks * features * lanes, 1, 1);
    buffer values = new_buffer((size_t)kept, 3, 1), bias = new_buffer((size_t)outputs, 2, 1);
    buffer gradient = new_buffer((size_t)blocks * outputs * lanes, 1, 1);
    buffer out = new_buffer(gradient.count, 1, 0), to_x = new_buffer(x.count, 1, 0);
    buffer to_values = new_buffer((size_t)kept, 1, 0), to_bias = new_buffer((size_t)outputs, 1, 0);
    double *e_out = zeros(out.count), *e_x = zeros(x.count), *e_values = zeros((size_t)kept);
    double *e_bias = zeros((size_t)outputs);
    const char *reason = NULL;
    linear_plan *plan = linear_plan_new(features, outputs, indices, kept, columns, &reason);
    if (!plan) fail(reason, round);
    set->linear_forward(plan, blocks, x.at, values.at, bias.at, out.at);
    set->linear_backward(plan, blocks, x.at, values.at, gradient.at, to_values.at, to_bias.at,
                         to_x.at);
    for (size_t i = 0; i < out.count; i++) {
        e_out[i] = bias.at[i / lanes % outputs];
        e_bias[i / lanes % outputs] += gradient.at[i];
    }
    for (int e = 0; e < kept; e++)
        for (int p = 0; p < blocks * lanes; p++) {
            size_t n = p / lanes, lane = p % lanes;
            size_t from = (n * features + columns[indices[e] % features]) * lanes + lane;
            size_t to = (n * outputs + indices[e] / features) * lanes + lane;
            e_out[to] += (double)values.at[e] * x.at[from];
            e_values[e] += (double)gradient.at[to] * x.at[from];
            e_x[from] += (double)gradient.at[to] * values.at[e];
        }
    compare("linear output", round, &out, e_out);
    compare("linear weights' gradient", round, &to_values, e_values);
    compare("linear bias's gradient", round, &to_bias, e_bias);
    compare("linear input's gradient", round, &to_x, e_x);
    linear_plan_free(plan);
    void *all[] = {indices, columns, x.memory, values.memory, bias.memory, gradient.memory,
                   out.memory, to_x.memory, to_values.memory, to_bias.memory, e_out, e_x,
                   e_values, e_bias};
    for (int i = 0; i < 14; i++) free(all[i]);
}

static void check_layout(int round) {
    int examples = 1 + below(40), size = 1 + below(30), lanes = set->lanes;
    int blocks = (examples + lanes - 1) / lanes;
    buffer x = new_buffer((size_t)examples * size, 1, 1), back = new_buffer(x.count, 2, 0);
    buffer blocked = new_buffer((size_t)blocks * size * lanes, 3, 0);
    set->to_blocked(x.at, examples, size, blocked.at);
    for (size_t i = 0; i < blocked.count; i++) {
        size_t example = i / lanes / size * lanes + i % lanes;
        float expected = example < (size_t)examples ? x.at[example * size + i / lanes % size] : 0;
        if (blocked.at[i] != expected) fail("blocked layout", round);
    }
    set->from_blocked(blocked.at, examples, size, back.at);
    same_bits("plain layout", round, &x, &back);
    free(x.memory), free(back.memory), free(blocked.memory);
}

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 300;
    const kernel_set *sets[] = {select_kernels("baseline"), select_kernels("avx2"),
                                select_kernels("avx512"), &kernels_wide};
    for (int i = 0; i < 4; i++) {
        set = sets[i];
        for (int round = 0; set && round < rounds; round++) {
            check_convolution(round);
            check_linear(round);
            check_layout(round);
        }
        if (set) printf("%s (%d lanes): %d rounds agree\n", set->name, set->lanes, rounds);
    }
    return 0;
}
