// Functions over libde265 for Swift. They decode one coded picture, and convert planes to rows of pixels.
#ifndef ALCEDO_CHEIFSHIM_H
#define ALCEDO_CHEIFSHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct alcedo_heif_picture alcedo_heif_picture;

typedef enum {
    ALCEDO_HEIF_OK = 0,
    ALCEDO_HEIF_CORRUPT,
    ALCEDO_HEIF_UNSUPPORTED,
    ALCEDO_HEIF_OUT_OF_MEMORY,
    ALCEDO_HEIF_TIMEOUT,
} alcedo_heif_status;

/// The samples of a row. 16-bit samples have native byte order.
typedef enum {
    ALCEDO_HEIF_GRAY8 = 0,
    ALCEDO_HEIF_RGBA8,
    ALCEDO_HEIF_RGBA16,
    ALCEDO_HEIF_GRAY16,
} alcedo_heif_format;

/// The layout of color planes.
typedef enum {
    ALCEDO_HEIF_MONOCHROME = 0,
    /// Color planes of half the width and half the height.
    ALCEDO_HEIF_420,
    /// Color planes of half the width.
    ALCEDO_HEIF_422,
    ALCEDO_HEIF_444,
} alcedo_heif_chroma;

/// The planes of a picture. Samples of more than 8 bits have 16 bits and native byte order.
typedef struct {
    /// Luminance.
    uint8_t *_Nullable luma;
    size_t luma_stride;
    /// Color differences, NULL for a monochrome picture.
    uint8_t *_Nullable blue;
    uint8_t *_Nullable red;
    /// The number of bytes from one row of a color plane to the next.
    size_t color_stride;
    /// The size of the luminance plane.
    uint32_t width;
    uint32_t height;
    /// The number of bits per sample, from 8 to 12.
    uint32_t depth;
    alcedo_heif_chroma chroma;
    /// Code points of ITU-T H.273. The primaries only matter for matrices that are derived from them.
    uint16_t primaries;
    uint16_t matrix;
    int is_full_range;
} alcedo_heif_planes;

/// Decodes one picture on the calling thread. The bytes are NAL units, each after its length in four bytes.
///
/// `time` is the number of nanoseconds that decoding may take, and is reduced by those that it took. It is checked
/// before each unit, so decoding exceeds it by at most the time of one slice and of the filters. On failure, `message`
/// is set to the reason, a static text.
alcedo_heif_status alcedo_heif_decode(
    const uint8_t *_Nonnull bytes, size_t count, uint64_t *_Nonnull time,
    alcedo_heif_picture *_Nullable *_Nonnull picture, const char *_Nullable *_Nonnull message);

void alcedo_heif_destroy(alcedo_heif_picture *_Nonnull picture);

/// Returns the planes, which belong to the picture, without the code points of the color.
alcedo_heif_planes alcedo_heif_planes_of(const alcedo_heif_picture *_Nonnull picture);

/// Copies a tile to a position in other planes of the same depth and layout, as far as it is inside them. With
/// subsampled color, the position must be even. Returns ALCEDO_HEIF_UNSUPPORTED for planes of another kind.
alcedo_heif_status alcedo_heif_copy_tile(
    const alcedo_heif_planes *_Nonnull tile, const alcedo_heif_planes *_Nonnull target, uint32_t x, uint32_t y);

/// Whether the color of these planes can be converted.
int alcedo_heif_can_convert(const alcedo_heif_planes *_Nonnull planes);

/// Writes `count` opaque rows from row `first` on, `stride` bytes apart. Gray rows are those of the luminance plane.
alcedo_heif_status alcedo_heif_convert_color(
    const alcedo_heif_planes *_Nonnull planes, alcedo_heif_format format, uint32_t first, uint32_t count,
    void *_Nonnull out, size_t stride);

/// Replaces the alpha of `count` RGBA rows by the luminance plane, in the full range, from row `first` on.
alcedo_heif_status alcedo_heif_convert_alpha(
    const alcedo_heif_planes *_Nonnull planes, alcedo_heif_format format, uint32_t first, uint32_t count,
    void *_Nonnull out, size_t stride);

#endif
