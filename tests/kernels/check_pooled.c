/* Dense convolutions before a pool and a ReLU against loops that follow the definition. */
#include "check.h"

/* The convolution in double precision, channels last, before the pool. */
static double *convolved(const pooled_conv *s, int examples, const buffer *x, const buffer *weights,
                         const buffer *bias) {
    int height = s->height - s->kernel_height + 1, width = s->width - s->kernel_width + 1;
    double *out = zeros((size_t)examples * height * width * s->channels), *next = out;
    int taps = s->kernel_height * s->kernel_width * s->in_channels;
    for (int n = 0; n < examples; n++)
        for (int p = 0; p < height * width; p++)
            for (int c = 0; c < s->channels; c++, next++) {
                *next = bias->at[c];
                for (int t = 0; t < taps; t++) {
                    int i = t % s->in_channels, column = t / s->in_channels % s->kernel_width;
                    int row = p / width + t / s->in_channels / s->kernel_width;
                    size_t from = ((size_t)n * s->height + row) * s->width + p % width + column;
                    *next += (double)weights->at[c * taps + t] * x->at[from * s->in_channels + i];
                }
            }
    return out;
}

void check_pooled(int round) {
    pooled_conv s = {1 + below(9), 1 + below(9), 1 + below(9), 1, 1, 1 + below(20)};
    s.kernel_height = 1 + below(s.height < 6 ? s.height : 6);
    s.kernel_width = 1 + below(s.width < 6 ? s.width : 6);
    int examples = 1 + below(3), taps = s.kernel_height * s.kernel_width * s.in_channels;
    int height = s.height - s.kernel_height + 1, width = s.width - s.kernel_width + 1;
    size_t count = (size_t)examples * (height / 2) * (width / 2) * s.channels;
    buffer x = new_buffer((size_t)examples * s.height * s.width * s.in_channels, below(4), 1);
    buffer weights = new_buffer((size_t)s.channels * taps, below(4), 1);
    buffer bias = new_buffer((size_t)s.channels, below(4), 1);
    buffer out = new_buffer(count, below(4), 0), again = new_buffer(count, below(4), 0);
    buffer full = new_buffer((size_t)examples * height * width * s.channels, below(4), 0);
    buffer gradient = new_buffer(count, below(4), 1);
    buffer to_x = new_buffer(x.count, below(4), 0), to_bias = new_buffer(bias.count, 1, 0);
    buffer to_weights = new_buffer(weights.count, below(4), 0);
    uint8_t *choice = malloc(count + 1), *same = malloc(count + 1);
    double *e_full = convolved(&s, examples, &x, &weights, &bias), *e_out = zeros(count);
    double *e_x = zeros(x.count), *e_weights = zeros(weights.count), *e_bias = zeros(bias.count);
    int status = set->pooled_conv_forward(&s, examples, x.at, weights.at, bias.at, again.at, NULL);
    status |= set->pooled_conv_forward(&s, examples, x.at, weights.at, bias.at, out.at, choice);
    same_bits("output without its choice", round, &again, &out);
    for (size_t i = 0; i < full.count; i++) full.at[i] = (float)e_full[i];
    pooling p = {height, width, s.channels};
    set->pool_forward(&p, examples, full.at, again.at, same);
    status |= set->pooled_conv_backward(&s, examples, x.at, weights.at, gradient.at, same,
                                        to_weights.at, to_bias.at, to_x.at);
    status |= set->pooled_conv_backward(&s, examples, x.at, weights.at, gradient.at, same, NULL,
                                        NULL, NULL);
    if (status) fail("memory", round);
    for (size_t i = 0; i < count; i++) {
        int c = (int)(i % s.channels), column = (int)(i / s.channels % (width / 2));
        int row = (int)(i / s.channels / (width / 2) % (height / 2));
        size_t n = i / s.channels / (width / 2) / (height / 2);
        int best = 4;
        for (int q = 0; q < 4; q++) {
            int y = 2 * row + q / 2, z = 2 * column + q % 2;
            float value = full.at[((n * height + y) * width + z) * s.channels + c];
            if (value > (best == 4 ? 0 : (float)e_out[i])) e_out[i] = value, best = q;
        }
        if (same[i] != best) fail("the pool's choice", round);
        if (choice[i] != best && fabs(e_out[i] - out.at[i]) > 2e-5) fail("the choice", round);
        if (best == 4) continue;
        e_bias[c] += gradient.at[i];
        for (int t = 0; t < taps; t++) {
            int y = 2 * row + best / 2 + t / s.in_channels / s.kernel_width;
            int z = 2 * column + best % 2 + t / s.in_channels % s.kernel_width;
            size_t from = ((n * s.height + y) * s.width + z) * s.in_channels + t % s.in_channels;
            e_weights[c * taps + t] += (double)gradient.at[i] * x.at[from];
            e_x[from] += (double)gradient.at[i] * weights.at[c * taps + t];
        }
    }
    compare("pooled convolution", round, &out, e_out);
    compare("pool", round, &again, e_out);
    compare("pooled weights' gradient", round, &to_weights, e_weights);
    compare("pooled bias's gradient", round, &to_bias, e_bias);
    compare("pooled input's gradient", round, &to_x, e_x);
    void *all[] = {x.memory, weights.memory, bias.memory, out.memory, again.memory, full.memory,
                   gradient.memory, to_x.memory, to_bias.memory, to_weights.memory, choice, same,
                   e_full, e_out, e_x, e_weights, e_bias};
    for (int i = 0; i < 17; i++) free(all[i]);
}
