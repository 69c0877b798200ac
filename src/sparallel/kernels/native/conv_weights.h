/* Gradient to the kept weights only: a row of the output's gradient stays in registers while the
 * shifted inputs of the channel's kept weights stream by, one sum a weight. */

INLINE void weights_tile(vec *sum, const float *gradient, const float *x, const int32_t *offset,
                         int count, int columns, size_t step) {
    vec g[12];
    UNROLL for (int i = 0; i < columns; i++) g[i] = load(gradient + (size_t)i * LANES);
    for (const int32_t *end = offset + count; offset != end; offset++, sum++) {
        const float *p = x + (ptrdiff_t)*offset * LANES;
        /* Two short chains: an addition need not wait for the one before it, and rounds a small
         * sum rather than the total. */
        vec a = g[0] * load(p), b = columns > 1 ? g[1] * load(p + step * LANES) : (vec){0};
        UNROLL for (int i = 2; i < columns; i += 2) a += g[i] * load(p + i * step * LANES);
        UNROLL for (int i = 3; i < columns; i += 2) b += g[i] * load(p + i * step * LANES);
        *sum += a + b;
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

typedef struct {
    const conv_plan *plan;
    const float *x;        /* from the input row that output row `first` starts at */
    const float *gradient; /* from output row 0 of `first_channel` */
    size_t row, plane;     /* of the gradient */
    int first_channel;
    int first, last;
    vec *sums;
} weights_pass;

/* Output rows from..to of channel c, for the input channels of one block. */
static void weights_channel(const weights_pass *p, int block, int c, int from, int to) {
    const conv_plan *plan = p->plan;
    const geometry *s = &plan->shape;
    const int *start = plan->weights.start + (size_t)block * s->out_channels + c;
    const int32_t *offset = plan->weights.offset + start[0];
    int count = start[1] - start[0], step = s->stride_x, width = s->out_width;
    vec *sum = p->sums + start[0];
    for (int y = from; count && y < to; y++) {
        const float *g = p->gradient + (c - p->first_channel) * p->plane + y * p->row;
        const float *x = p->x + (size_t)(y - p->first) * plan->x_row * s->stride_y * LANES;
        int i = 0;
        if (width % 12 == 0) i = run_weights_12(sum, g, x, offset, count, step, i, width);
        i = run_weights_8(sum, g, x, offset, count, step, i, width);
        i = run_weights_4(sum, g, x, offset, count, step, i, width);
        i = run_weights_2(sum, g, x, offset, count, step, i, width);
        run_weights_1(sum, g, x, offset, count, step, i, width);
    }
}

/* Rows first..last: few enough at a time, of few enough channels, to stay in the L1 cache. */
static void weights_band(const weights_pass *p, int first_channel, int last_channel) {
    int rows = p->plan->weights_rows;
    for (int from = p->first; from < p->last; from += rows) {
        int to = from + rows < p->last ? from + rows : p->last;
        for (int block = 0; block < p->plan->weights.blocks; block++)
            for (int c = first_channel; c < last_channel; c++)
                weights_channel(p, block, c, from, to);
    }
}
