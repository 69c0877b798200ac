/* The kernels of one instruction set; dispatch.c picks the set once for the machine it runs on.
 *
 * Pointers may have any alignment. Functions return 0, or -1 without memory for their scratch.
 * A pointer that a comment calls optional may be NULL: that part is then not computed.
 */
#ifndef SPARALLEL_KERNELS_H
#define SPARALLEL_KERNELS_H

#include "plan.h"

typedef struct {
    int channels, height, width, before, after, relu;
} averaging;

/* Images that lie channels last, before a 2x2 max-pool and a ReLU. */
typedef struct {
    int height, width, channels;
} pooling;

/* A dense convolution without padding, stride 1, before such a pool; weights lie (channels,
 * kernel_height, kernel_width, in_channels). */
typedef struct {
    int height, width, in_channels, kernel_height, kernel_width, channels;
} pooled_conv;

typedef struct {
    const char *name;
    int lanes;
    /* bias is optional, and so is residual, which is added to an output without a pool; choice
     * (one byte an output value, optional) is written only under a pool. */
    int (*conv_forward)(const conv_plan *, int blocks, const float *x, const float *values,
                        const float *bias, const float *residual, float *out, uint8_t *choice);
    /* gradient of values, of the bias, of x: each optional. */
    int (*conv_backward)(const conv_plan *, int blocks, const float *x, const float *values,
                         const float *gradient, const uint8_t *choice, float *to_values,
                         float *to_bias, float *to_x);
    int (*linear_forward)(const linear_plan *, int blocks, const float *x, const float *values,
                          const float *bias, float *out);
    int (*linear_backward)(const linear_plan *, int blocks, const float *x, const float *values,
                           const float *gradient, float *to_values, float *to_bias, float *to_x);
    /* 2x2 averages of `channels` planes a block, of rectified values if relu, between `before` and
     * `after` channels of zeros; and the gradient to x. */
    void (*average_forward)(const averaging *, int blocks, const float *x, float *out);
    void (*average_backward)(const averaging *, int blocks, const float *x, const float *gradient,
                             float *to_x);
    /* choice: one byte an output value, optional; x, out and gradients lie channels last. */
    void (*pool_forward)(const pooling *, int examples, const float *x, float *out,
                         uint8_t *choice);
    /* bias, choice and the gradients wanted are optional. */
    int (*pooled_conv_forward)(const pooled_conv *, int examples, const float *x,
                              const float *weights, const float *bias, float *out,
                              uint8_t *choice);
    int (*pooled_conv_backward)(const pooled_conv *, int examples, const float *x,
                                const float *weights, const float *gradient,
                                const uint8_t *choice, float *to_weights, float *to_bias,
                                float *to_x);
    /* Between (examples, size) and (blocks, size, lanes); missing examples of a block are 0. */
    void (*to_blocked)(const float *x, int examples, int size, float *out);
    void (*from_blocked)(const float *x, int examples, int size, float *out);
} kernel_set;

extern const kernel_set kernels_baseline;
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SPARALLEL_X86 1
extern const kernel_set kernels_avx2;
extern const kernel_set kernels_avx512;
#endif

/* The widest set this machine runs, or the named one; NULL if the name is unknown or the machine
 * cannot run it. */
const kernel_set *select_kernels(const char *name);

#endif
