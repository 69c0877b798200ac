/* Four examples a register: what every x86-64 and ARM64 machine has, and plain C elsewhere. */
#include "kernels.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SET baseline
#define SET_NAME "baseline"
#define LANES 4
#include "set.h"
