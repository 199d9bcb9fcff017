#include "filters.h"

#include <stdlib.h>
#include <string.h>

// A pixel has four lanes. The last lane of a three-byte pixel is the first byte of the next pixel. Four bytes are
// always read. Four bytes are also written, except for the last pixel of a row, because the next pixel has been read by
// then. `bytes` holds 8-bit samples; `words` holds the same samples in 16 bits.

#if defined(__SSE2__)
#include <emmintrin.h>

typedef __m128i bytes;
typedef __m128i words;

static inline bytes load(const uint8_t *pixel) {
    uint32_t value;
    memcpy(&value, pixel, 4);
    return _mm_cvtsi32_si128((int)value);
}

static inline void store(uint8_t *pixel, size_t size, bytes value) {
    const uint32_t samples = (uint32_t)_mm_cvtsi128_si32(value);
    memcpy(pixel, &samples, size);
}

static inline bytes no_bytes(void) { return _mm_setzero_si128(); }
static inline bytes add_bytes(bytes a, bytes b) { return _mm_add_epi8(a, b); }

static inline bytes average(bytes left, bytes up) {
    // The instruction rounds up; the filter rounds down.
    const bytes odd = _mm_and_si128(_mm_xor_si128(left, up), _mm_set1_epi8(1));
    return _mm_sub_epi8(_mm_avg_epu8(left, up), odd);
}

static inline words no_words(void) { return _mm_setzero_si128(); }
static inline words widen(bytes value) { return _mm_unpacklo_epi8(value, _mm_setzero_si128()); }
static inline bytes narrow(words value) { return _mm_packus_epi16(value, value); }
static inline words add(words a, words b) { return _mm_add_epi16(a, b); }
static inline words subtract(words a, words b) { return _mm_sub_epi16(a, b); }
static inline words smaller(words a, words b) { return _mm_min_epi16(a, b); }
static inline words larger(words a, words b) { return _mm_max_epi16(a, b); }
/// Returns the sums of the samples, modulo 256.
static inline words add_samples(bytes a, words b) { return _mm_add_epi8(widen(a), b); }

/// Returns the samples of `yes` where a is greater than b, and the samples of `no` elsewhere.
static inline words choose_above(words a, words b, words yes, words no) {
    const __m128i mask = _mm_cmpgt_epi16(a, b);
    return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

#define HAS_VECTORS 1
#elif defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)
#include <arm_neon.h>

typedef uint8x8_t bytes;
typedef int16x4_t words;

static inline bytes load(const uint8_t *pixel) {
    uint32_t value;
    memcpy(&value, pixel, 4);
    return vcreate_u8(value);
}

static inline void store(uint8_t *pixel, size_t size, bytes value) {
    const uint32_t samples = vget_lane_u32(vreinterpret_u32_u8(value), 0);
    memcpy(pixel, &samples, size);
}

static inline bytes no_bytes(void) { return vdup_n_u8(0); }
static inline bytes add_bytes(bytes a, bytes b) { return vadd_u8(a, b); }
static inline bytes average(bytes left, bytes up) { return vhadd_u8(left, up); }

static inline words no_words(void) { return vdup_n_s16(0); }
static inline words widen(bytes value) { return vget_low_s16(vreinterpretq_s16_u16(vmovl_u8(value))); }
static inline bytes narrow(words value) { return vqmovun_s16(vcombine_s16(value, value)); }
static inline words add(words a, words b) { return vadd_s16(a, b); }
static inline words subtract(words a, words b) { return vsub_s16(a, b); }
static inline words smaller(words a, words b) { return vmin_s16(a, b); }
static inline words larger(words a, words b) { return vmax_s16(a, b); }
/// Returns the sums of the samples, modulo 256.
static inline words add_samples(bytes a, words b) { return vand_s16(vadd_s16(widen(a), b), vdup_n_s16(255)); }

/// Returns the samples of `yes` where a is greater than b, and the samples of `no` elsewhere.
static inline words choose_above(words a, words b, words yes, words no) { return vbsl_s16(vcgt_s16(a, b), yes, no); }

#define HAS_VECTORS 1
#else
#define HAS_VECTORS 0
#endif

#if HAS_VECTORS
static inline __attribute__((always_inline)) void subtract_pixels(uint8_t *row, size_t count, size_t size) {
    bytes left = no_bytes(), filtered = load(row);
    for (size_t x = 0; x + size < count; x += size) {
        left = add_bytes(filtered, left);
        filtered = load(row + x + size);
        store(row + x, 4, left);
    }
    store(row + count - size, size, add_bytes(filtered, left));
}

static inline __attribute__((always_inline)) void average_pixels(
    uint8_t *row, const uint8_t *above, size_t count, size_t size) {
    bytes left = no_bytes(), filtered = load(row);
    for (size_t x = 0; x + size < count; x += size) {
        left = add_bytes(filtered, average(left, load(above + x)));
        filtered = load(row + x + size);
        store(row + x, 4, left);
    }
    const bytes last = average(left, load(above + count - size));
    store(row + count - size, size, add_bytes(filtered, last));
}

/// Returns, in each lane, the one of `left`, `up` and `corner` that is nearest to left + up - corner. The path from
/// `left` to the result must be short, because the next pixel depends on it. Source: the reformulation in stb_image
/// 2.28.
static inline words predict(words left, words up, words corner, words thrice_less_up) {
    const words threshold = subtract(thrice_less_up, left);
    const words low = smaller(left, up);
    const words high = larger(left, up);
    return choose_above(threshold, low, choose_above(high, threshold, corner, low), high);
}

static inline __attribute__((always_inline)) void predict_pixels(
    uint8_t *row, const uint8_t *above, size_t count, size_t size) {
    words left = no_words(), corner = no_words();
    bytes filtered = load(row);
    for (size_t x = 0;; x += size) {
        const words up = widen(load(above + x));
        const words thrice = add(corner, add(corner, corner));
        left = add_samples(filtered, predict(left, up, corner, subtract(thrice, up)));
        corner = up;
        const bytes result = narrow(left);
        if (x + size >= count) {
            store(row + x, size, result);
            return;
        }
        filtered = load(row + x + size);
        store(row + x, 4, result);
    }
}
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
