#ifndef CSAMPLEKERNELS_H
#define CSAMPLEKERNELS_H

// The inner loops of the processors, in vector types that the compiler maps to every architecture. Swift compiles for
// the oldest processor of an architecture and has no target attribute for single functions. On x86-64, these functions
// have additional versions for AVX2 and AVX-512, which are selected once when the process starts.
//
// Results are bit-identical on every processor, because products and sums are computed in a fixed order and never
// fused.

#include <stddef.h>
#include <stdint.h>

// For blurs and Float.sum. Computes the weighted sum of `count` rows. `floats` must be a multiple of 16.
void alcedo_sum_rows(
    const float *_Nonnull const *_Nonnull rows, const float *_Nonnull weights, size_t count, size_t floats,
    float *_Nonnull out);

// For Float.filter, with four floats per pixel. Computes each of the `length` pixels of `out` as the weighted sum of
// `counts[x]` pixels of `row`, beginning with pixel `firsts[x]`, and clamps it to the range from 0 to `maximum`. Each
// result pixel has `stride` weights, of which the unused ones must be zero. Up to three pixels after the last one are
// read and must be finite.
void alcedo_filter_pixels(
    const float *_Nonnull row, const intptr_t *_Nonnull firsts, const intptr_t *_Nonnull counts,
    const float *_Nonnull weights, size_t stride, size_t length, float maximum, float *_Nonnull out);

// For Int16.Row. Convert bytes to samples with 7 bits of fraction, from 0 to 255 * 128, and write them to one row of a
// group of four rows. Of each two adjacent pixels, a group has the samples of the first row, then those of the others;
// of each row those of the two pixels in turn for each channel. `out` is the row in the group. Gray is written for the
// pixels alone, colors up to a multiple of four. The straight version
// multiplies color by alpha.
void alcedo_read_gray(const uint8_t *_Nonnull row, size_t pixels, int16_t *_Nonnull out);
void alcedo_read_pixels(const uint8_t *_Nonnull row, size_t pixels, int16_t *_Nonnull out);
void alcedo_read_straight_pixels(const uint8_t *_Nonnull row, size_t pixels, int16_t *_Nonnull out);

// For Int16.Row. Convert a row of samples, with four of a pixel side by side, to bytes. The straight version divides
// color by alpha.
void alcedo_write_gray(const int16_t *_Nonnull row, size_t pixels, uint8_t *_Nonnull out);
void alcedo_write_pixels(const int16_t *_Nonnull row, size_t pixels, int is_opaque, uint8_t *_Nonnull out);
void alcedo_write_straight_pixels(const int16_t *_Nonnull row, size_t pixels, uint8_t *_Nonnull out);

// For Int16.filter. Like alcedo_filter_pixels, for a group of four rows of one or four channels. Weights have 14 bits
// of fraction, and those of a result pixel add up to 1. `firsts` must be even. With an odd count, the weight after the
// last one is read and must be zero.
void alcedo_filter_samples(
    const int16_t *_Nonnull group, size_t channels, const intptr_t *_Nonnull firsts, const intptr_t *_Nonnull counts,
    const int16_t *_Nonnull weights, size_t stride, size_t length, int16_t *_Nonnull const *_Nonnull out);

// For Int16.sum. Computes the weighted sum of `count` rows and clamps it. `length` must be a multiple of 16. With an
// odd `count`, the weight after the last one is read and must be zero.
void alcedo_sum_samples(
    const int16_t *_Nonnull const *_Nonnull rows, const int16_t *_Nonnull weights, size_t count, size_t length,
    int16_t *_Nonnull out);

// For RowReader, with four bytes per pixel. Converts the samples to floats from 0 to 255: unchanged, or with color
// multiplied by alpha.
void alcedo_read_bytes(const uint8_t *_Nonnull row, size_t pixels, float *_Nonnull out);
void alcedo_read_straight_bytes(const uint8_t *_Nonnull row, size_t pixels, float *_Nonnull out);

// For RowWriter, with four bytes per pixel, opaque or premultiplied. Clamps samples to the range from 0 to alpha and
// rounds them to nearest.
void alcedo_write_bytes(const float *_Nonnull row, size_t pixels, uint8_t *_Nonnull out);

// For ColumnAverage.push. Computes one row of running averages down the columns, and moves the windows of `sums` by one
// row. `floats` must be a multiple of 16.
void alcedo_average_rows(
    const float *_Nonnull newest, const float *_Nonnull oldest, const float *_Nonnull leaving, float edge, float share,
    size_t floats, float *_Nonnull sums, float *_Nonnull out);

// For PixelCoding, with 8-bit samples that are not premultiplied. Converts bytes to floats from 0 to 1, and back with
// clamping and rounding to nearest even. Opaque pixels are written with an alpha of 255.
void alcedo_read_units(const uint8_t *_Nonnull row, size_t pixels, float *_Nonnull out);
void alcedo_write_units(const float *_Nonnull pixels, size_t count, int is_opaque, uint8_t *_Nonnull out);
// Writes only the first of every four floats.
void alcedo_write_gray_units(const float *_Nonnull pixels, size_t count, uint8_t *_Nonnull out);

// For ColorMatrix.apply. `columns` has 16 floats: the contributions of red, green and blue to the samples of the
// result, and the offset. Keeps alpha.
void alcedo_apply_matrix(const float *_Nonnull columns, float *_Nonnull pixels, size_t count);

// For Flatten, with 8-bit samples. Draws pixels over an opaque color of three bytes and rounds to nearest.
void alcedo_flatten_bytes(
    const uint8_t *_Nonnull row, size_t pixels, const uint8_t *_Nonnull color, int is_premultiplied,
    uint8_t *_Nonnull out);

// An image with four bytes per pixel. `is_straight` is true when color must be multiplied by alpha.
typedef struct alcedo_source_image {
    const uint8_t *_Nonnull base;
    size_t bytes_per_row;
    intptr_t width;
    intptr_t height;
    int is_straight;
} alcedo_source_image;

// For Rotation.sample. Computes `count` pixels on a line through the image by cubic convolution. The positions are (x +
// across * cosine, y - across * sine), and `across` increases by one per pixel. Pixels outside the image are
// transparent.
void alcedo_sample_line(
    const alcedo_source_image *_Nonnull image, double x, double y, double cosine, double sine, double across,
    size_t count, float *_Nonnull out);

#endif
