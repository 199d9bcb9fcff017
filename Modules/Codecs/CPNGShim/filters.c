#include "filters.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

// A pixel is four lanes, of which the last may be the neighbour's: four bytes are read always, and written but for the
// last pixel, when those of the next are read already.

static inline __m128i load(const uint8_t *pixel) {
    uint32_t value;
    memcpy(&value, pixel, 4);
    return _mm_cvtsi32_si128((int)value);
}

static inline void store(uint8_t *pixel, size_t size, __m128i value) {
    const uint32_t bytes = (uint32_t)_mm_cvtsi128_si32(value);
    memcpy(pixel, &bytes, size);
}

/// `yes` where the mask is set.
static inline __m128i choose(__m128i mask, __m128i yes, __m128i no) {
    return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

static inline __attribute__((always_inline)) void subtract_pixels(uint8_t *row, size_t count, size_t size) {
    __m128i left = _mm_setzero_si128(), filtered = load(row);
    for (size_t x = 0; x + size < count; x += size) {
        left = _mm_add_epi8(filtered, left);
        filtered = load(row + x + size);
        store(row + x, 4, left);
    }
    store(row + count - size, size, _mm_add_epi8(filtered, left));
}

static inline __m128i average(__m128i left, __m128i up) {
    // The instruction rounds up; the filter rounds down.
    const __m128i odd = _mm_and_si128(_mm_xor_si128(left, up), _mm_set1_epi8(1));
    return _mm_sub_epi8(_mm_avg_epu8(left, up), odd);
}

static inline __attribute__((always_inline)) void average_pixels(
    uint8_t *row, const uint8_t *above, size_t count, size_t size) {
    __m128i left = _mm_setzero_si128(), filtered = load(row);
    for (size_t x = 0; x + size < count; x += size) {
        left = _mm_add_epi8(filtered, average(left, load(above + x)));
        filtered = load(row + x + size);
        store(row + x, 4, left);
    }
    const __m128i last = average(left, load(above + count - size));
    store(row + count - size, size, _mm_add_epi8(filtered, last));
}

/// Of three samples in 16 bits the one that is nearest to left + up - corner. The shortest way from `left` to the result
/// counts, because the next pixel waits for it. Source: stb_image 2.28, whose reformulation this is.
static inline __m128i predict(__m128i left, __m128i up, __m128i corner, __m128i thrice_less_up) {
    const __m128i threshold = _mm_sub_epi16(thrice_less_up, left);
    const __m128i low = _mm_min_epi16(left, up);
    const __m128i high = _mm_max_epi16(left, up);
    const __m128i inner = choose(_mm_cmpgt_epi16(high, threshold), corner, low);
    return choose(_mm_cmpgt_epi16(threshold, low), inner, high);
}

static inline __attribute__((always_inline)) void predict_pixels(
    uint8_t *row, const uint8_t *above, size_t count, size_t size) {
    const __m128i zero = _mm_setzero_si128();
    __m128i left = zero, corner = zero, filtered = load(row);
    for (size_t x = 0;; x += size) {
        const __m128i up = _mm_unpacklo_epi8(load(above + x), zero);
        const __m128i thrice = _mm_add_epi16(corner, _mm_add_epi16(corner, corner));
        const __m128i nearest = predict(left, up, corner, _mm_sub_epi16(thrice, up));
        // Bytes in lanes of 16 bits, whose upper halves stay nought.
        left = _mm_add_epi8(_mm_unpacklo_epi8(filtered, zero), nearest);
        corner = up;
        const __m128i result = _mm_packus_epi16(left, left);
        if (x + size >= count) {
            store(row + x, size, result);
            return;
        }
        filtered = load(row + x + size);
        store(row + x, 4, result);
    }
}

#define HAS_VECTORS 1
#else
#define HAS_VECTORS 0
#endif

static void subtract_bytes(uint8_t *row, size_t count, size_t size) {
    for (size_t x = size; x < count; x++) row[x] = (uint8_t)(row[x] + row[x - size]);
}

static void average_bytes(uint8_t *row, const uint8_t *above, size_t count, size_t size) {
    for (size_t x = 0; x < count; x++) {
        const unsigned int left = x < size ? 0 : row[x - size];
        row[x] = (uint8_t)(row[x] + (left + above[x]) / 2);
    }
}

static void predict_bytes(uint8_t *row, const uint8_t *above, size_t count, size_t size) {
    for (size_t x = 0; x < count; x++) {
        const int left = x < size ? 0 : row[x - size];
        const int corner = x < size ? 0 : above[x - size];
        const int up = above[x];
        const int left_distance = abs(up - corner);
        const int up_distance = abs(left - corner);
        const int corner_distance = abs(left + up - 2 * corner);
        const int is_left = left_distance <= up_distance && left_distance <= corner_distance;
        const int nearest = is_left ? left : up_distance <= corner_distance ? up : corner;
        row[x] = (uint8_t)(row[x] + nearest);
    }
}

int alcedo_png_unfilter(uint8_t filter, uint8_t *row, const uint8_t *above, size_t count, size_t pixel_bytes) {
    switch (filter) {
    case 0:
        return 1;
    case 1:
#if HAS_VECTORS
        if (pixel_bytes == 4) return subtract_pixels(row, count, 4), 1;
        if (pixel_bytes == 3) return subtract_pixels(row, count, 3), 1;
#endif
        subtract_bytes(row, count, pixel_bytes);
        return 1;
    case 2:
        for (size_t x = 0; x < count; x++) row[x] = (uint8_t)(row[x] + above[x]);
        return 1;
    case 3:
#if HAS_VECTORS
        if (pixel_bytes == 4) return average_pixels(row, above, count, 4), 1;
        if (pixel_bytes == 3) return average_pixels(row, above, count, 3), 1;
#endif
        average_bytes(row, above, count, pixel_bytes);
        return 1;
    case 4:
#if HAS_VECTORS
        if (pixel_bytes == 4) return predict_pixels(row, above, count, 4), 1;
        if (pixel_bytes == 3) return predict_pixels(row, above, count, 3), 1;
#endif
        predict_bytes(row, above, count, pixel_bytes);
        return 1;
    default:
        return 0;
    }
}
