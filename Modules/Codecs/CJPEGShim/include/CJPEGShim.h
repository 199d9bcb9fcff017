// Plain functions over libjpeg-turbo. libjpeg reports errors by longjmp; every setjmp and every jump stays inside the
// shim.
#ifndef ALCEDO_CJPEGSHIM_H
#define ALCEDO_CJPEGSHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct alcedo_jpeg_decoder alcedo_jpeg_decoder;

typedef enum {
    ALCEDO_JPEG_OK = 0,
    ALCEDO_JPEG_TRUNCATED,
    ALCEDO_JPEG_CORRUPT,
    ALCEDO_JPEG_UNSUPPORTED,
    ALCEDO_JPEG_LIMIT,
    ALCEDO_JPEG_OUT_OF_MEMORY,
} alcedo_jpeg_status;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t bit_depth;
    /// What libjpeg keeps of an image that comes in several scans, beside the output; 0 for one scan.
    uint64_t coefficient_bytes;
    // Owned by the decoder; NULL when absent. `exif` begins at the TIFF header.
    const uint8_t *_Nullable exif;
    size_t exif_size;
    const uint8_t *_Nullable icc;
    size_t icc_size;
} alcedo_jpeg_info;

/// `bytes` must outlive the decoder. NULL: out of memory.
alcedo_jpeg_decoder *_Nullable alcedo_jpeg_create(const uint8_t *_Nonnull bytes, size_t count);
void alcedo_jpeg_destroy(alcedo_jpeg_decoder *_Nonnull decoder);

/// Reads up to the first scan. Allocates nothing for pixels.
alcedo_jpeg_status alcedo_jpeg_read_header(alcedo_jpeg_decoder *_Nonnull decoder, alcedo_jpeg_info *_Nonnull info);

/// Gives the size of the output when the DCT scales by `eighths` / 8 (1 to 8), and keeps that choice.
alcedo_jpeg_status alcedo_jpeg_set_scale(
    alcedo_jpeg_decoder *_Nonnull decoder, uint32_t eighths, uint32_t *_Nonnull width, uint32_t *_Nonnull height);

/// Writes rows of width * 4 bytes (R, G, B, 255), `stride` bytes apart, and reads to the end of the image. `capacity`
/// is checked, not trusted.
alcedo_jpeg_status alcedo_jpeg_read_rgba(
    alcedo_jpeg_decoder *_Nonnull decoder, uint8_t *_Nonnull out, size_t stride, size_t capacity);

/// The last error in libjpeg's words; empty when there was none.
const char *_Nonnull alcedo_jpeg_message(const alcedo_jpeg_decoder *_Nonnull decoder);

/// The plain C loop that benchmarks compare with: decodes into a buffer of its own as libjpeg's manual does. Returns
/// the number of pixels, 0 on any error.
size_t alcedo_jpeg_reference_decode(const uint8_t *_Nonnull bytes, size_t count);

#endif
