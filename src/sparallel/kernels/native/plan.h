/* What a sparse layer knows before it sees data: its shape and which weights it kept.
 *
 * Activations are blocked: (blocks, channels, height, width, lanes), where a block is as many
 * examples as one vector register has lanes. Every loop then works on whole vectors whatever the
 * kernel size, the stride or the pattern, and a kept weight costs one fused multiply-add per
 * output pixel. All offsets below count vectors, so a plan fits every register width.
 */
#ifndef SPARALLEL_PLAN_H
#define SPARALLEL_PLAN_H

#include <stdint.h>

typedef struct {
    int in_channels, in_height, in_width;
    int out_channels, out_height, out_width;
    int kernel_height, kernel_width;
    int stride_y, stride_x;
    int pad_top, pad_left; /* what lies below and right follows from the output's size */
    int pool;              /* 1: a 2x2 max-pool and a ReLU follow the convolution */
    int relu;              /* 1: a ReLU stands before the convolution */
} geometry;

/* The kept weights in the order one loop nest visits them: `start` indexes groups, `offset` is
 * where the weight reads relative to the tile, `position` is its place in the kept vector. */
typedef struct {
    int *start;
    int32_t *offset;
    int32_t *position;
    int channels_a_block; /* channels summed over at a time, so that they stay in the L1 cache */
    int blocks;
} visiting_order;

typedef struct {
    geometry shape;
    int kept;
    int pooled_height, pooled_width;
    /* The input as the loops read it: the tensor itself, or a padded copy of the rows that `band`
     * output rows need, small enough for the L2 cache. */
    int copies_input, band, x_rows, x_row, x_plane;
    /* The output's gradient with the zero columns that the input's gradient reads, for `g_band`
     * input rows at a time. */
    int g_band, g_rows, g_left, g_row, g_plane;
    int taps_y, taps_x;  /* most weights of one phase of the stride along an axis */
    int weights_rows;    /* output rows the weights' gradient takes at a time */
    visiting_order forward, weights, input;
} conv_plan;

typedef struct {
    int features, outputs, kept;
    int *row_start;         /* outputs + 1 */
    int32_t *column;        /* feature of each kept weight, in kept order */
    int *column_start;      /* features + 1 */
    int32_t *column_output; /* output of each kept weight, by feature */
    int32_t *column_position;
} linear_plan;

/* `indices` are the kept weights' places in the dense weight, ascending. The functions return
 * NULL, with a reason, for a shape or an index that makes no sense, or without memory. */
conv_plan *conv_plan_new(const geometry *shape, const int64_t *indices, int kept,
                         const char **reason);
void conv_plan_free(conv_plan *plan);
/* `columns` says at which blocked position dense feature f lies (NULL: at f). */
linear_plan *linear_plan_new(int features, int outputs, const int64_t *indices, int kept,
                             const int64_t *columns, const char **reason);
void linear_plan_free(linear_plan *plan);

#endif
