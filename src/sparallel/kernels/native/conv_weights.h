/* Gradient to the kept weights only: a row of the output's gradient stays in registers while the
 * shifted inputs of the channel's kept weights stream by, one sum a weight. */

INLINE void weights_tile(vec *sum, const float *gradient, const float *x, const int32_t *offset,
                         int count, int columns, size_t step) {
    vec g[12];
    UNROLL for (int i = 0; i < columns; i++) g[i] = load(gradient + (size_t)i * LANES);
    for (const int32_t *end = offset + count; offset != end; offset++, sum++) {
        const float *p = x + (ptrdiff_t)*offset * LANES;
        vec a = *sum, b = {0}; /* two chains: an addition need not wait for the one before it */
        UNROLL for (int i = 0; i < columns; i += 2) a += g[i] * load(p + i * step * LANES);
        UNROLL for (int i = 1; i < columns; i += 2) b += g[i] * load(p + i * step * LANES);
        *sum = columns > 1 ? a + b : a;
    }
}

#define WEIGHTS(COLUMNS)                                                                         \
    TILE weights_##COLUMNS(vec *sum, const float *gradient, const float *x,                      \
                           const int32_t *offset, int count) {                                   \
        weights_tile(sum, gradient, x, offset, count, COLUMNS, 1);                               \
    }                                                                                            \
    TILE strided_weights_##COLUMNS(vec *sum, const float *gradient, const float *x,              \
                                   const int32_t *offset, int count, size_t step) {              \
        weights_tile(sum, gradient, x, offset, count, COLUMNS, step);                            \
    }                                                                                            \
    INLINE int run_weights_##COLUMNS(vec *sum, const float *gradient, const float *x,            \
                                     const int32_t *offset, int count, int step, int i,          \
                                     int width) {                                                \
        for (; i + COLUMNS <= width; i += COLUMNS) {                                             \
            const float *g = gradient + (size_t)i * LANES, *p = x + (size_t)i * step * LANES;    \
            step == 1 ? weights_##COLUMNS(sum, g, p, offset, count)                              \
                      : strided_weights_##COLUMNS(sum, g, p, offset, count, step);               \
        }                                                                                        \
        return i;                                                                                \
    }

WEIGHTS(12)
WEIGHTS(8)
WEIGHTS(4)
WEIGHTS(2)
WEIGHTS(1)

/* Output channel c, output rows first..last, input channels of one block. */
static void weights_channel(const conv_plan *plan, int block, int c, int first, int last,
                            const float *x, const float *gradient, vec *sums) {
    const geometry *s = &plan->shape;
    const int *start = plan->weights.start + (size_t)block * s->out_channels + c;
    const int32_t *offset = plan->weights.offset + start[0];
    int count = start[1] - start[0], step = s->stride_x, width = s->out_width;
    vec *sum = sums + start[0];
    for (int y = first; count && y < last; y++) {
        const float *g = gradient + ((size_t)y * plan->g_row + plan->g_left) * LANES;
        const float *from = x + (size_t)y * plan->x_row * s->stride_y * LANES;
        int i = 0;
        if (width % 12 == 0) i = run_weights_12(sum, g, from, offset, count, step, i, width);
        i = run_weights_8(sum, g, from, offset, count, step, i, width);
        i = run_weights_4(sum, g, from, offset, count, step, i, width);
        i = run_weights_2(sum, g, from, offset, count, step, i, width);
        run_weights_1(sum, g, from, offset, count, step, i, width);
    }
}

static vec bias_channel(const conv_plan *plan, int first, int last, const float *gradient) {
    vec sum = {0};
    for (int y = first; y < last; y++)
        for (int i = 0; i < plan->shape.out_width; i++)
            sum += load(gradient + ((size_t)y * plan->g_row + plan->g_left + i) * LANES);
    return sum;
}
