/* All kernels for one register width: a .c file defines SET, SET_NAME and LANES and includes this
 * under the compiler's target of that instruction set. */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define INLINE static inline __attribute__((always_inline))
/* A tile's loop gets a function of its own: inlined into more loops it runs out of registers. */
#define TILE static __attribute__((noinline)) void
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

typedef float vec __attribute__((vector_size(LANES * 4)));
typedef int32_t mask __attribute__((vector_size(LANES * 4)));
typedef uint8_t bytes __attribute__((vector_size(LANES)));

/* memcpy: no alignment is assumed, so the bits cannot depend on it. */
INLINE vec load(const float *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store(float *p, vec v) { memcpy(p, &v, sizeof v); }

INLINE mask pick(mask m, mask yes, mask no) { return (m & yes) | (~m & no); }

INLINE vec choose(mask m, vec yes, vec no) { return (vec)pick(m, (mask)yes, (mask)no); }

/* A NaN passes, as in PyTorch: a diverged trial must be seen. */
INLINE vec rectify(vec v) { return (vec)(~(mask)(v <= 0.0f) & (mask)v); }

/* One fixed tree, so that the sum's bits are the same on every call. */
INLINE float sum_lanes(vec v) {
    float part[LANES];
    memcpy(part, &v, sizeof v);
    UNROLL for (int half = LANES / 2; half; half /= 2)
        UNROLL for (int i = 0; i < half; i++) part[i] += part[i + half];
    return part[0];
}

static float *new_vectors(size_t count) {
    void *memory = NULL;
    return posix_memalign(&memory, 64, (count + 1) * sizeof(vec)) ? NULL : memory;
}

/* A kept weight as the inner loops read it; the offset counts floats. */
typedef struct {
    int32_t offset;
    float value;
} entry;

static entry *gather(const visiting_order *order, int kept, const float *values) {
    entry *out = malloc(((size_t)kept + 1) * sizeof *out);
    for (int i = 0; out && i < kept; i++)
        out[i] = (entry){order->offset[i] * LANES, values[order->position[i]]};
    return out;
}

#include "conv_common.h"

#include "conv_forward.h"

#include "conv_weights.h"

#include "conv_input.h"

#include "conv_backward.h"

#include "linear.h"

#include "average.h"

#include "pooled.h"

#include "pooled_backward.h"

static void to_blocked(const float *x, int examples, int size, float *out) {
    for (int first = 0; first < examples; first += LANES, out += (size_t)size * LANES) {
        int lanes = examples - first < LANES ? examples - first : LANES;
        const float *from = x + (size_t)first * size;
        if (lanes < LANES) memset(out, 0, (size_t)size * LANES * sizeof *out);
        for (int i = 0; i < size; i++)
            for (int lane = 0; lane < lanes; lane++)
                out[(size_t)i * LANES + lane] = from[(size_t)lane * size + i];
    }
}

static void from_blocked(const float *x, int examples, int size, float *out) {
    for (int first = 0; first < examples; first += LANES, x += (size_t)size * LANES) {
        int lanes = examples - first < LANES ? examples - first : LANES;
        float *to = out + (size_t)first * size;
        for (int i = 0; i < size; i++)
            for (int lane = 0; lane < lanes; lane++)
                to[(size_t)lane * size + i] = x[(size_t)i * LANES + lane];
    }
}

const kernel_set JOIN(kernels, SET) = {
    SET_NAME,
    LANES,
    conv_forward,
    conv_backward,
    linear_forward,
    linear_backward,
    average_forward,
    average_backward,
    pool_forward,
    pooled_conv_forward,
    pooled_conv_backward,
    to_blocked,
    from_blocked,
};
