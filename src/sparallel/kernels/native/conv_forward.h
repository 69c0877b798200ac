/* Forward pass: a tile of output pixels stays in registers while the kept weights of its output
 * channel stream by, one load and one fused multiply-add a pixel and weight. */

/* Adds `count` kept weights into a tile of rows x columns output pixels. */
#define SUM_TILE(ROWS, COLUMNS)                                                                  \
    INLINE void sum_##ROWS##x##COLUMNS(vec *sum, const float *x, const int32_t *offset,          \
                                       const float *value, int count, size_t row, size_t step) { \
        vec a[ROWS * COLUMNS];                                                                   \
        UNROLL for (int i = 0; i < ROWS * COLUMNS; i++) a[i] = sum[i];                           \
        for (int e = 0; e < count; e++) {                                                        \
            const float *p = x + (ptrdiff_t)offset[e] * LANES;                                   \
            float w = value[e];                                                                  \
            UNROLL for (int i = 0; i < COLUMNS; i++) a[i] += w * load(p + i * step);             \
            if (ROWS > 1)                                                                        \
                UNROLL for (int i = 0; i < COLUMNS; i++)                                         \
                    a[(ROWS - 1) * COLUMNS + i] += w * load(p + row + i * step);                 \
        }                                                                                        \
        UNROLL for (int i = 0; i < ROWS * COLUMNS; i++) sum[i] = a[i];                           \
    }

SUM_TILE(1, 8)
SUM_TILE(1, 4)
SUM_TILE(1, 2)
SUM_TILE(1, 1)
SUM_TILE(2, 4)
SUM_TILE(2, 2)

INLINE mask beats(vec challenger, vec best) {
    return (mask)(challenger > best) | (mask)(challenger != challenger);
}

/* The larger of each 2x2 square, rectified, and which of the four it was (the first of equals, as
 * in PyTorch; 4: the ReLU is closed, so no gradient passes). */
INLINE void pool(const vec *sum, int columns, float *out, uint8_t *choice) {
    for (int i = 0; i < columns; i += 2) {
        vec best = sum[i];
        mask chosen = {0};
        for (int corner = 1; corner < 4; corner++) {
            vec challenger = sum[corner / 2 * columns + i + corner % 2];
            mask wins = beats(challenger, best);
            best = choose(wins, challenger, best);
            chosen = (wins & corner) | (~wins & chosen);
        }
        mask closed = (mask)(best <= 0.0f);
        chosen = (closed & 4) | (~closed & chosen);
        store(out + (size_t)(i / 2) * LANES, rectify(best));
        if (choice) {
            bytes b = __builtin_convertvector(chosen, bytes);
            memcpy(choice + (size_t)(i / 2) * LANES, &b, sizeof b);
        }
    }
}

typedef struct {
    const conv_plan *plan;
    const float *x, *value, *bias;
    float *out;
    uint8_t *choice;
    vec *partial; /* out_channels tiles: sums so far, between blocks of input channels */
} forward_pass;

/* All output channels of one tile whose top left output pixel is (y, x). */
#define FORWARD_TILE(ROWS, COLUMNS)                                                              \
    static void forward_##ROWS##x##COLUMNS(const forward_pass *f, int y, int x) {                \
        const conv_plan *plan = f->plan;                                                         \
        const geometry *s = &plan->shape;                                                        \
        const visiting_order *order = &plan->forward;                                            \
        size_t row = (size_t)plan->x_row * s->stride_y * LANES;                                  \
        size_t step = (size_t)s->stride_x * LANES;                                               \
        const float *base = f->x + y * row + x * step;                                           \
        for (int block = 0; block < order->blocks; block++) {                                    \
            const int *start = order->start + (size_t)block * s->out_channels;                   \
            int is_last = block + 1 == order->blocks;                                            \
            for (int c = 0; c < s->out_channels; c++) {                                          \
                vec sum[ROWS * COLUMNS];                                                         \
                vec *kept = f->partial + (size_t)c * ROWS * COLUMNS;                             \
                UNROLL for (int i = 0; i < ROWS * COLUMNS; i++) sum[i] =                         \
                    block ? kept[i] : (vec){0} + (f->bias ? f->bias[c] : 0.0f);                  \
                sum_##ROWS##x##COLUMNS(sum, base, order->offset + start[c],                      \
                                       f->value + start[c], start[c + 1] - start[c], row, step); \
                if (!is_last) {                                                                  \
                    UNROLL for (int i = 0; i < ROWS * COLUMNS; i++) kept[i] = sum[i];            \
                } else if (ROWS == 2) {                                                          \
                    size_t at = ((size_t)c * plan->pooled_height + y / 2) * plan->pooled_width + \
                                x / 2;                                                           \
                    pool(sum, COLUMNS, f->out + at * LANES,                                      \
                         f->choice ? f->choice + at * LANES : NULL);                             \
                } else {                                                                         \
                    size_t at = ((size_t)c * s->out_height + y) * s->out_width + x;              \
                    UNROLL for (int i = 0; i < COLUMNS; i++) store(f->out + (at + i) * LANES,    \
                                                                   sum[i]);                      \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }

FORWARD_TILE(1, 8)
FORWARD_TILE(1, 4)
FORWARD_TILE(1, 2)
FORWARD_TILE(1, 1)
FORWARD_TILE(2, 4)
FORWARD_TILE(2, 2)

static void forward_block(const forward_pass *f) {
    const geometry *s = &f->plan->shape;
    if (s->pool) {
        for (int y = 0; y + 2 <= s->out_height; y += 2) {
            int x = 0;
            for (; x + 4 <= s->out_width; x += 4) forward_2x4(f, y, x);
            for (; x + 2 <= s->out_width; x += 2) forward_2x2(f, y, x);
        }
        return;
    }
    for (int y = 0; y < s->out_height; y++) {
        int x = 0;
        for (; x + 8 <= s->out_width; x += 8) forward_1x8(f, y, x);
        for (; x + 4 <= s->out_width; x += 4) forward_1x4(f, y, x);
        for (; x + 2 <= s->out_width; x += 2) forward_1x2(f, y, x);
        for (; x < s->out_width; x++) forward_1x1(f, y, x);
    }
}

static int conv_forward(const conv_plan *plan, int blocks, const float *x, const float *values,
                        const float *bias, float *out, uint8_t *choice) {
    const geometry *s = &plan->shape;
    size_t x_size = (size_t)s->in_channels * s->in_height * s->in_width * LANES;
    size_t out_size = (size_t)s->out_channels * LANES *
                      (s->pool ? (size_t)plan->pooled_height * plan->pooled_width
                               : (size_t)s->out_height * s->out_width);
    float *padded = plan->copies_input ? new_vectors((size_t)s->in_channels * plan->x_plane) : NULL;
    float *partial = new_vectors((size_t)s->out_channels * 8);
    float *value = gather(&plan->forward, plan->kept, values);
    int enough = partial && value && (padded || !plan->copies_input);
    for (int n = 0; enough && n < blocks; n++) {
        const float *from = x + n * x_size;
        if (padded) read_input(plan, from, padded);
        forward_pass f = {plan, padded ? padded : from, value, bias, out + n * out_size,
                          choice ? choice + n * out_size : NULL, (vec *)partial};
        forward_block(&f);
    }
    free(padded);
    free(partial);
    free(value);
    return enough ? 0 : -1;
}
