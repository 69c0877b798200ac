/* Dense layers in front of a 2x2 max-pool and a ReLU, on images that lie channels last: a vector
 * holds neighbouring channels of one pixel. What the pool throws away is never written, and every
 * example is computed by itself, so its bits do not depend on the batch around it. */

INLINE vec load_some(const float *p, int count) {
    if (count >= LANES) return load(p);
    vec v = {0};
    memcpy(&v, p, (size_t)count * sizeof *p);
    return v;
}

/* Pools one square of `count` channels; choice is optional. */
INLINE void pool_square(const vec *square, int count, float *out, uint8_t *choice) {
    if (count >= LANES) {
        pool(square, 2, out, choice);
        return;
    }
    float some[LANES];
    uint8_t chosen[LANES];
    pool(square, 2, some, chosen);
    memcpy(out, some, (size_t)count * sizeof *out);
    if (choice) memcpy(choice, chosen, (size_t)count);
}

static void pool_forward(const pooling *s, int examples, const float *x, float *out,
                         uint8_t *choice) {
    int height = s->height / 2, width = s->width / 2, channels = s->channels;
    size_t row = (size_t)s->width * channels, next = 0;
    for (int n = 0; n < examples; n++, x += s->height * row)
        for (int y = 0; y < height; y++)
            for (int i = 0; i < width; i++, next += channels) {
                const float *from = x + 2 * y * row + (size_t)2 * i * channels;
                for (int c = 0; c < channels; c += LANES) {
                    int count = channels - c;
                    vec square[4] = {load_some(from + c, count),
                                     load_some(from + channels + c, count),
                                     load_some(from + row + c, count),
                                     load_some(from + row + channels + c, count)};
                    pool_square(square, count, out + next + c, choice ? choice + next + c : NULL);
                }
            }
}

/* A convolution with few inputs (no padding, stride 1), pooled and rectified. */

enum { PAIR = 2 * LANES };

static int padded_channels(const pooled_conv *s) {
    return (s->channels + PAIR - 1) / PAIR * PAIR;
}

static int taps_of(const pooled_conv *s) {
    return s->kernel_height * s->kernel_width * s->in_channels;
}

/* Where each weight of a channel reads relative to the window's corner. */
static int32_t *tap_offsets(const pooled_conv *s) {
    int32_t *offsets = malloc(((size_t)taps_of(s) + 1) * sizeof *offsets), *next = offsets;
    for (int y = 0; offsets && y < s->kernel_height; y++)
        for (int i = 0; i < s->kernel_width * s->in_channels; i++)
            *next++ = y * s->width * s->in_channels + i;
    return offsets;
}

/* One square of pixels, two vectors of channels: the sums stay in registers. */
INLINE void first_square(vec *sums, const float *x, const float *weights, const int32_t *offsets,
                         int taps, int channels, int right, int below) {
    vec a[8];
    UNROLL for (int i = 0; i < 8; i++) a[i] = sums[i];
    for (int t = 0; t < taps; t++, weights += channels) {
        const float *p = x + offsets[t];
        vec w = load(weights), v = load(weights + LANES);
        float corner = p[0], east = p[right], south = p[below], far = p[below + right];
        a[0] += corner * w, a[4] += corner * v;
        a[1] += east * w, a[5] += east * v;
        a[2] += south * w, a[6] += south * v;
        a[3] += far * w, a[7] += far * v;
    }
    UNROLL for (int i = 0; i < 8; i++) sums[i] = a[i];
}

TILE first_row(const pooled_conv *s, const float *x, const float *weights, const float *bias,
               const int32_t *offsets, float *out, uint8_t *choice) {
    int padded = padded_channels(s), right = s->in_channels, below = s->width * right;
    int width = (s->width - s->kernel_width + 1) / 2;
    for (int i = 0; i < width; i++, x += 2 * right, out += s->channels) {
        for (int c = 0; c < s->channels; c += PAIR) {
            vec sums[8];
            UNROLL for (int q = 0; q < 8; q++) sums[q] = load(bias + c + q / 4 * LANES);
            first_square(sums, x, weights + c, offsets, taps_of(s), padded, right, below);
            for (int v = 0; v < 2 && c + v * LANES < s->channels; v++) {
                int at = c + v * LANES;
                pool_square(sums + 4 * v, s->channels - at, out + at, choice ? choice + at : NULL);
            }
        }
        if (choice) choice += s->channels;
    }
}

static int pooled_conv_forward(const pooled_conv *s, int examples, const float *x,
                              const float *weights, const float *bias, float *out,
                              uint8_t *choice) {
    int padded = padded_channels(s), taps = taps_of(s);
    size_t row = (size_t)s->width * s->in_channels;
    int height = (s->height - s->kernel_height + 1) / 2;
    int width = (s->width - s->kernel_width + 1) / 2;
    float *packed = new_vectors((size_t)(taps + 1) * padded / LANES);
    int32_t *offsets = tap_offsets(s);
    int enough = packed && offsets;
    if (enough) memset(packed, 0, (size_t)(taps + 1) * padded * sizeof *packed);
    float *biases = packed + (size_t)taps * padded;
    for (int c = 0; enough && c < s->channels; c++) {
        for (int t = 0; t < taps; t++) packed[(size_t)t * padded + c] = weights[c * taps + t];
        if (bias) biases[c] = bias[c];
    }
    size_t out_row = (size_t)width * s->channels;
    for (int n = 0; enough && n < examples; n++, x += s->height * row)
        for (int y = 0; y < height; y++, out += out_row) {
            first_row(s, x + 2 * y * row, packed, biases, offsets, out, choice);
            if (choice) choice += out_row;
        }
    free(packed);
    free(offsets);
    return enough ? 0 : -1;
}
