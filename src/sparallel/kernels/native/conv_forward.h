/* Forward pass: tiles of output pixels, each channel's sums in registers. */

/* true where the challenger is larger or not a number. */
INLINE mask beats(vec challenger, vec best) {
    return (mask)(challenger > best) | (mask)(challenger != challenger);
}

/* The largest of each 2x2 square, rectified, and which of the four it was (the first of equals, as
 * in PyTorch; 4: the ReLU is closed, so no gradient passes). */
INLINE void pool(const vec *sum, int columns, float *out, uint8_t *choice) {
    UNROLL for (int i = 0; i < columns; i += 2) {
        mask above = beats(sum[i + 1], sum[i]);
        mask below = beats(sum[columns + i + 1], sum[columns + i]);
        vec top = choose(above, sum[i + 1], sum[i]);
        vec bottom = choose(below, sum[columns + i + 1], sum[columns + i]);
        mask lower = beats(bottom, top);
        vec best = choose(lower, bottom, top);
        mask closed = (mask)(best <= 0.0f);
        store(out + (size_t)(i / 2) * LANES, (vec)(~closed & (mask)best));
        if (choice) {
            mask chosen = (pick(lower, below, above) & 1) | (lower & 2);
            bytes b = __builtin_convertvector(pick(closed, (mask){0} + 4, chosen), bytes);
            memcpy(choice + (size_t)(i / 2) * LANES, &b, sizeof b);
        }
    }
}

typedef struct {
    const conv_plan *plan;
    const float *x, *bias; /* x: from the input row that output row `first` starts at */
    const entry *kept;
    int first, last;
    const float *residual;
    float *out;
    uint8_t *choice;
    vec *partial; /* a tile for every output channel: sums between blocks of input channels */
} forward_pass;

/* All output channels of one tile whose top left output pixel is (y, x). Two rows: pooled. */
INLINE void forward_tile(const forward_pass *f, int y, int x, int rows, int columns, int step) {
    const conv_plan *plan = f->plan;
    const geometry *s = &plan->shape;
    size_t row = (size_t)plan->x_row * s->stride_y * LANES;
    const float *base = f->x + (y - f->first) * row + (size_t)x * step * LANES;
    size_t height = s->pool ? plan->pooled_height : s->out_height;
    size_t width = s->pool ? plan->pooled_width : s->out_width;
    size_t at = (y / rows * width + x / rows) * LANES, plane = height * width * LANES;
    int blocks = plan->forward.blocks;
    const int *start = plan->forward.start;
    for (int block = 0; block < blocks; block++)
        for (int c = 0; c < s->out_channels; c++, start++) {
            vec sum[16], *partial = f->partial + (size_t)c * rows * columns;
            vec first = (vec){0} + (f->bias ? f->bias[c] : 0.0f);
            UNROLL for (int i = 0; i < rows * columns; i++) sum[i] = block ? partial[i] : first;
            accumulate(sum, base, f->kept + start[0], f->kept + start[1], row, rows, columns, step);
            if (block + 1 < blocks) {
                UNROLL for (int i = 0; i < rows * columns; i++) partial[i] = sum[i];
            } else if (rows == 2) {
                pool(sum, columns, f->out + at + c * plane,
                     f->choice ? f->choice + at + c * plane : NULL);
            } else {
                size_t here = at + c * plane;
                if (f->residual)
                    UNROLL for (int i = 0; i < columns; i++)
                        sum[i] += load(f->residual + here + (size_t)i * LANES);
                UNROLL for (int i = 0; i < columns; i++)
                    store(f->out + here + (size_t)i * LANES, sum[i]);
            }
        }
}

/* The step is a constant where it can be, which leaves one address to compute a weight. */
#define FORWARD(ROWS, COLUMNS)                                                                   \
    TILE forward_##ROWS##x##COLUMNS(const forward_pass *f, int y, int x) {                       \
        forward_tile(f, y, x, ROWS, COLUMNS, 1);                                                 \
    }                                                                                            \
    TILE strided_##ROWS##x##COLUMNS(const forward_pass *f, int y, int x) {                       \
        forward_tile(f, y, x, ROWS, COLUMNS, f->plan->shape.stride_x);                           \
    }                                                                                            \
    INLINE int run_##ROWS##x##COLUMNS(const forward_pass *f, int y, int x) {                     \
        for (; x + COLUMNS <= f->plan->shape.out_width; x += COLUMNS)                            \
            f->plan->shape.stride_x == 1 ? forward_##ROWS##x##COLUMNS(f, y, x)                   \
                                         : strided_##ROWS##x##COLUMNS(f, y, x);                  \
        return x;                                                                                \
    }

FORWARD(1, 12)
FORWARD(1, 8)
FORWARD(1, 4)
FORWARD(1, 2)
FORWARD(1, 1)
FORWARD(2, 6)
FORWARD(2, 4)
FORWARD(2, 2)

static void forward_band(const forward_pass *f) {
    const geometry *s = &f->plan->shape;
    int rows = s->pool ? 2 : 1;
    for (int y = f->first; y + rows <= f->last; y += rows) {
        int x = 0;
        if (s->pool) {
            if (s->out_width % 6 == 0) x = run_2x6(f, y, x);
            x = run_2x4(f, y, x);
            run_2x2(f, y, x);
        } else {
            if (s->out_width % 12 == 0) x = run_1x12(f, y, x);
            x = run_1x8(f, y, x);
            x = run_1x4(f, y, x);
            x = run_1x2(f, y, x);
            run_1x1(f, y, x);
        }
    }
}

static int conv_forward(const conv_plan *plan, int blocks, const float *x, const float *values,
                        const float *bias, const float *residual, float *out, uint8_t *choice) {
    const geometry *s = &plan->shape;
    size_t x_size = (size_t)s->in_channels * s->in_height * s->in_width * LANES;
    size_t out_size = (size_t)s->out_channels * LANES *
                      (s->pool ? (size_t)plan->pooled_height * plan->pooled_width
                               : (size_t)s->out_height * s->out_width);
    float *padded = plan->copies_input ? new_vectors((size_t)s->in_channels * plan->x_plane) : NULL;
    float *partial = new_vectors((size_t)s->out_channels * 12);
    entry *kept = gather(&plan->forward, plan->kept, values);
    int enough = partial && kept && (padded || !plan->copies_input);
    for (int n = 0; enough && n < blocks; n++) {
        forward_pass f = {.plan = plan, .x = x + n * x_size, .bias = bias, .kept = kept};
        f.residual = residual ? residual + n * out_size : NULL, f.out = out + n * out_size;
        f.choice = choice ? choice + n * out_size : NULL, f.partial = (vec *)partial;
        for (; f.last < s->out_height; f.first = f.last) {
            f.last = f.first + plan->band < s->out_height ? f.first + plan->band : s->out_height;
            if (padded) {
                read_input(plan, x + n * x_size, f.first * s->stride_y, padded);
                f.x = padded;
            }
            forward_band(&f);
        }
    }
    free(padded);
    free(partial);
    free(kept);
    return enough ? 0 : -1;
}
