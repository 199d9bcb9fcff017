#include "CSampleKernels.h"

#include <string.h>

// The loader selects one of the clones of a function, which requires an "ifunc" and therefore glibc. With the thread
// sanitizer, only the default version exists, because the loader would select before the sanitizer is ready.
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__clang__) && !__has_feature(thread_sanitizer)
#define FOR_EACH_MACHINE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_MACHINE
#endif

#pragma clang fp contract(off)

typedef float float4 __attribute__((vector_size(16)));
typedef float float8 __attribute__((vector_size(32)));
typedef float float16 __attribute__((vector_size(64)));
typedef int32_t longs4 __attribute__((vector_size(16)));
typedef int16_t shorts4 __attribute__((vector_size(8)));
typedef int16_t shorts8 __attribute__((vector_size(16)));

// Loads and stores use memcpy, because rows need no alignment and memory must not be accessed as another type.
#define LOAD(variable, pointer) memcpy(&(variable), (pointer), sizeof(variable))
#define STORE(pointer, variable) memcpy((pointer), &(variable), sizeof(variable))

FOR_EACH_MACHINE
void alcedo_sum_rows(
    const float *const *rows, const float *weights, size_t count, size_t floats, float *out)
{
    size_t offset = 0;
    // Two sums at a time hide the latency of an addition.
    for (; offset + 32 <= floats; offset += 32) {
        float16 low = {0}, high = {0};
        for (size_t index = 0; index < count; index++) {
            float16 first, second;
            LOAD(first, rows[index] + offset);
            LOAD(second, rows[index] + offset + 16);
            low += first * weights[index];
            high += second * weights[index];
        }
        STORE(out + offset, low);
        STORE(out + offset + 16, high);
    }
    for (; offset < floats; offset += 16) {
        float16 sum = {0};
        for (size_t index = 0; index < count; index++) {
            float16 values;
            LOAD(values, rows[index] + offset);
            sum += values * weights[index];
        }
        STORE(out + offset, sum);
    }
}

FOR_EACH_MACHINE
void alcedo_filter_pixels(
    const float *row, const intptr_t *firsts, const intptr_t *counts, const float *weights, size_t stride,
    size_t length, float maximum, float *out)
{
    const float4 limit = (float4){0} + maximum;
    for (size_t x = 0; x < length; x++) {
        const float *pixels = row + firsts[x] * 4;
        size_t count = (size_t)counts[x];
        float16 sum = {0}, other = {0};
        // The last four pixels may include unused ones, whose weights are zero. Two sums at a time hide the latency of
        // an addition.
        for (size_t index = 0; index < count; index += 4) {
            float16 four;
            float4 factors;
            LOAD(four, pixels + index * 4);
            LOAD(factors, weights + index);
            four *= __builtin_shufflevector(factors, factors, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
            if (index % 8 == 0) {
                sum += four;
            } else {
                other += four;
            }
        }
        sum += other;
        float8 halves = __builtin_shufflevector(sum, sum, 0, 1, 2, 3, 4, 5, 6, 7) +
                        __builtin_shufflevector(sum, sum, 8, 9, 10, 11, 12, 13, 14, 15);
        float4 result = __builtin_shufflevector(halves, halves, 0, 1, 2, 3) +
                        __builtin_shufflevector(halves, halves, 4, 5, 6, 7);
        longs4 bits = (longs4)result & (result > 0);
        longs4 over = (float4)bits > limit;
        bits = ((longs4)limit & over) | (bits & ~over);
        STORE(out + x * 4, bits);
        weights += stride;
    }
}

// The fixed-point numbers: 7 bits of fraction in samples, 14 in weights.
enum { SAMPLE_BITS = 7, WEIGHT_BITS = 14, SAMPLE_MAXIMUM = 255 << SAMPLE_BITS };

// The rows of a group, and the numbers of two pixels in the group.
enum { GROUP_ROWS = 4, GRAY_PAIR = GROUP_ROWS * 2, PIXEL_PAIR = GRAY_PAIR * 4 };

typedef int16_t shorts16 __attribute__((vector_size(32)));
typedef int32_t longs16 __attribute__((vector_size(64)));
typedef uint8_t bytes16 __attribute__((vector_size(16)));

FOR_EACH_MACHINE
void alcedo_read_gray(const uint8_t *row, size_t pixels, int16_t *out)
{
    for (size_t x = 0; x < pixels; x++) out[x / 2 * GRAY_PAIR + x % 2] = (int16_t)(row[x] << SAMPLE_BITS);
}

// Converts the bytes of four pixels, and writes the samples of each two adjacent pixels in pairs.
static inline __attribute__((always_inline)) void read_four(const uint8_t *row, int is_straight, int16_t *out)
{
    bytes16 bytes;
    LOAD(bytes, row);
    shorts16 samples = __builtin_convertvector(bytes, shorts16) << SAMPLE_BITS;
    if (is_straight) {
        const longs16 values = __builtin_convertvector(bytes, longs16), opaque = {0, 0, 0, 255, 0, 0, 0, 255,
                                                                                 0, 0, 0, 255, 0, 0, 0, 255};
        const longs16 color = {-1, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1, 0};
        const longs16 alpha =
            __builtin_shufflevector(values, values, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15);
        const longs16 products = values * ((alpha & color) | opaque);
        const float share = (1 << SAMPLE_BITS) / 255.0f;
        const float16 rounded = __builtin_convertvector(products, float16) * share + 0.5f;
        samples = __builtin_convertvector(__builtin_convertvector(rounded, longs16), shorts16);
    }
    samples = __builtin_shufflevector(samples, samples, 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
    const shorts8 first = __builtin_shufflevector(samples, samples, 0, 1, 2, 3, 4, 5, 6, 7);
    const shorts8 second = __builtin_shufflevector(samples, samples, 8, 9, 10, 11, 12, 13, 14, 15);
    STORE(out, first);
    STORE(out + PIXEL_PAIR, second);
}

static inline __attribute__((always_inline)) void read_pixels(
    const uint8_t *row, size_t pixels, const int is_straight, int16_t *out)
{
    for (; pixels >= 4; pixels -= 4, row += 16, out += PIXEL_PAIR * 2) read_four(row, is_straight, out);
    if (pixels == 0) return;
    uint8_t rest[16] = {0};
    memcpy(rest, row, pixels * 4);
    read_four(rest, is_straight, out);
}

FOR_EACH_MACHINE
void alcedo_read_pixels(const uint8_t *row, size_t pixels, int16_t *out) { read_pixels(row, pixels, 0, out); }

FOR_EACH_MACHINE
void alcedo_read_straight_pixels(const uint8_t *row, size_t pixels, int16_t *out) { read_pixels(row, pixels, 1, out); }

// Multiplies eight pairs of samples and weights, and adds the products of adjacent pairs.
static inline __attribute__((always_inline)) longs4 sums_of_products(shorts8 a, shorts8 b)
{
#ifdef __SSE2__
    return (longs4)__builtin_ia32_pmaddwd128(a, b);
#else
#define EVEN(v) __builtin_convertvector(__builtin_shufflevector(v, v, 0, 2, 4, 6), longs4)
#define ODD(v) __builtin_convertvector(__builtin_shufflevector(v, v, 1, 3, 5, 7), longs4)
    return EVEN(a) * EVEN(b) + ODD(a) * ODD(b);
#endif
}

// Rounds sums of products to samples and clamps them.
static inline __attribute__((always_inline)) longs4 rounded_samples(longs4 sums)
{
    sums = (sums + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
    sums &= sums > 0;
    longs4 over = sums > SAMPLE_MAXIMUM;
    return (over & SAMPLE_MAXIMUM) | (sums & ~over);
}

// On x86-64 with AVX2, the two loops below that take most of the time use vectors of twice the size. The compiler does
// not join the products of two narrow vectors. The numbers are integers, so the results are the same.
#if defined(__x86_64__) && defined(__clang__)
#define HAS_WIDE_LOOPS 1
#define WIDE __attribute__((target("avx2")))

typedef int32_t longs8 __attribute__((vector_size(32)));

WIDE static inline longs8 wide_rounded_samples(longs8 sums)
{
    const longs8 zero = {0};
    sums = (sums + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
    return __builtin_elementwise_min(__builtin_elementwise_max(sums, zero), zero + SAMPLE_MAXIMUM);
}

WIDE static void filter_pixels_wide(
    const int16_t *group, const intptr_t *firsts, const intptr_t *counts, const int16_t *weights, size_t stride,
    size_t length, int16_t *const *out)
{
    for (size_t x = 0; x < length; x++, weights += stride) {
        const int16_t *samples = group + (size_t)firsts[x] / 2 * PIXEL_PAIR;
        longs8 sums[2] = {{0}};
        for (size_t index = 0, count = (size_t)counts[x]; index < count; index += 2, samples += PIXEL_PAIR) {
            int32_t pair;
            LOAD(pair, weights + index);
            const shorts16 factors = (shorts16)((longs8){0} + pair);
            for (size_t half = 0; half < 2; half++) {
                shorts16 two_rows;
                LOAD(two_rows, samples + half * 16);
                sums[half] += (longs8)__builtin_ia32_pmaddwd256(two_rows, factors);
            }
        }
        for (size_t half = 0; half < 2; half++) {
            const shorts8 pixels = __builtin_convertvector(wide_rounded_samples(sums[half]), shorts8);
            const shorts4 upper = __builtin_shufflevector(pixels, pixels, 0, 1, 2, 3);
            const shorts4 lower = __builtin_shufflevector(pixels, pixels, 4, 5, 6, 7);
            STORE(out[half * 2] + x * 4, upper);
            STORE(out[half * 2 + 1] + x * 4, lower);
        }
    }
}

WIDE static void sum_samples_wide(
    const int16_t *const *rows, const int16_t *weights, size_t count, size_t length, int16_t *out)
{
    for (size_t offset = 0; offset < length; offset += 16) {
        longs8 sums[2] = {{0}};
        for (size_t index = 0; index < count; index += 2) {
            const size_t second = index + 1 < count ? index + 1 : index;
            int32_t pair;
            LOAD(pair, weights + index);
            const shorts16 factors = (shorts16)((longs8){0} + pair);
            shorts16 upper, lower;
            LOAD(upper, rows[index] + offset);
            LOAD(lower, rows[second] + offset);
            sums[0] += (longs8)__builtin_ia32_pmaddwd256(
                __builtin_shufflevector(upper, lower, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27),
                factors);
            sums[1] += (longs8)__builtin_ia32_pmaddwd256(
                __builtin_shufflevector(upper, lower, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31),
                factors);
        }
        // Sixteen samples, of which each is in the low half of a lane.
        const shorts16 low = (shorts16)wide_rounded_samples(sums[0]), high = (shorts16)wide_rounded_samples(sums[1]);
        const shorts16 result =
            __builtin_shufflevector(low, high, 0, 2, 4, 6, 16, 18, 20, 22, 8, 10, 12, 14, 24, 26, 28, 30);
        STORE(out + offset, result);
    }
}
#endif

// Adds the products of a group's samples and the weights of a result pixel. With a constant number of channels, the
// compiler keeps all sums in registers.
static inline __attribute__((always_inline)) void add_products(
    const int16_t *samples, const int16_t *weights, size_t count, longs4 *sums, const size_t channels)
{
    for (size_t index = 0; index < count; index += 2) {
        // The two weights of a pair are read as one number.
        int32_t pair;
        LOAD(pair, weights + index);
        const shorts8 factors = (shorts8)((longs4){0} + pair);
        for (size_t place = 0; place < channels; place++) {
            shorts8 eight;
            LOAD(eight, samples + place * 8);
            sums[place] += sums_of_products(eight, factors);
        }
        samples += channels * GRAY_PAIR;
    }
}

void alcedo_filter_samples(
    const int16_t *group, size_t channels, const intptr_t *firsts, const intptr_t *counts, const int16_t *weights,
    size_t stride, size_t length, int16_t *const *out)
{
#ifdef HAS_WIDE_LOOPS
    if (channels == 4 && __builtin_cpu_supports("avx2")) {
        filter_pixels_wide(group, firsts, counts, weights, stride, length, out);
        return;
    }
#endif
    for (size_t x = 0; x < length; x++, weights += stride) {
        const size_t first = (size_t)firsts[x] / 2, count = (size_t)counts[x];
        longs4 sums[GROUP_ROWS] = {{0}};
        if (channels == 1) {
            add_products(group + first * GRAY_PAIR, weights, count, sums, 1);
            const longs4 samples = rounded_samples(sums[0]);
            for (size_t row = 0; row < GROUP_ROWS; row++) out[row][x] = (int16_t)samples[row];
            continue;
        }
        add_products(group + first * PIXEL_PAIR, weights, count, sums, 4);
        for (size_t row = 0; row < GROUP_ROWS; row++) {
            const shorts4 pixel = __builtin_convertvector(rounded_samples(sums[row]), shorts4);
            STORE(out[row] + x * 4, pixel);
        }
    }
}

void alcedo_sum_samples(
    const int16_t *const *rows, const int16_t *weights, size_t count, size_t length, int16_t *out)
{
#ifdef HAS_WIDE_LOOPS
    if (__builtin_cpu_supports("avx2")) {
        sum_samples_wide(rows, weights, count, length, out);
        return;
    }
#endif
    for (size_t offset = 0; offset < length; offset += 16) {
        longs4 sums[4] = {{0}};
        for (size_t index = 0; index < count; index += 2) {
            // Without a second row, the first one is added again with a weight of zero.
            const size_t second = index + 1 < count ? index + 1 : index;
            // The two weights of a pair are read as one number.
            int32_t pair;
            LOAD(pair, weights + index);
            const shorts8 factors = (shorts8)((longs4){0} + pair);
            for (size_t half = 0; half < 2; half++) {
                shorts8 upper, lower;
                LOAD(upper, rows[index] + offset + half * 8);
                LOAD(lower, rows[second] + offset + half * 8);
                sums[half * 2] +=
                    sums_of_products(__builtin_shufflevector(upper, lower, 0, 8, 1, 9, 2, 10, 3, 11), factors);
                sums[half * 2 + 1] +=
                    sums_of_products(__builtin_shufflevector(upper, lower, 4, 12, 5, 13, 6, 14, 7, 15), factors);
            }
        }
        for (size_t half = 0; half < 2; half++) {
            const longs4 low = rounded_samples(sums[half * 2]), high = rounded_samples(sums[half * 2 + 1]);
            // Eight samples, of which each is in the low half of a lane.
            const shorts8 result = __builtin_shufflevector((shorts8)low, (shorts8)high, 0, 2, 4, 6, 8, 10, 12, 14);
            STORE(out + offset + half * 8, result);
        }
    }
}

static inline uint8_t byte_of(int16_t sample) { return (uint8_t)((sample + (1 << (SAMPLE_BITS - 1))) >> SAMPLE_BITS); }

FOR_EACH_MACHINE
void alcedo_write_gray(const int16_t *row, size_t pixels, uint8_t *out)
{
    for (size_t x = 0; x < pixels; x++) out[x] = byte_of(row[x]);
}

FOR_EACH_MACHINE
void alcedo_write_pixels(const int16_t *row, size_t pixels, int is_opaque, uint8_t *out)
{
    for (size_t x = 0; x < pixels; x++) {
        // Filters with negative weights can make a color greater than its alpha.
        const int16_t alpha = is_opaque ? SAMPLE_MAXIMUM : row[x * 4 + 3];
        for (size_t place = 0; place < 3; place++) {
            const int16_t sample = row[x * 4 + place];
            out[x * 4 + place] = byte_of(sample < alpha ? sample : alpha);
        }
        out[x * 4 + 3] = byte_of(alpha);
    }
}

FOR_EACH_MACHINE
void alcedo_write_straight_pixels(const int16_t *row, size_t pixels, uint8_t *out)
{
    for (size_t x = 0; x < pixels; x++) {
        const int16_t alpha = row[x * 4 + 3];
        // An alpha that rounds to zero makes the pixel black.
        const float factor = byte_of(alpha) > 0 ? 255.0f / alpha : 0;
        for (size_t place = 0; place < 3; place++) {
            const int16_t sample = row[x * 4 + place];
            out[x * 4 + place] = (uint8_t)((sample < alpha ? sample : alpha) * factor + 0.5f);
        }
        out[x * 4 + 3] = byte_of(alpha);
    }
}

FOR_EACH_MACHINE
void alcedo_read_bytes(const uint8_t *row, size_t pixels, float *out)
{
    for (size_t index = 0; index < pixels * 4; index++) out[index] = row[index];
}

// Writes four pixels. Each sample is clamped to the range from 0 to its pixel's alpha and rounded. A float of 2^23 + n
// has n in its low bits.
static inline __attribute__((always_inline)) void write_four(const float *row, uint8_t *out)
{
    float16 four;
    LOAD(four, row);
    const float16 maximum = (float16){0} + 255;
    // NaN is not greater than 0 and becomes 0.
    longs16 bits = (longs16)four & (four > 0);
    longs16 alpha = __builtin_shufflevector(bits, bits, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15);
    longs16 over = (float16)alpha > maximum;
    alpha = ((longs16)maximum & over) | (alpha & ~over);
    over = (float16)bits > (float16)alpha;
    bits = (alpha & over) | (bits & ~over);
    bytes16 samples = __builtin_convertvector((longs16)((float16)bits + 8388608.0f), bytes16);
    STORE(out, samples);
}

FOR_EACH_MACHINE
void alcedo_write_bytes(const float *row, size_t pixels, uint8_t *out)
{
    size_t index = 0;
    for (; index + 4 <= pixels; index += 4) write_four(row + index * 4, out + index * 4);
    float rest[16] = {0};
    uint8_t samples[16];
    memcpy(rest, row + index * 4, (pixels - index) * 16);
    write_four(rest, samples);
    memcpy(out + index * 4, samples, (pixels - index) * 4);
}

FOR_EACH_MACHINE
void alcedo_read_straight_bytes(const uint8_t *row, size_t pixels, float *out)
{
    for (size_t x = 0; x < pixels; x++) {
        uint32_t alpha = row[x * 4 + 3];
        // Integer products are exact.
        out[x * 4] = (float)(int32_t)(row[x * 4] * alpha) / 255;
        out[x * 4 + 1] = (float)(int32_t)(row[x * 4 + 1] * alpha) / 255;
        out[x * 4 + 2] = (float)(int32_t)(row[x * 4 + 2] * alpha) / 255;
        out[x * 4 + 3] = (float)(int32_t)alpha;
    }
}

FOR_EACH_MACHINE
void alcedo_average_rows(
    const float *newest, const float *oldest, const float *leaving, float edge, float share, size_t floats, float *sums,
    float *out)
{
    for (size_t offset = 0; offset < floats; offset += 16) {
        float16 sum, first, last, second;
        LOAD(sum, sums + offset);
        LOAD(first, newest + offset);
        LOAD(last, oldest + offset);
        LOAD(second, leaving + offset);
        float16 result = (sum + (first + last) * edge) * share;
        sum = sum + first - second;
        STORE(out + offset, result);
        STORE(sums + offset, sum);
    }
}

FOR_EACH_MACHINE
void alcedo_read_units(const uint8_t *row, size_t pixels, float *out)
{
    for (size_t index = 0; index < pixels * 4; index++) out[index] = row[index] * (1.0f / 255);
}

// Returns the rounded sample, which is the low byte of the sum: a float of 2^23 + n has n in its low bits. NaN is not
// greater than 0 and becomes 0.
static inline uint8_t sample_of(float value)
{
    value = value > 0 ? value : 0;
    value = value > 1 ? 1 : value;
    float shifted = value * 255 + 8388608.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return (uint8_t)bits;
}

FOR_EACH_MACHINE
void alcedo_write_units(const float *pixels, size_t count, int is_opaque, uint8_t *out)
{
    for (size_t index = 0; index < count * 4; index++) out[index] = sample_of(pixels[index]);
    if (!is_opaque) return;
    for (size_t index = 0; index < count; index++) out[index * 4 + 3] = 255;
}

FOR_EACH_MACHINE
void alcedo_write_gray_units(const float *pixels, size_t count, uint8_t *out)
{
    for (size_t index = 0; index < count; index++) out[index] = sample_of(pixels[index * 4]);
}

FOR_EACH_MACHINE
void alcedo_apply_matrix(const float *columns, float *pixels, size_t count)
{
    float4 red, green, blue, offset;
    LOAD(red, columns);
    LOAD(green, columns + 4);
    LOAD(blue, columns + 8);
    LOAD(offset, columns + 12);
    for (size_t index = 0; index < count; index++) {
        float4 pixel;
        LOAD(pixel, pixels + index * 4);
        float4 color = red * pixel[0] + green * pixel[1] + blue * pixel[2] + offset;
        color[3] = pixel[3];
        STORE(pixels + index * 4, color);
    }
}

typedef uint8_t pixels4 __attribute__((vector_size(16)));
typedef uint16_t samples16 __attribute__((vector_size(32)));

// Draws four pixels over a color. The shifts round sums / 255 to nearest, exactly for all sums up to 255 * 255 + 128,
// which include 128 for rounding.
static inline __attribute__((always_inline)) void flatten_four(
    const uint8_t *row, const samples16 *color, int is_premultiplied, uint8_t *out)
{
    pixels4 bytes;
    LOAD(bytes, row);
    samples16 samples = __builtin_convertvector(bytes, samples16);
    samples16 alpha =
        __builtin_shufflevector(samples, samples, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15);
    samples16 sums = *color * (255 - alpha) + 128;
    if (is_premultiplied) {
        // Invalid premultiplied pixels, whose color exceeds their alpha, must not wrap around.
        samples16 over = (samples16)(samples > alpha);
        samples = (alpha & over) | (samples & ~over);
    } else {
        sums += samples * alpha;
        samples = (samples16){0};
    }
    samples += (sums + (sums >> 8)) >> 8;
    bytes = __builtin_convertvector(samples, pixels4);
    bytes |= (pixels4){0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};
    STORE(out, bytes);
}

FOR_EACH_MACHINE
void alcedo_flatten_bytes(
    const uint8_t *row, size_t pixels, const uint8_t *color, int is_premultiplied, uint8_t *out)
{
    uint16_t r = color[0], g = color[1], b = color[2];
    samples16 back = {r, g, b, 255, r, g, b, 255, r, g, b, 255, r, g, b, 255};
    size_t index = 0;
    for (; index + 4 <= pixels; index += 4) flatten_four(row + index * 4, &back, is_premultiplied, out + index * 4);
    uint8_t rest[16] = {0};
    memcpy(rest, row + index * 4, (pixels - index) * 4);
    flatten_four(rest, &back, is_premultiplied, rest);
    memcpy(out + index * 4, rest, (pixels - index) * 4);
}

static inline float4 cubic_weights(float t)
{
    float t2 = t * t, t3 = t * t * t;
    return (float4){(-t3 + 2 * t2 - t) / 2, (3 * t3 - 5 * t2 + 2) / 2, (-3 * t3 + 4 * t2 + t) / 2, (t3 - t2) / 2};
}

FOR_EACH_MACHINE
void alcedo_sample_line(
    const alcedo_source_image *image, double x, double y, double cosine, double sine, double across,
    size_t count, float *out)
{
    const float16 ones = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t index = 0; index < count; index++, across += 1, out += 4) {
        double source_x = across * cosine + x, source_y = y - across * sine;
        float4 result = {0};
        if (source_x >= -2 && source_x < image->width + 1 && source_y >= -2 && source_y < image->height + 1) {
            // The added 2 makes the numbers at least 0, so that the conversion rounds down.
            intptr_t left = (intptr_t)(source_x + 2) - 2, top = (intptr_t)(source_y + 2) - 2;
            float4 columns = cubic_weights((float)(source_x - left)), rows = cubic_weights((float)(source_y - top));
            left -= 1;
            top -= 1;
            const uint8_t *first = image->base + top * (intptr_t)image->bytes_per_row + left * 4;
            size_t stride = image->bytes_per_row;
            uint8_t patch[64];
            if (left < 0 || top < 0 || left + 4 > image->width || top + 4 > image->height) {
                memset(patch, 0, sizeof patch);
                for (intptr_t j = 0; j < 4; j++) {
                    for (intptr_t i = 0; i < 4; i++) {
                        if (left + i < 0 || top + j < 0 || left + i >= image->width || top + j >= image->height)
                            continue;
                        memcpy(
                            patch + j * 16 + i * 4,
                            image->base + (top + j) * (intptr_t)image->bytes_per_row + (left + i) * 4, 4);
                    }
                }
                first = patch;
                stride = 16;
            }
            float16 across_weights =
                __builtin_shufflevector(columns, columns, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
            float16 sum = {0};
            for (int j = 0; j < 4; j++) {
                pixels4 bytes;
                LOAD(bytes, first + j * stride);
                float16 samples = __builtin_convertvector(bytes, float16);
                if (image->is_straight) {
                    float16 shares = samples * (1.0f / 255);
                    samples *= __builtin_shufflevector(
                        shares, ones, 3, 3, 3, 16, 7, 7, 7, 16, 11, 11, 11, 16, 15, 15, 15, 16);
                }
                sum += samples * across_weights * rows[j];
            }
            float8 low = __builtin_shufflevector(sum, sum, 0, 1, 2, 3, 4, 5, 6, 7);
            float8 high = __builtin_shufflevector(sum, sum, 8, 9, 10, 11, 12, 13, 14, 15);
            low += high;
            result = __builtin_shufflevector(low, low, 0, 1, 2, 3) + __builtin_shufflevector(low, low, 4, 5, 6, 7);
        }
        STORE(out, result);
    }
}
