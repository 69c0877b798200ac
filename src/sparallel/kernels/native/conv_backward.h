/* Backward pass of a block of examples: lay out the output's gradient (undoing the pool), then
 * the gradient to the kept weights, then the gradient to the input. */

/* Rows first..last of one channel of the output's gradient into `out`, a plane with zero columns
 * left and right of it; `out` starts as all zeros and the zero columns are never written. */
static void spread(const conv_plan *plan, int first, int last, const float *gradient,
                   const uint8_t *choice, float *out) {
    const geometry *s = &plan->shape;
    if (!s->pool) {
        for (int y = first; y < last; y++)
            memcpy(out + ((size_t)y * plan->g_row + plan->g_left) * LANES,
                   gradient + (size_t)y * s->out_width * LANES,
                   (size_t)s->out_width * sizeof(vec));
        return;
    }
    for (int y = first / 2; 2 * y + 2 <= last; y++) {
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

typedef struct {
    float *padded, *spread, *partial, *sums, *bias_sums;
    entry *kept;
} backward_scratch;

/* Spread gradients are kept for all channels only if the input's gradient will read them. */
static void backward_block(const conv_plan *plan, const backward_scratch *scratch, const float *x,
                           const float *gradient, const uint8_t *choice, int wants_values,
                           int wants_bias, float *to_x) {
    const geometry *s = &plan->shape;
    const float *input = scratch->padded ? scratch->padded : x;
    size_t g_size = s->pool ? (size_t)plan->pooled_height * plan->pooled_width
                            : (size_t)s->out_height * s->out_width;
    int keeps_all = to_x || plan->weights.blocks > 1;
    if (scratch->padded && wants_values) read_input(plan, x, scratch->padded);
    for (int first = 0; first < s->out_height; first += plan->band) {
        int last = first + plan->band < s->out_height ? first + plan->band : s->out_height;
        for (int block = 0; block < plan->weights.blocks; block++)
            for (int c = 0; c < s->out_channels; c++) {
                float *plane = scratch->spread + (keeps_all ? (size_t)c * plan->g_plane * LANES : 0);
                if (block == 0) {
                    spread(plan, first, last, gradient + c * g_size * LANES,
                           choice ? choice + c * g_size * LANES : NULL, plane);
                    if (wants_bias) {
                        float *at = scratch->bias_sums + (size_t)c * LANES;
                        store(at, load(at) + bias_channel(plan, first, last, plane));
                    }
                }
                if (wants_values)
                    weights_channel(plan, block, c, first, last, input, plane,
                                    (vec *)scratch->sums);
            }
    }
    if (to_x) {
        input_pass p = {plan, x, scratch->spread, scratch->kept, to_x, (vec *)scratch->partial};
        input_block(&p);
    }
}

static int conv_backward(const conv_plan *plan, int blocks, const float *x, const float *values,
                         const float *gradient, const uint8_t *choice, float *to_values,
                         float *to_bias, float *to_x) {
    const geometry *s = &plan->shape;
    size_t x_size = (size_t)s->in_channels * s->in_height * s->in_width * LANES;
    size_t g_size = (size_t)s->out_channels * LANES *
                    (s->pool ? (size_t)plan->pooled_height * plan->pooled_width
                             : (size_t)s->out_height * s->out_width);
    size_t planes = to_x || plan->weights.blocks > 1 ? (size_t)s->out_channels : 1;
    backward_scratch t = {
        .padded = plan->copies_input ? new_vectors((size_t)s->in_channels * plan->x_plane) : NULL,
        .spread = new_vectors(planes * plan->g_plane),
        .partial = new_vectors((size_t)s->in_channels * 12),
        .sums = new_vectors((size_t)plan->kept),
        .bias_sums = new_vectors((size_t)s->out_channels),
        .kept = gather(&plan->input, plan->kept, values),
    };
    int enough = (t.padded || !plan->copies_input) && t.spread && t.partial && t.sums &&
                 t.bias_sums && t.kept;
    if (enough) {
        memset(t.spread, 0, planes * plan->g_plane * sizeof(vec));
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
