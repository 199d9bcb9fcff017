// Functions over libavif for Swift. They hide the differences between libavif 0.11 and 1.x.
#ifndef ALCEDO_CAVIFSHIM_H
#define ALCEDO_CAVIFSHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct alcedo_avif_decoder alcedo_avif_decoder;
typedef struct alcedo_avif_encoder alcedo_avif_encoder;

typedef enum {
    ALCEDO_AVIF_OK = 0,
    ALCEDO_AVIF_TRUNCATED,
    ALCEDO_AVIF_CORRUPT,
    ALCEDO_AVIF_UNSUPPORTED,
    ALCEDO_AVIF_OUT_OF_MEMORY,
    /// The next bytes of the file are needed. Only for a decoder whose bytes arrive in pieces.
    ALCEDO_AVIF_WAITING,
} alcedo_avif_status;

/// The samples of a row. 16-bit samples have native byte order.
typedef enum {
    ALCEDO_AVIF_GRAY8 = 0,
    ALCEDO_AVIF_RGBA8,
    ALCEDO_AVIF_RGBA16,
    ALCEDO_AVIF_GRAY16,
} alcedo_avif_format;

typedef struct {
    /// The maximum number of pixels that the file may declare for an image, at least 1.
    uint32_t pixel_limit;
    /// The maximum number of pixels of each coded frame and of each tile of a grid, at least 1.
    uint32_t frame_pixel_limit;
    /// The maximum number of frames.
    uint32_t frame_limit;
    /// The number of threads, at least 1.
    int threads;
    /// Whether the bytes arrive in pieces. Layers and rows of grids are then decoded as soon as possible.
    int is_stream;
    /// Whether EXIF and XMP are not read.
    int ignores_metadata;
    /// Whether the alpha of the file is ignored, so the image is opaque.
    int ignores_alpha;
    /// Whether the alpha of a complete file is not even read, because it is damaged.
    int hides_alpha;
} alcedo_avif_decoder_settings;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t depth;
    int is_monochrome;
    /// Whether the planes hold green, blue and red.
    int is_rgb;
    int has_alpha;
    int is_premultiplied;
    /// Code points of ITU-T H.273; 2 means that the file does not specify them.
    uint16_t primaries;
    uint16_t transfer;
    uint16_t matrix;
    int is_full_range;
    /// Whether `clap` holds the numerators and denominators of the width, the height, and the horizontal and vertical
    /// offset. Offsets are signed.
    int has_clap;
    uint32_t clap[8];
    /// The number of quarter turns counterclockwise.
    int rotation;
    /// The mirroring after the rotation: -1 for none, 0 exchanges top and bottom, 1 exchanges left and right.
    int mirror;
    /// The number of frames of a sequence; 1 for a still image.
    uint32_t frame_count;
    /// The number of layers that a decoder whose bytes arrive in pieces shows one after another; 1 for no layers.
    uint32_t layer_count;
    /// The number of units per second in durations.
    uint64_t timescale;
    // The following pointers are NULL when the file has no such data. Their bytes belong to the decoder.
    const uint8_t *_Nullable icc;
    size_t icc_size;
    const uint8_t *_Nullable exif;
    size_t exif_size;
    const uint8_t *_Nullable xmp;
    size_t xmp_size;
} alcedo_avif_info;

/// Creates a decoder of a complete file. `bytes` must outlive it. For a stream, the bytes are passed later. Returns
/// NULL when memory is exhausted.
alcedo_avif_decoder *_Nullable alcedo_avif_create(
    const uint8_t *_Nullable bytes, size_t count, const alcedo_avif_decoder_settings *_Nonnull settings);

void alcedo_avif_destroy(alcedo_avif_decoder *_Nonnull decoder);

/// Passes all bytes received so far. Bytes passed earlier may have moved. They must stay until the next call.
void alcedo_avif_feed(alcedo_avif_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count);

/// Reads the boxes of the file. Allocates no memory for pixels.
alcedo_avif_status alcedo_avif_read_header(
    alcedo_avif_decoder *_Nonnull decoder, alcedo_avif_info *_Nonnull info);

/// Sets `end` to the offset after the last byte that frames 0 to `frame` need.
alcedo_avif_status alcedo_avif_data_end(
    const alcedo_avif_decoder *_Nonnull decoder, uint32_t frame, uint64_t *_Nonnull end);

/// Decodes a frame, or a layer. The pixels belong to the decoder until the next call. Returns ALCEDO_AVIF_CORRUPT when
/// the frame does not have the size in the header.
alcedo_avif_status alcedo_avif_read_frame(alcedo_avif_decoder *_Nonnull decoder, uint32_t frame);

/// Returns the number of rows from the top that the last call of alcedo_avif_read_frame decoded.
uint32_t alcedo_avif_row_count(const alcedo_avif_decoder *_Nonnull decoder);

/// Returns whether the frame has an alpha plane with a sample below the maximum.
int alcedo_avif_is_transparent(const alcedo_avif_decoder *_Nonnull decoder);

/// Writes `count` rows of the frame from row `first` on, `stride` bytes apart. Color is as stored: premultiplied when
/// the header says so. Rows must be decoded. Gray rows require a monochrome file.
alcedo_avif_status alcedo_avif_convert(
    alcedo_avif_decoder *_Nonnull decoder, alcedo_avif_format format, uint32_t first, uint32_t count,
    void *_Nonnull out, size_t stride);

/// Returns libavif's message for the last error, or an empty string when it has none.
const char *_Nonnull alcedo_avif_message(const alcedo_avif_decoder *_Nonnull decoder);

typedef struct {
    uint32_t width;
    uint32_t height;
    /// The number of bits per sample of the file: 8, 10 or 12.
    uint32_t depth;
    /// The samples of the rows that are passed. Gray rows become a monochrome image.
    alcedo_avif_format format;
    int has_alpha;
    /// Whether red, green and blue of every pixel are equal, so that only one of them is stored.
    int is_gray;
    /// Whether the planes hold green, blue and red instead of luminance and color differences.
    int is_rgb;
    /// Whether color differences have half the width and height.
    int is_subsampled;
    /// The quantizer of color, from 0 (lossless) to 63. Alpha is lossless.
    int quantizer;
    /// The speed, from 0 (smallest file) to 10 (fastest). That of a sequence is at most 6.
    int speed;
    int threads;
    /// The orientation, as in alcedo_avif_info.
    int rotation;
    int mirror;
    /// The code points of ITU-T H.273 of an image without a profile; 0 for sRGB.
    uint8_t primaries;
    uint8_t transfer;
    const uint8_t *_Nullable icc;
    size_t icc_size;
    const uint8_t *_Nullable exif;
    size_t exif_size;
    const uint8_t *_Nullable xmp;
    size_t xmp_size;
    /// Whether several frames are added.
    int is_sequence;
    uint64_t timescale;
    /// The number of plays, or 0 to repeat forever. libavif before 1.0 does not write it.
    uint32_t play_count;
} alcedo_avif_encoder_settings;

/// Creates an encoder. The profile and the EXIF data are copied. Returns NULL when memory is exhausted.
alcedo_avif_encoder *_Nullable alcedo_avif_encoder_create(const alcedo_avif_encoder_settings *_Nonnull settings);
void alcedo_avif_encoder_destroy(alcedo_avif_encoder *_Nonnull encoder);

/// Adds a frame: straight rows, `stride` bytes apart. `duration` is in units of the timescale.
alcedo_avif_status alcedo_avif_encoder_add(
    alcedo_avif_encoder *_Nonnull encoder, const void *_Nonnull rows, size_t stride, uint64_t duration);

/// Completes the file. On success, the caller owns the bytes and frees them with `alcedo_avif_free`.
alcedo_avif_status alcedo_avif_encoder_finish(
    alcedo_avif_encoder *_Nonnull encoder, uint8_t *_Nullable *_Nonnull bytes, size_t *_Nonnull count);
void alcedo_avif_free(uint8_t *_Nullable bytes);
const char *_Nonnull alcedo_avif_encoder_message(const alcedo_avif_encoder *_Nonnull encoder);

#endif
