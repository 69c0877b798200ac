/* Eight examples a register: AVX2 with fused multiply-add. */
#include "kernels.h"

#ifdef SPARALLEL_X86
#define SET avx2
#define SET_NAME "avx2"
#define LANES 8
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "set.h"
#pragma clang attribute pop
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#include "set.h"
#pragma GCC pop_options
#endif
#endif
