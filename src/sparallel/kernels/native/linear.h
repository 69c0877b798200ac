/* Linear layers: (blocks, features, lanes) in, (blocks, outputs, lanes) out. Up to eight blocks of
 * examples are taken together and laid side by side first, so that one kept weight reads one
 * stretch of memory for all of them. */

/* packed[i][t] = x[t][i] for `count` blocks of `size` vectors. */
INLINE void pack(const float *x, int size, int count, float *packed) {
    for (int i = 0; i < size; i++)
        UNROLL for (int t = 0; t < count; t++)
            store(packed + ((size_t)i * count + t) * LANES,
                  load(x + ((size_t)t * size + i) * LANES));
}

/* out[t][i] = start + sum over the kept weights `first`..`last` of value x packed[which][t]. */
INLINE void linear_sum(const float *packed, const int32_t *which, const int32_t *position,
                       const float *values, int first, int last, float start, int count,
                       float *out, size_t step) {
    vec a[8];
    UNROLL for (int t = 0; t < count; t++) a[t] = (vec){0} + start;
    for (int e = first; e < last; e++) {
        const float *p = packed + (size_t)which[e] * count * LANES;
        float w = values[position ? position[e] : e];
        UNROLL for (int t = 0; t < count; t++) a[t] += w * load(p + t * LANES);
    }
    UNROLL for (int t = 0; t < count; t++) store(out + t * step, a[t]);
}

typedef struct {
    const linear_plan *plan;
    const float *x, *values, *bias, *gradient;
    float *out, *to_values, *to_bias, *to_x, *packed;
} linear_pass;

INLINE void linear_forward_tile(const linear_pass *p, int count) {
    const linear_plan *plan = p->plan;
    pack(p->x, plan->features, count, p->packed);
    for (int o = 0; o < plan->outputs; o++)
        linear_sum(p->packed, plan->column, NULL, p->values, plan->row_start[o],
                   plan->row_start[o + 1], p->bias ? p->bias[o] : 0.0f, count,
                   p->out + (size_t)o * LANES, (size_t)plan->outputs * LANES);
}

INLINE void linear_weights_tile(const linear_pass *p, int count) {
    const linear_plan *plan = p->plan;
    pack(p->x, plan->features, count, p->packed);
    for (int o = 0; o < plan->outputs; o++) {
        vec g[8], total = {0};
        UNROLL for (int t = 0; t < count; t++) {
            g[t] = load(p->gradient + ((size_t)t * plan->outputs + o) * LANES);
            total += g[t];
        }
        if (p->to_bias) p->to_bias[o] += sum_lanes(total);
        if (!p->to_values) continue;
        for (int e = plan->row_start[o]; e < plan->row_start[o + 1]; e++) {
            const float *x = p->packed + (size_t)plan->column[e] * count * LANES;
            vec a = {0}, b = {0};
            UNROLL for (int t = 0; t < count; t += 2) a += g[t] * load(x + t * LANES);
            UNROLL for (int t = 1; t < count; t += 2) b += g[t] * load(x + t * LANES);
            p->to_values[e] += sum_lanes(a + b);
        }
    }
}

INLINE void linear_input_tile(const linear_pass *p, int count) {
    const linear_plan *plan = p->plan;
    pack(p->gradient, plan->outputs, count, p->packed);
    for (int f = 0; f < plan->features; f++)
        linear_sum(p->packed, plan->column_output, plan->column_position, p->values,
                   plan->column_start[f], plan->column_start[f + 1], 0.0f, count,
                   p->to_x + (size_t)f * LANES, (size_t)plan->features * LANES);
}

#define LINEAR(COUNT)                                                                            \
    TILE linear_forward_##COUNT(const linear_pass *p) { linear_forward_tile(p, COUNT); }         \
    TILE linear_weights_##COUNT(const linear_pass *p) { linear_weights_tile(p, COUNT); }         \
    TILE linear_input_##COUNT(const linear_pass *p) { linear_input_tile(p, COUNT); }

LINEAR(8)
LINEAR(4)
LINEAR(2)
LINEAR(1)

#define RUN_LINEAR(kind, count, pass)                                                            \
    (count == 8   ? linear_##kind##_8(pass)                                                      \
     : count == 4 ? linear_##kind##_4(pass)                                                      \
     : count == 2 ? linear_##kind##_2(pass)                                                      \
                  : linear_##kind##_1(pass))

static int linear_tile(int left) { return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1; }

static int linear_forward(const linear_plan *plan, int blocks, const float *x, const float *values,
                          const float *bias, float *out) {
    float *packed = new_vectors((size_t)plan->features * 8);
    size_t x_step = (size_t)plan->features * LANES, out_step = (size_t)plan->outputs * LANES;
    for (int n = 0, count; packed && n < blocks; n += count) {
        linear_pass p = {.plan = plan, .x = x + n * x_step, .values = values, .bias = bias};
        p.out = out + n * out_step, p.packed = packed;
        count = linear_tile(blocks - n);
        RUN_LINEAR(forward, count, &p);
    }
    int status = packed ? 0 : -1;
    free(packed);
    return status;
}

static int linear_backward(const linear_plan *plan, int blocks, const float *x,
                           const float *values, const float *gradient, float *to_values,
                           float *to_bias, float *to_x) {
    int widest = plan->features > plan->outputs ? plan->features : plan->outputs;
    float *packed = new_vectors((size_t)widest * 8);
    size_t x_step = (size_t)plan->features * LANES, g_step = (size_t)plan->outputs * LANES;
    for (int e = 0; to_values && e < plan->kept; e++) to_values[e] = 0.0f;
    for (int o = 0; to_bias && o < plan->outputs; o++) to_bias[o] = 0.0f;
    for (int n = 0, count; packed && n < blocks; n += count) {
        linear_pass p = {.plan = plan, .x = x + n * x_step, .values = values, .packed = packed};
        p.gradient = gradient + n * g_step, p.to_values = to_values, p.to_bias = to_bias, p.to_x = to_x ? to_x + n * x_step : NULL;
        count = linear_tile(blocks - n);
        if (to_values || to_bias) RUN_LINEAR(weights, count, &p);
        if (to_x) RUN_LINEAR(input, count, &p);
    }
    int status = packed ? 0 : -1;
    free(packed);
    return status;
}
