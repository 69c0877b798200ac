/* What the passes share: reading the input, padded and rectified, and summing a tile. */

/* Rows `first`.. of the padded input, as many as a band of output rows needs. */
static void read_input(const conv_plan *plan, const float *x, int first_row, float *out) {
    const geometry *s = &plan->shape;
    int width = plan->x_row;
    int first = s->pad_left < width ? s->pad_left : width;
    int last = s->pad_left + s->in_width < width ? s->pad_left + s->in_width : width;
    for (int c = 0; c < s->in_channels; c++)
        for (int y = 0; y < plan->x_rows; y++, out += (size_t)width * LANES) {
            int row = first_row + y - s->pad_top;
            if (row < 0 || row >= s->in_height) {
                memset(out, 0, (size_t)width * sizeof(vec));
                continue;
            }
            const float *from = x + ((size_t)c * s->in_height + row) * s->in_width * LANES;
            memset(out, 0, (size_t)first * sizeof(vec));
            memset(out + (size_t)last * LANES, 0, (size_t)(width - last) * sizeof(vec));
            if (s->relu)
                for (int i = first; i < last; i++)
                    store(out + (size_t)i * LANES,
                          rectify(load(from + (size_t)(i - first) * LANES)));
            else
                memcpy(out + (size_t)first * LANES, from, (size_t)(last - first) * sizeof(vec));
        }
}

/* Adds the kept weights from `e` to `end` into a tile of output pixels: `rows` rows (1 or 2) that
 * lie `row` floats apart, `columns` pixels `step` vectors apart. The tile stays in registers; each
 * weight costs one load and one fused multiply-add a pixel. */
INLINE void accumulate(vec *sum, const float *x, const entry *e, const entry *end, size_t row,
                       int rows, int columns, size_t step) {
    vec a[16];
    UNROLL for (int i = 0; i < rows * columns; i++) a[i] = sum[i];
    for (; e != end; e++) {
        const float *p = x + e->offset;
        float w = e->value;
        UNROLL for (int i = 0; i < columns; i++) a[i] += w * load(p + i * step * LANES);
        if (rows > 1) {
            p += row;
            UNROLL for (int i = 0; i < columns; i++)
                a[columns + i] += w * load(p + i * step * LANES);
        }
    }
    UNROLL for (int i = 0; i < rows * columns; i++) sum[i] = a[i];
}
