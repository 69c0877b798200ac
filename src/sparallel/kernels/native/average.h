/* The shortcut of a strided residual block: 2x2 averages, more channels, all in one pass. */

static void average_forward(const averaging *a, int blocks, const float *x, float *out) {
    int height = a->height / 2, width = a->width / 2;
    size_t plane = (size_t)height * width * LANES, row = (size_t)a->width * LANES;
    for (int n = 0; n < blocks; n++) {
        memset(out, 0, a->before * plane * sizeof *out);
        out += a->before * plane;
        for (int c = 0; c < a->channels; c++, x += (size_t)a->height * row)
            for (int y = 0; y < height; y++) {
                const float *p = x + 2 * y * row;
                for (int i = 0; i < width; i++, p += 2 * LANES, out += LANES) {
                    vec v[4] = {load(p), load(p + LANES), load(p + row), load(p + row + LANES)};
                    if (a->relu)
                        UNROLL for (int k = 0; k < 4; k++) v[k] = rectify(v[k]);
                    store(out, ((v[0] + v[1]) + (v[2] + v[3])) * 0.25f);
                }
            }
        memset(out, 0, a->after * plane * sizeof *out);
        out += a->after * plane;
    }
}

static void average_backward(const averaging *a, int blocks, const float *x,
                             const float *gradient, float *to_x) {
    int height = a->height / 2, width = a->width / 2;
    size_t plane = (size_t)height * width * LANES;
    for (int n = 0; n < blocks; n++) {
        gradient += a->before * plane;
        for (int c = 0; c < a->channels; c++, gradient += plane)
            for (int y = 0; y < a->height; y++)
                for (int i = 0; i < a->width; i++, x += LANES, to_x += LANES) {
                    /* An odd last row or column has no part in any average. */
                    int inside = y / 2 < height && i / 2 < width;
                    vec g = {0};
                    if (inside)
                        g = load(gradient + ((size_t)(y / 2) * width + i / 2) * LANES) * 0.25f;
                    if (a->relu) g = (vec)(~(mask)(load(x) <= 0.0f) & (mask)g);
                    store(to_x, g);
                }
        gradient += a->after * plane;
    }
}
