/* Gradient to the kept weights only: a row of the output's gradient stays in registers while the
 * shifted inputs of the channel's kept weights stream by, one sum a weight. */

#define WEIGHT_TILE(COLUMNS)                                                                     \
    static void weights_##COLUMNS(vec *sum, const float *gradient, const float *x,               \
                                  const int32_t *offset, int count, size_t step) {               \
        vec g[COLUMNS];                                                                          \
        UNROLL for (int i = 0; i < COLUMNS; i++) g[i] = load(gradient + (size_t)i * LANES);      \
        for (int e = 0; e < count; e++) {                                                        \
            const float *p = x + (ptrdiff_t)offset[e] * LANES;                                   \
            vec a = sum[e], b = {0};                                                             \
            UNROLL for (int i = 0; i < COLUMNS; i += 2) a += g[i] * load(p + i * step);          \
            UNROLL for (int i = 1; i < COLUMNS; i += 2) b += g[i] * load(p + i * step);          \
            sum[e] = a + b;                                                                      \
        }                                                                                        \
    }

WEIGHT_TILE(8)
WEIGHT_TILE(4)
WEIGHT_TILE(2)
WEIGHT_TILE(1)

/* Output channel c, output rows first..last, input channels of one block. */
static void weights_channel(const conv_plan *plan, int block, int c, int first, int last,
                            const float *x, const float *gradient, vec *sums) {
    const geometry *s = &plan->shape;
    const visiting_order *order = &plan->weights;
    const int *start = order->start + (size_t)block * s->out_channels + c;
    const int32_t *offset = order->offset + start[0];
    int count = start[1] - start[0];
    size_t step = (size_t)s->stride_x * LANES;
    vec *sum = sums + start[0];
    for (int y = first; count && y < last; y++) {
        const float *g = gradient + ((size_t)y * plan->g_row + plan->g_left) * LANES;
        const float *from = x + (size_t)y * plan->x_row * s->stride_y * LANES;
        int i = 0;
        for (; i + 8 <= s->out_width; i += 8)
            weights_8(sum, g + (size_t)i * LANES, from + i * step, offset, count, step);
        for (; i + 4 <= s->out_width; i += 4)
            weights_4(sum, g + (size_t)i * LANES, from + i * step, offset, count, step);
        for (; i + 2 <= s->out_width; i += 2)
            weights_2(sum, g + (size_t)i * LANES, from + i * step, offset, count, step);
        for (; i < s->out_width; i++)
            weights_1(sum, g + (size_t)i * LANES, from + i * step, offset, count, step);
    }
}

static vec bias_channel(const conv_plan *plan, int first, int last, const float *gradient) {
    vec sum = {0};
    for (int y = first; y < last; y++)
        for (int i = 0; i < plan->shape.out_width; i++)
            sum += load(gradient + ((size_t)y * plan->g_row + plan->g_left + i) * LANES);
    return sum;
}
