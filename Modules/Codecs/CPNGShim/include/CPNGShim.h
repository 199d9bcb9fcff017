// Plain functions over libpng. libpng reports errors by longjmp; every setjmp and every jump stays inside the shim.
#ifndef ALCEDO_CPNGSHIM_H
#define ALCEDO_CPNGSHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct alcedo_png_decoder alcedo_png_decoder;

typedef enum {
    ALCEDO_PNG_OK = 0,
    ALCEDO_PNG_TRUNCATED,
    ALCEDO_PNG_CORRUPT,
    ALCEDO_PNG_OUT_OF_MEMORY,
} alcedo_png_status;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t bit_depth;
    int has_alpha;
    // Part of the file; NULL when absent. A whole chunk of XMP.
    const uint8_t *_Nullable xmp;
    size_t xmp_size;
    // Owned by the decoder; NULL when absent. `exif` begins at the TIFF header.
    const uint8_t *_Nullable exif;
    size_t exif_size;
    const uint8_t *_Nullable icc;
    size_t icc_size;
} alcedo_png_info;

/// `bytes` must outlive the decoder. A profile, EXIF or XMP of more than `chunk_limit` bytes is left out. NULL: out of
/// memory.
alcedo_png_decoder *_Nullable alcedo_png_create(const uint8_t *_Nonnull bytes, size_t count, size_t chunk_limit);
void alcedo_png_destroy(alcedo_png_decoder *_Nonnull decoder);

/// Reads up to the first image data. Allocates nothing for pixels.
alcedo_png_status alcedo_png_read_header(alcedo_png_decoder *_Nonnull decoder, alcedo_png_info *_Nonnull info);

/// Writes height rows of width * 4 bytes (R, G, B, straight A), `stride` bytes apart, and reads to the end of the
/// file. `capacity` is checked, not trusted. Samples of 16 bits lose their low byte.
alcedo_png_status alcedo_png_read_rgba(
    alcedo_png_decoder *_Nonnull decoder, uint8_t *_Nonnull out, size_t stride, size_t capacity);

/// The last error in libpng's words; empty when there was none.
const char *_Nonnull alcedo_png_message(const alcedo_png_decoder *_Nonnull decoder);

typedef struct {
    uint8_t *_Nullable bytes;  // to be freed by alcedo_png_free
    size_t count;
    char message[96];
} alcedo_png_output;

/// Encodes rows of `channels` (1 gray, 3 RGB, 4 RGBA with straight alpha) 8-bit samples, which lie `pixel_bytes` apart
/// from pixel to pixel and `stride` from row to row. `level` is zlib's, 0 to 9. A profile that
/// libpng does not accept for these colours is left out.
alcedo_png_status alcedo_png_encode(
    const uint8_t *_Nonnull pixels, size_t stride, uint32_t width, uint32_t height, int channels, int pixel_bytes,
    int level, const uint8_t *_Nullable icc, size_t icc_size, alcedo_png_output *_Nonnull output);
void alcedo_png_free(uint8_t *_Nullable bytes);

/// The plain C loop that benchmarks compare with: decodes into a buffer of its own as libpng's manual does. Returns
/// the number of pixels, 0 on any error.
size_t alcedo_png_reference_decode(const uint8_t *_Nonnull bytes, size_t count);

#endif
