/* Every kernel set this machine runs, and the widest, on random layers, against loops that follow the definition.
 *
 * Built by the tests with AddressSanitizer and UBSan. Every buffer has exactly the size the layer
 * needs, so one read or write beyond it ends the program; each result is computed twice, the
 * second time in buffers of another alignment, and must have the same bits.
 */
#include "check.h"

extern const kernel_set kernels_wide; /* wide.c */

static uint64_t state = 1;
const kernel_set *set;

int below(int limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)limit);
}

float uniform(void) { return (float)below(20001) / 10000.0f - 1.0f; }

buffer new_buffer(size_t count, int shift, int filled) {
    buffer b = {malloc((count + shift + !count) * sizeof(float)), NULL, count};
    if (!b.memory) abort();
    b.at = b.memory + shift;
    for (size_t i = 0; i < count; i++) b.at[i] = filled ? uniform() : NAN;
    return b;
}

buffer moved(const buffer *from, int shift) {
    buffer b = new_buffer(from->count, shift, 0);
    memcpy(b.at, from->at, from->count * sizeof(float));
    return b;
}

void fail(const char *what, int round) {
    printf("%s: %s differs in round %d\n", set->name, what, round);
    exit(1);
}

void compare(const char *what, int round, const buffer *found, const double *expected) {
    double scale = 1.0;
    for (size_t i = 0; i < found->count; i++) scale = fmax(scale, fabs(expected[i]));
    for (size_t i = 0; i < found->count; i++)
        if (!(fabs(found->at[i] - expected[i]) <= 2e-5 * scale)) fail(what, round);
}

void same_bits(const char *what, int round, const buffer *a, const buffer *b) {
    if (a->count && memcmp(a->at, b->at, a->count * sizeof(float))) fail(what, round);
}

int choose_kept(int64_t *indices, int size) {
    static const int percent[] = {0, 1, 7, 30, 100};
    int share = percent[below(5)], kept = 0;
    for (int i = 0; i < size; i++)
        if (below(100) < share) indices[kept++] = i;
    return kept;
}

double *zeros(size_t count) {
    double *out = calloc(count + 1, sizeof *out);
    if (!out) abort();
    return out;
}

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 300;
    const kernel_set *sets[] = {select_kernels("baseline"), select_kernels("avx2"),
                                select_kernels("avx512"), &kernels_wide};
    for (int i = 0; i < 4; i++) {
        set = sets[i];
        for (int round = 0; set && round < rounds; round++) {
            check_convolution(round);
            check_linear(round);
            check_average(round);
            check_layout(round);
            check_pooled(round);
        }
        if (set) printf("%s (%d lanes): %d rounds agree\n", set->name, set->lanes, rounds);
    }
    return 0;
}
