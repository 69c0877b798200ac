/* The loops at the width of AVX-512, on machines that lack it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#define SET wide
#define SET_NAME "wide"
#define LANES 16
#include "set.h"
