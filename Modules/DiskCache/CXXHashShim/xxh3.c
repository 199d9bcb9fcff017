#include "CXXHashShim.h"
#include "internal.h"

#define VERSION(name) alcedo_xxh3_##name##_baseline
#include "functions.h"

#ifdef ALCEDO_HAS_AVX2_VERSION
#define CALL(name, ...) \
    (__builtin_cpu_supports("avx2") ? alcedo_xxh3_##name##_avx2(__VA_ARGS__) \
                                    : alcedo_xxh3_##name##_baseline(__VA_ARGS__))
#else
#define CALL(name, ...) alcedo_xxh3_##name##_baseline(__VA_ARGS__)
#endif

struct alcedo_xxh3_state {
    XXH3_state_t library;
};

uint64_t alcedo_xxh3(const void *bytes, size_t count) { return CALL(hash, bytes, count); }

uint64_t alcedo_xxh3_of_two(const void *first, size_t first_count, const void *second, size_t second_count) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    CALL(update, &state, first, first_count);
    CALL(update, &state, second, second_count);
    return CALL(value, &state);
}

alcedo_xxh3_state *alcedo_xxh3_create(void) {
    // The library needs this alignment for its vectors.
    alcedo_xxh3_state *state = aligned_alloc(64, sizeof *state);
    if (state != NULL) XXH3_64bits_reset(&state->library);
    return state;
}

void alcedo_xxh3_update(alcedo_xxh3_state *state, const void *bytes, size_t count) {
    CALL(update, &state->library, bytes, count);
}

uint64_t alcedo_xxh3_value(const alcedo_xxh3_state *state) { return CALL(value, &state->library); }

void alcedo_xxh3_destroy(alcedo_xxh3_state *state) { free(state); }
