/* What the checks share: random numbers, buffers that end where memory ends, comparisons. */
#ifndef SPARALLEL_CHECK_H
#define SPARALLEL_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

/* A buffer that starts `shift` floats after an aligned address and ends where memory ends. */
typedef struct {
    float *memory, *at;
    size_t count;
} buffer;

extern const kernel_set *set; /* the one under test */

int below(int limit);
float uniform(void);
buffer new_buffer(size_t count, int shift, int filled);
buffer moved(const buffer *from, int shift);
double *zeros(size_t count);
int choose_kept(int64_t *indices, int size);
void fail(const char *what, int round);
void compare(const char *what, int round, const buffer *found, const double *expected);
void same_bits(const char *what, int round, const buffer *a, const buffer *b);

void check_convolution(int round);
void check_linear(int round);
void check_average(int round);
void check_layout(int round);
void check_pooled(int round);

#endif
