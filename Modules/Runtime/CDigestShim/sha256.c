#include "CDigestShim.h"

#if defined(__x86_64__) && defined(__clang__)

#include <immintrin.h>

// The instructions keep the state as the words a, b, e, f and c, d, g, h, and compute two rounds each.
__attribute__((target("sha,sse4.1")))
static void compress(uint32_t *state, const uint8_t *bytes, size_t count, const uint32_t *constants) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8);
    __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; count > 0; count--, bytes += 64) {
        const __m128i old_abef = abef, old_cdgh = cdgh;
        __m128i words[4];
#pragma clang loop unroll(full)
        for (int step = 0; step < 16; step++) {
            __m128i *next = &words[step % 4];
            if (step < 4) {
                const __m128i *block = (const __m128i *)(bytes + 16 * step);
                *next = _mm_shuffle_epi8(_mm_loadu_si128(block), big_endian);
            } else {
                __m128i last = words[(step + 3) % 4];
                __m128i middle = _mm_alignr_epi8(last, words[(step + 2) % 4], 4);
                __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*next, words[(step + 1) % 4]), middle);
                *next = _mm_sha256msg2_epu32(sum, last);
            }
            __m128i input =
                _mm_add_epi32(*next, _mm_loadu_si128((const __m128i *)(constants + 4 * step)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0e));
        }
        abef = _mm_add_epi32(abef, old_abef);
        cdgh = _mm_add_epi32(cdgh, old_cdgh);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

int alcedo_sha256_compress(uint32_t *state, const void *blocks, size_t count, const uint32_t *constants) {
    if (!__builtin_cpu_supports("sha") || !__builtin_cpu_supports("sse4.1")) return 0;
    compress(state, blocks, count, constants);
    return 1;
}

#else

int alcedo_sha256_compress(uint32_t *state, const void *blocks, size_t count, const uint32_t *constants) {
    (void)state, (void)blocks, (void)count, (void)constants;
    return 0;
}

#endif
