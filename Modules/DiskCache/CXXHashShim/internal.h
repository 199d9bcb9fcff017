#ifndef CXXHASHSHIM_INTERNAL_H
#define CXXHASHSHIM_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__clang__)
#define ALCEDO_HAS_AVX2_VERSION 1
#endif

// The functions of each version. `state` is an XXH3_state_t, whose layout is the same in all versions.
void alcedo_xxh3_update_baseline(void *state, const void *bytes, size_t count);
uint64_t alcedo_xxh3_value_baseline(const void *state);

uint64_t alcedo_xxh3_hash_avx2(const void *bytes, size_t count);
void alcedo_xxh3_update_avx2(void *state, const void *bytes, size_t count);
uint64_t alcedo_xxh3_value_avx2(const void *state);

#endif
