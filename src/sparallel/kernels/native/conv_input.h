/* Gradient to the input: for each phase of the stride, a convolution of the output's gradient
 * with the weights of that phase, turned around. */

typedef struct {
    const conv_plan *plan;
    const float *x, *gradient; /* gradient: spread, from output row `low` on */
    int low;
    const entry *kept;
    float *out;
    vec *partial;
} input_pass;

/* `columns` input pixels of row y, a stride apart from column x on, all input channels. */
INLINE void input_tile(const input_pass *p, int y, int x, int columns) {
    const conv_plan *plan = p->plan;
    const geometry *s = &plan->shape;
    int row = (y + s->pad_top) / s->stride_y, column = (x + s->pad_left) / s->stride_x;
    int phase_y = (y + s->pad_top) % s->stride_y, phase_x = (x + s->pad_left) % s->stride_x;
    int phase = phase_y * s->stride_x + phase_x, taps = plan->taps_y;
    /* Only taps whose output row exists; entries are sorted by tap, so they are one stretch. */
    int from = row - s->out_height + 1 > 0 ? row - s->out_height + 1 : 0;
    int to = row + 1 < taps ? row + 1 : taps;
    if (from > to) from = to;
    int groups = s->stride_y * s->stride_x * taps, blocks = plan->input.blocks;
    size_t plane = (size_t)s->in_height * s->in_width * LANES;
    size_t at = ((size_t)y * s->in_width + x) * LANES, step = (size_t)s->stride_x * LANES;
    const float *base =
        p->gradient + ((ptrdiff_t)(row - p->low) * plan->g_row + plan->g_left + column) * LANES;
    const int *start = plan->input.start + (size_t)phase * taps;
    for (int block = 0; block < blocks; block++)
        for (int c = 0; c < s->in_channels; c++, start += groups) {
            vec sum[12], *partial = p->partial + (size_t)c * columns;
            UNROLL for (int i = 0; i < columns; i++) sum[i] = block ? partial[i] : (vec){0};
            accumulate(sum, base, p->kept + start[from], p->kept + start[to], 0, 1, columns, 1);
            if (block + 1 < blocks) {
                UNROLL for (int i = 0; i < columns; i++) partial[i] = sum[i];
                continue;
            }
            const float *x_at = p->x + at + c * plane;
            float *out = p->out + at + c * plane;
            if (s->relu)
                UNROLL for (int i = 0; i < columns; i++)
                    sum[i] = (vec)(~(mask)(load(x_at + i * step) <= 0.0f) & (mask)sum[i]);
            UNROLL for (int i = 0; i < columns; i++) store(out + i * step, sum[i]);
        }
}

#define INPUT(COLUMNS)                                                                           \
    TILE input_##COLUMNS(const input_pass *p, int y, int x) { input_tile(p, y, x, COLUMNS); }    \
    INLINE int run_input_##COLUMNS(const input_pass *p, int y, int x) {                          \
        int reach = (COLUMNS - 1) * p->plan->shape.stride_x;                                     \
        for (; x + reach < p->plan->shape.in_width; x += reach + p->plan->shape.stride_x)        \
            input_##COLUMNS(p, y, x);                                                            \
        return x;                                                                                \
    }

INPUT(12)
INPUT(8)
INPUT(4)
INPUT(2)
INPUT(1)

/* Input rows from..to. */
static void input_band(const input_pass *p, int from, int to) {
    const geometry *s = &p->plan->shape;
    for (int y = from; y < to; y++)
        for (int phase = 0; phase < s->stride_x; phase++) {
            int x = phase;
            if (s->in_width % 12 == 0) x = run_input_12(p, y, x);
            x = run_input_8(p, y, x);
            x = run_input_4(p, y, x);
            x = run_input_2(p, y, x);
            run_input_1(p, y, x);
        }
}
