/* Linear layers: (blocks, features, lanes) in, (blocks, outputs, lanes) out. A few blocks of
 * examples are taken together, so that their sums do not wait for each other. */

/* out[b][0] = start + sum over kept weights of value x in[b][which], for `COUNT` blocks. */
#define LINEAR_TILE(COUNT)                                                                       \
    static void linear_##COUNT(const float *x, size_t x_step, float *out, size_t out_step,       \
                               const int32_t *which, const int32_t *position,                    \
                               const float *values, int kept, float start) {                     \
        vec a[COUNT];                                                                            \
        UNROLL for (int i = 0; i < COUNT; i++) a[i] = (vec){0} + start;                          \
        for (int e = 0; e < kept; e++) {                                                         \
            const float *p = x + (size_t)which[e] * LANES;                                       \
            float w = values[position ? position[e] : e];                                        \
            UNROLL for (int i = 0; i < COUNT; i++) a[i] += w * load(p + i * x_step);             \
        }                                                                                        \
        UNROLL for (int i = 0; i < COUNT; i++) store(out + i * out_step, a[i]);                  \
    }

LINEAR_TILE(8)
LINEAR_TILE(2)
LINEAR_TILE(1)

static void linear_rows(int blocks, const float *x, size_t x_step, float *out, size_t out_step,
                        const int32_t *which, const int32_t *position, const float *values,
                        int kept, float start) {
    int n = 0;
    for (; n + 8 <= blocks; n += 8)
        linear_8(x + n * x_step, x_step, out + n * out_step, out_step, which, position, values,
                 kept, start);
    for (; n + 2 <= blocks; n += 2)
        linear_2(x + n * x_step, x_step, out + n * out_step, out_step, which, position, values,
                 kept, start);
    for (; n < blocks; n++)
        linear_1(x + n * x_step, x_step, out + n * out_step, out_step, which, position, values,
                 kept, start);
}

static int linear_forward(const linear_plan *plan, int blocks, const float *x, const float *values,
                          const float *bias, float *out) {
    size_t x_step = (size_t)plan->features * LANES, out_step = (size_t)plan->outputs * LANES;
    for (int o = 0; o < plan->outputs; o++) {
        int first = plan->row_start[o];
        linear_rows(blocks, x, x_step, out + (size_t)o * LANES, out_step, plan->column + first,
                    NULL, values + first, plan->row_start[o + 1] - first, bias ? bias[o] : 0.0f);
    }
    return 0;
}

static int linear_backward(const linear_plan *plan, int blocks, const float *x,
                           const float *values, const float *gradient, float *to_values,
                           float *to_bias, float *to_x) {
    size_t x_step = (size_t)plan->features * LANES, g_step = (size_t)plan->outputs * LANES;
    for (int o = 0; o < plan->outputs; o++) {
        const float *g = gradient + (size_t)o * LANES;
        vec total = {0};
        for (int n = 0; to_bias && n < blocks; n++) total += load(g + n * g_step);
        if (to_bias) to_bias[o] = sum_lanes(total);
        for (int e = plan->row_start[o]; to_values && e < plan->row_start[o + 1]; e++) {
            const float *from = x + (size_t)plan->column[e] * LANES;
            vec sum = {0};
            for (int n = 0; n < blocks; n++) sum += load(g + n * g_step) * load(from + n * x_step);
            to_values[e] = sum_lanes(sum);
        }
    }
    for (int f = 0; to_x && f < plan->features; f++) {
        int first = plan->column_start[f];
        linear_rows(blocks, gradient, g_step, to_x + (size_t)f * LANES, x_step,
                    plan->column_output + first, plan->column_position + first, values,
                    plan->column_start[f + 1] - first, 0.0f);
    }
    return 0;
}
