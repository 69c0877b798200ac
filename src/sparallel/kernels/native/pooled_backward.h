/* Backward through a convolution, a 2x2 max-pool and a ReLU. The pool passes a gradient to one
 * pixel in four and the ReLU stops many of those, so at least three quarters of the output's
 * gradient is zero: the loops visit what is left, each value with its whole window, whose rows lie
 * one after the other in memory. A gradient that is not finite may spread to input pixels beside its
 * window, where rows are padded: the example is lost either way. */

/* Rows of a window as the loops read them: padded to whole vectors. */
static int row_vectors(const pooled_conv *s) {
    return (s->kernel_width * s->in_channels + LANES - 1) / LANES;
}

/* The values that pass, in lists: where each reads from, and the gradient. A list has `room`. */
typedef struct {
    int *count;
    entry *values;
    size_t room;
} passing;

static int new_passing(passing *lists, size_t count, size_t room) {
    lists->count = malloc((count + 1) * sizeof *lists->count);
    lists->values = malloc((count * room + 1) * sizeof *lists->values);
    lists->room = room;
    return lists->count && lists->values;
}

static void free_passing(passing *lists) {
    free(lists->count);
    free(lists->values);
}

/* What the loops over pooled pixels need to know. */
typedef struct {
    int height, width;
    int32_t row, corner[5]; /* where the square's pixels lie; the fifth stands for a closed ReLU */
} squares;

static squares squares_of(const pooled_conv *s) {
    int row = s->width * s->in_channels;
    return (squares){(s->height - s->kernel_height + 1) / 2,
                     (s->width - s->kernel_width + 1) / 2,
                     row,
                     {0, s->in_channels, row, row + s->in_channels, 0}};
}

/* One list an output channel, for the weights' gradient: where in x the window begins. */
static void find_by_channel(const pooled_conv *s, const float *gradient, const uint8_t *choice,
                            passing *found) {
    squares q = squares_of(s);
    memset(found->count, 0, (size_t)s->channels * sizeof *found->count);
    for (int y = 0; y < q.height; y++)
        for (int i = 0; i < q.width; i++, gradient += s->channels, choice += s->channels) {
            int32_t at = 2 * y * q.row + 2 * i * s->in_channels;
            entry *next = found->values;
            for (int c = 0; c < s->channels; c++, next += found->room) {
                next[found->count[c]] = (entry){at + q.corner[choice[c]], gradient[c]};
                found->count[c] += choice[c] < 4;
            }
        }
}

/* Five lists a pooled pixel, for the input's gradient: where the channel's weights begin. */
static void find_by_pixel(const pooled_conv *s, int32_t window, const float *gradient,
                          const uint8_t *choice, passing *found) {
    squares q = squares_of(s);
    entry *lists = found->values;
    int *count = found->count;
    for (int p = 0; p < q.height * q.width; p++, lists += 5 * found->room, count += 5) {
        int counts[5] = {0};
        for (int c = 0; c < s->channels; c++, gradient++, choice++)
            lists[*choice * found->room + counts[*choice]++] = (entry){c * window, *gradient};
        memcpy(count, counts, sizeof counts);
    }
}

/* Adds to `rows` rows of `columns` vectors the rows that each value of a list reads, times it. */
INLINE void add_windows(const entry *e, const entry *end, const float *from, size_t row, int rows,
                        int columns, float *sums) {
    vec a[10];
    UNROLL for (int i = 0; i < rows * columns; i++) a[i] = load(sums + (size_t)i * LANES);
    for (; e != end; e++) {
        const float *p = from + e->offset;
        float g = e->value;
        UNROLL for (int y = 0; y < rows; y++)
            UNROLL for (int i = 0; i < columns; i++)
                a[y * columns + i] += g * load(p + y * row + (size_t)i * LANES);
    }
    UNROLL for (int i = 0; i < rows * columns; i++) store(sums + (size_t)i * LANES, a[i]);
}

#define WINDOWS(ROWS, COLUMNS)                                                                   \
    TILE windows_##ROWS##x##COLUMNS(const entry *e, const entry *end, const float *from,         \
                                    size_t row, float *sums) {                                   \
        add_windows(e, end, from, row, ROWS, COLUMNS, sums);                                     \
    }

WINDOWS(5, 1)
WINDOWS(3, 1)
WINDOWS(1, 10)
WINDOWS(1, 4)
WINDOWS(1, 1)

/* Adds to the gradient of one channel's weights: kernel_height rows of `columns` vectors. */
static void channel_weights(const pooled_conv *s, int columns, const entry *e, const entry *end,
                            const float *x, float *sums) {
    size_t row = (size_t)s->width * s->in_channels;
    int rows = s->kernel_height, y = 0;
    if (columns == 1) {
        for (; y + 5 <= rows; y += 5)
            windows_5x1(e, end, x + y * row, row, sums + (size_t)y * LANES);
        for (; y + 3 <= rows; y += 3)
            windows_3x1(e, end, x + y * row, row, sums + (size_t)y * LANES);
    }
    for (; y < rows; y++) {
        const float *from = x + y * row;
        float *to = sums + (size_t)y * columns * LANES;
        int i = 0;
        for (; i + 10 <= columns; i += 10)
            windows_1x10(e, end, from + i * LANES, row, to + i * LANES);
        for (; i + 4 <= columns; i += 4)
            windows_1x4(e, end, from + i * LANES, row, to + i * LANES);
        for (; i < columns; i++) windows_1x1(e, end, from + i * LANES, row, to + i * LANES);
    }
}

/* `tile` vectors at `at` of a row of the windows, for every square's pixel: a tile's weights of all
 * channels stay in the cache. */
#define INPUT_TILE(COLUMNS)                                                                       \
    TILE pixels_##COLUMNS(const pooled_conv *s, const passing *found, const float *weights,       \
                          float *to_x) {                                                          \
        squares q = squares_of(s);                                                                \
        const entry *list = found->values;                                                        \
        const int *count = found->count;                                                          \
        for (int y = 0; y < q.height; y++)                                                        \
            for (int i = 0; i < q.width; i++, count += 5, list += found->room)                    \
                for (int k = 0; k < 4; k++, list += found->room)                                  \
                    add_windows(list, list + count[k], weights, 0, 1, COLUMNS,                    \
                                to_x + 2 * y * q.row + 2 * i * s->in_channels + q.corner[k]);     \
    }

INPUT_TILE(10)
INPUT_TILE(4)
INPUT_TILE(1)

static void input_example(const pooled_conv *s, int columns, const passing *found,
                          const float *weights, float *to_x) {
    for (int y = 0; y < s->kernel_height; y++) {
        const float *w = weights + (size_t)y * columns * LANES;
        float *to = to_x + (size_t)y * s->width * s->in_channels;
        int i = 0;
        for (; i + 10 <= columns; i += 10) pixels_10(s, found, w + i * LANES, to + i * LANES);
        for (; i + 4 <= columns; i += 4) pixels_4(s, found, w + i * LANES, to + i * LANES);
        for (; i < columns; i++) pixels_1(s, found, w + i * LANES, to + i * LANES);
    }
}

typedef struct {
    float *x, *to_x, *weights, *sums, *bias_sums;
    passing channels, pixels;
} pooled_scratch;

/* A window's rows between the tensor, where they touch, and the scratch, where they are padded. */
static void pad_rows(const pooled_conv *s, const float *weights, float *out) {
    int size = s->kernel_width * s->in_channels;
    size_t padded = (size_t)row_vectors(s) * LANES;
    for (int i = 0; i < s->channels * s->kernel_height; i++)
        memcpy(out + i * padded, weights + (size_t)i * size, (size_t)size * sizeof *out);
}

static void unpad_rows(const pooled_conv *s, const float *padded_rows, float *out) {
    int size = s->kernel_width * s->in_channels;
    size_t padded = (size_t)row_vectors(s) * LANES;
    for (int i = 0; i < s->channels * s->kernel_height; i++)
        memcpy(out + (size_t)i * size, padded_rows + i * padded, (size_t)size * sizeof *out);
}

static void weights_example(const pooled_conv *s, const pooled_scratch *t, int wants_weights) {
    int columns = row_vectors(s);
    size_t window = (size_t)s->kernel_height * columns * LANES;
    for (int c = 0; c < s->channels; c++) {
        const entry *first = t->channels.values + c * t->channels.room;
        const entry *end = first + t->channels.count[c];
        if (wants_weights) channel_weights(s, columns, first, end, t->x, t->sums + c * window);
        float sum = 0;
        for (const entry *e = first; e != end; e++) sum += e->value;
        t->bias_sums[c] += sum;
    }
}

static int pooled_conv_backward(const pooled_conv *s, int examples, const float *x,
                                const float *weights, const float *gradient,
                                const uint8_t *choice, float *to_weights, float *to_bias,
                                float *to_x) {
    squares q = squares_of(s);
    int columns = row_vectors(s), window = s->kernel_height * columns * LANES;
    size_t pooled = (size_t)q.height * q.width, kernel = (size_t)s->channels * window / LANES;
    size_t size = (size_t)s->height * s->width * s->in_channels;
    size_t image = size / LANES + 2; /* a padded row may end up to a vector behind the image */
    pooled_scratch t = {
        .x = new_vectors(image),
        .to_x = new_vectors(image),
        .weights = new_vectors(kernel),
        .sums = new_vectors(kernel),
        .bias_sums = new_vectors((size_t)s->channels),
    };
    int enough = new_passing(&t.channels, (size_t)s->channels, pooled + 1);
    enough &= new_passing(&t.pixels, to_x ? 5 * pooled : 0, (size_t)s->channels);
    enough = enough && t.x && t.to_x && t.weights && t.sums && t.bias_sums;
    if (enough) {
        memset(t.x, 0, image * sizeof(vec));
        memset(t.sums, 0, kernel * sizeof(vec));
        memset(t.bias_sums, 0, (size_t)s->channels * sizeof *t.bias_sums);
        memset(t.weights, 0, kernel * sizeof(vec));
        pad_rows(s, weights, t.weights);
    }
    for (int n = 0; enough && n < examples; n++) {
        const float *g = gradient + n * pooled * s->channels;
        const uint8_t *chosen = choice + n * pooled * s->channels;
        if (to_weights || to_bias) {
            memcpy(t.x, x + n * size, size * sizeof *x);
            find_by_channel(s, g, chosen, &t.channels);
            weights_example(s, &t, to_weights != NULL);
        }
        if (to_x) {
            memset(t.to_x, 0, image * sizeof(vec));
            find_by_pixel(s, window, g, chosen, &t.pixels);
            input_example(s, columns, &t.pixels, t.weights, t.to_x);
            memcpy(to_x + n * size, t.to_x, size * sizeof *to_x);
        }
    }
    if (enough && to_weights) unpad_rows(s, t.sums, to_weights);
    if (enough && to_bias) memcpy(to_bias, t.bias_sums, (size_t)s->channels * sizeof *to_bias);
    free(t.x);
    free(t.to_x);
    free(t.weights);
    free(t.sums);
    free(t.bias_sums);
    free_passing(&t.channels);
    free_passing(&t.pixels);
    return enough ? 0 : -1;
}
