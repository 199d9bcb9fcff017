#ifndef CSAMPLEKERNELS_H
#define CSAMPLEKERNELS_H

// The loops in which a resize spends most of its time, in vector types that the compiler maps to every architecture. Swift is
// compiled for the oldest processor of an architecture and has no target attribute for one function; on x86-64 these have
// further bodies for AVX2 and AVX-512, chosen once at the start.
//
// Results are the same to the bit on every processor: products and sums in one order, none fused.

#include <stddef.h>
#include <stdint.h>

// Convolution.vertical: adds up `count` rows, each times its weight. `floats` is a multiple of 16.
void alcedo_sum_rows(
    const float *_Nonnull const *_Nonnull rows, const float *_Nonnull weights, size_t count, size_t floats,
    float *_Nonnull out);

// Convolution.horizontal for pixels of four floats: each of `length` pixels of `out` is made of the `counts` pixels of `row`
// from `firsts` on, times the first `counts` of `stride` weights. The others are nought, and up to three finite pixels behind
// the last are read.
void alcedo_filter_pixels(
    const float *_Nonnull row, const intptr_t *_Nonnull firsts, const intptr_t *_Nonnull counts,
    const float *_Nonnull weights, size_t stride, size_t length, float *_Nonnull out);

// RowReader, four bytes a pixel: as they are, and with colour multiplied by alpha.
void alcedo_read_bytes(const uint8_t *_Nonnull row, size_t pixels, float *_Nonnull out);
void alcedo_read_straight_bytes(const uint8_t *_Nonnull row, size_t pixels, float *_Nonnull out);

// RowWriter, four bytes a pixel, opaque or premultiplied: clamped to 0 ... alpha, and rounded to the nearest.
void alcedo_write_bytes(const float *_Nonnull row, size_t pixels, uint8_t *_Nonnull out);

// BoxColumns.sum: adds the bytes of `rows` rows to `sums`, or puts them there unless `continues`. `bytes` is a multiple of 32.
void alcedo_sum_bytes(
    const uint8_t *_Nonnull first, size_t rows, size_t bytes_per_row, size_t bytes, int continues,
    uint16_t *_Nonnull sums);

// BoxColumns.premultipliedSum: the same with colour multiplied by alpha, and alpha by 255.
void alcedo_sum_straight_bytes(
    const uint8_t *_Nonnull first, size_t rows, size_t bytes_per_row, size_t bytes, int continues,
    uint32_t *_Nonnull sums);

// ColumnAverage.push: one row of running averages down columns. `floats` is a multiple of 16.
void alcedo_average_rows(
    const float *_Nonnull newest, const float *_Nonnull oldest, const float *_Nonnull leaving, float edge, float share,
    size_t floats, float *_Nonnull sums, float *_Nonnull out);

// PixelCoding, samples of 8 bits that are not premultiplied: bytes to floats from 0 to 1, and back, clamped and rounded to the
// nearest even. Alpha of opaque ones is written as 255.
void alcedo_read_units(const uint8_t *_Nonnull row, size_t pixels, float *_Nonnull out);
void alcedo_write_units(const float *_Nonnull pixels, size_t count, int is_opaque, uint8_t *_Nonnull out);
// The first of every four floats only.
void alcedo_write_gray_units(const float *_Nonnull pixels, size_t count, uint8_t *_Nonnull out);

// ColorMatrix.apply: 16 floats, what each sample of a pixel adds to the result. The last column is the offset.
void alcedo_apply_matrix(const float *_Nonnull columns, float *_Nonnull pixels, size_t count);

// Flatten for 8 bits: pixels over an opaque colour of three bytes, rounded to nearest.
void alcedo_flatten_bytes(
    const uint8_t *_Nonnull row, size_t pixels, const uint8_t *_Nonnull color, int is_premultiplied, uint8_t *_Nonnull out);

// A picture of four bytes a pixel, of which is_straight says whether colour is to be multiplied by alpha.
typedef struct alcedo_source_image {
    const uint8_t *_Nonnull base;
    size_t bytes_per_row;
    intptr_t width;
    intptr_t height;
    int is_straight;
} alcedo_source_image;

// Rotation.sample: `count` pixels on a line through the picture, by cubic convolution. The line is at (x + across * cosine,
// y - across * sine), and `across` goes up by one. What is outside the picture is transparent.
void alcedo_sample_line(
    const alcedo_source_image *_Nonnull picture, double x, double y, double cosine, double sine, double across, size_t count,
    float *_Nonnull out);

#endif
