/* Backward pass of a block of examples: lay out the output's gradient (undoing the pool), then
 * the gradient to the kept weights and biases, then the gradient to the input. */

/* One channel's gradient behind a pool into `out`, a plane with zero columns left and right; the
 * zero columns, and an odd last row or column that the pool ignored, are never written. */
static void unpool(const conv_plan *plan, const float *gradient, const uint8_t *choice,
                   float *out) {
    for (int y = 0; y < plan->pooled_height; y++) {
        float *to = out + ((size_t)2 * y * plan->g_row + plan->g_left) * LANES;
        for (int i = 0; i < plan->pooled_width; i++, to += 2 * LANES) {
            size_t at = ((size_t)y * plan->pooled_width + i) * LANES;
            vec g = load(gradient + at);
            bytes b;
            memcpy(&b, choice + at, sizeof b);
            mask chosen = __builtin_convertvector(b, mask);
            float *below = to + (size_t)plan->g_row * LANES;
            store(to, (vec)((mask)(chosen == 0) & (mask)g));
            store(to + LANES, (vec)((mask)(chosen == 1) & (mask)g));
            store(below, (vec)((mask)(chosen == 2) & (mask)g));
            store(below + LANES, (vec)((mask)(chosen == 3) & (mask)g));
        }
    }
}

/* Output rows low..high of every channel's gradient between zero columns. */
static void pad_gradient(const conv_plan *plan, int low, int high, const float *gradient,
                         float *out) {
    const geometry *s = &plan->shape;
    for (int c = 0; c < s->out_channels; c++)
        for (int y = low; y < high; y++)
            memcpy(out + ((size_t)c * plan->g_plane + (size_t)(y - low) * plan->g_row +
                          plan->g_left) * LANES,
                   gradient + ((size_t)c * s->out_height + y) * s->out_width * LANES,
                   (size_t)s->out_width * sizeof(vec));
}

typedef struct {
    float *padded, *spread, *partial, *sums, *bias_sums;
    entry *kept;
} backward_scratch;

/* The weights' gradient: `p` has its gradient, row and plane; x is this block's input. */
static void weights_block(weights_pass *p, const backward_scratch *scratch, const float *x,
                          int first_channel, int last_channel) {
    const conv_plan *plan = p->plan;
    int height = plan->shape.out_height;
    p->x = x;
    for (p->first = p->last = 0; p->last < height; p->first = p->last) {
        p->last = p->first + plan->band < height ? p->first + plan->band : height;
        if (scratch->padded) {
            read_input(plan, x, p->first * plan->shape.stride_y, scratch->padded);
            p->x = scratch->padded;
        }
        weights_band(p, first_channel, last_channel);
    }
}

/* Summed by row, then by plane: long chains of like terms would lose digits. */
static void bias_block(const weights_pass *p, int c, float *sum) {
    const float *g = p->gradient + (c - p->first_channel) * p->plane;
    vec plane = {0};
    for (int y = 0; y < p->plan->shape.out_height; y++) {
        vec row = {0};
        for (int i = 0; i < p->plan->shape.out_width; i++)
            row += load(g + y * p->row + (size_t)i * LANES);
        plane += row;
    }
    store(sum, load(sum) + plane);
}

static void input_block(const conv_plan *plan, const backward_scratch *scratch, const float *x,
                        const float *gradient, float *to_x) {
    const geometry *s = &plan->shape;
    input_pass p = {plan, x, scratch->spread, 0, scratch->kept, to_x, (vec *)scratch->partial};
    int whole = plan->g_rows == s->out_height; /* then one band reads all rows */
    for (int from = 0; from < s->in_height; from += plan->g_band) {
        int to = from + plan->g_band < s->in_height ? from + plan->g_band : s->in_height;
        int low = (from + s->pad_top) / s->stride_y - plan->taps_y + 1;
        int high = (to - 1 + s->pad_top) / s->stride_y + 1;
        if (whole || high > s->out_height) high = s->out_height;
        p.low = whole || low < 0 ? 0 : low;
        if (!s->pool) pad_gradient(plan, p.low, high, gradient, scratch->spread);
        input_band(&p, from, to);
    }
}

/* Channels whose spread gradient is kept at a time. Behind a pool it serves weights and input; if
 * only the weights want it, one channel's plane, used while it is in the cache, is enough. Without
 * a pool only the input's gradient reads it. */
static int spread_channels(const conv_plan *plan, int wants_x) {
    if (wants_x) return plan->shape.out_channels;
    if (!plan->shape.pool) return 0;
    return plan->copies_input ? plan->shape.out_channels : 1; /* a copy a channel would cost more */
}

static void backward_block(const conv_plan *plan, const backward_scratch *scratch, const float *x,
                           const float *gradient, const uint8_t *choice, int wants_values,
                           int wants_bias, float *to_x) {
    const geometry *s = &plan->shape;
    size_t pooled = (size_t)plan->pooled_height * plan->pooled_width * LANES;
    size_t plane = (size_t)plan->g_plane * LANES;
    int at_once = s->pool ? spread_channels(plan, to_x != NULL) : s->out_channels;
    weights_pass p = {.plan = plan, .sums = (vec *)scratch->sums, .gradient = gradient};
    p.row = (size_t)(s->pool ? plan->g_row : s->out_width) * LANES;
    p.plane = s->pool ? plane : p.row * s->out_height;
    for (int c = 0; c < s->out_channels; c += at_once) {
        for (int i = 0; s->pool && i < at_once; i++)
            unpool(plan, gradient + (c + i) * pooled, choice + (c + i) * pooled,
                   scratch->spread + i * plane);
        /* Channel c's plane is the first of the spread ones. */
        if (s->pool) p.gradient = scratch->spread + (ptrdiff_t)plan->g_left * LANES;
        p.first_channel = s->pool ? c : 0;
        for (int i = c; wants_bias && i < c + at_once; i++)
            bias_block(&p, i, scratch->bias_sums + (size_t)i * LANES);
        if (wants_values) weights_block(&p, scratch, x, c, c + at_once);
    }
    if (to_x) input_block(plan, scratch, x, gradient, to_x);
}

static int conv_backward(const conv_plan *plan, int blocks, const float *x, const float *values,
                         const float *gradient, const uint8_t *choice, float *to_values,
                         float *to_bias, float *to_x) {
    const geometry *s = &plan->shape;
    size_t x_size = (size_t)s->in_channels * s->in_height * s->in_width * LANES;
    size_t g_size = (size_t)s->out_channels * LANES *
                    (s->pool ? (size_t)plan->pooled_height * plan->pooled_width
                             : (size_t)s->out_height * s->out_width);
    size_t spread = (size_t)spread_channels(plan, to_x != NULL) * plan->g_plane;
    backward_scratch t = {
        .padded = plan->copies_input ? new_vectors((size_t)s->in_channels * plan->x_plane) : NULL,
        .spread = new_vectors(spread),
        .partial = new_vectors((size_t)s->in_channels * 12),
        .sums = new_vectors((size_t)plan->kept),
        .bias_sums = new_vectors((size_t)s->out_channels),
        .kept = gather(&plan->input, to_x ? plan->kept : 0, values),
    };
    int enough = (t.padded || !plan->copies_input) && t.spread && t.partial && t.sums &&
                 t.bias_sums && t.kept;
    if (enough) {
        memset(t.spread, 0, spread * sizeof(vec));
        memset(t.sums, 0, (size_t)plan->kept * sizeof(vec));
        memset(t.bias_sums, 0, (size_t)s->out_channels * sizeof(vec));
    }
    for (int n = 0; enough && n < blocks; n++)
        backward_block(plan, &t, x + n * x_size, gradient + n * g_size,
                       choice ? choice + n * g_size : NULL, to_values != NULL, to_bias != NULL,
                       to_x ? to_x + n * x_size : NULL);
    for (int i = 0; enough && to_values && i < plan->kept; i++)
        to_values[plan->weights.position[i]] = sum_lanes(load(t.sums + (size_t)i * LANES));
    for (int i = 0; enough && to_bias && i < s->out_channels; i++)
        to_bias[i] = sum_lanes(load(t.bias_sums + (size_t)i * LANES));
    free(t.padded);
    free(t.spread);
    free(t.partial);
    free(t.sums);
    free(t.bias_sums);
    free(t.kept);
    return enough ? 0 : -1;
}
