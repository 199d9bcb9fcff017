#ifndef CXXHASHSHIM_H
#define CXXHASHSHIM_H

// XXH3 with 64 bits and the seed 0, from the headers of the xxHash library. The library itself is not linked. Swift
// cannot import its functions, because they are inline and compiled for the oldest processor of an architecture. On
// x86-64, the functions have a second version for AVX2, which is selected by the processor.

#include <stddef.h>
#include <stdint.h>

// Returns the hash of `count` bytes.
uint64_t alcedo_xxh3(const void *_Nullable bytes, size_t count);

// Returns the same hash, computed without AVX2. For tests.
uint64_t alcedo_xxh3_hash_baseline(const void *_Nullable bytes, size_t count);

// Returns the hash of the bytes of `first`, followed by those of `second`.
uint64_t alcedo_xxh3_of_two(
    const void *_Nullable first, size_t first_count, const void *_Nullable second, size_t second_count);

// A hash to which bytes are added.
typedef struct alcedo_xxh3_state alcedo_xxh3_state;

// Returns the hash of no bytes, which the caller must destroy, or NULL if memory is not available.
alcedo_xxh3_state *_Nullable alcedo_xxh3_create(void);
void alcedo_xxh3_update(alcedo_xxh3_state *_Nonnull state, const void *_Nullable bytes, size_t count);
uint64_t alcedo_xxh3_value(const alcedo_xxh3_state *_Nonnull state);
void alcedo_xxh3_destroy(alcedo_xxh3_state *_Nonnull state);

#endif
