#include "kernels.h"

#include <stddef.h>
#include <string.h>

const kernel_set *select_kernels(const char *name) {
    const kernel_set *found[3];
    int count = 0;
#ifdef SPARALLEL_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) found[count++] = &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        found[count++] = &kernels_avx2;
#endif
    found[count++] = &kernels_baseline;
    for (int i = 0; i < count; i++)
        if (!name || !*name || strcmp(name, found[i]->name) == 0) return found[i];
    return NULL;
}
