#include "internal.h"

#ifdef ALCEDO_HAS_AVX2_VERSION

// The attribute below must not apply to the functions of these headers, which xxhash.h includes.
#include <immintrin.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// SwiftPM has no compiler flags for one file in packages that others depend on.
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#define XXH_VECTOR 2 // XXH_AVX2, which xxhash.h defines
#define VERSION(name) alcedo_xxh3_##name##_avx2
#include "functions.h"
#pragma clang attribute pop

#endif
