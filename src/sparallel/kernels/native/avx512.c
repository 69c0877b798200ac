/* Sixteen examples a register: AVX-512. */
#include "kernels.h"

#ifdef SPARALLEL_X86
#define SET avx512
#define SET_NAME "avx512"
#define LANES 16
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#include "set.h"
#pragma clang attribute pop
#else
#pragma GCC push_options
#pragma GCC target("avx512f")
#include "set.h"
#pragma GCC pop_options
#endif
#endif
