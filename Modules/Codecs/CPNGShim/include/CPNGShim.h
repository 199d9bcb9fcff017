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

/// Bytes that follow those of the segment before.
typedef struct {
    const uint8_t *_Nullable bytes;
    size_t count;
} alcedo_png_segment;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t bit_depth;
    uint32_t color_type;  // as in the file: 0, 2, 3, 4 or 6
    int has_alpha;
    int is_interlaced;
    // Owned by the decoder; NULL when absent.
    const uint8_t *_Nullable icc;
    size_t icc_size;
    const uint8_t *_Nullable text;  // the first text, unpacked, of a decoder that was asked for it
    size_t text_size;
} alcedo_png_info;

/// What becomes of the samples. Gray without alpha only, and 16 bits only, for the last two.
typedef enum { ALCEDO_PNG_RGBA8 = 0, ALCEDO_PNG_GRAY8, ALCEDO_PNG_RGBA16 } alcedo_png_format;

typedef enum {
    ALCEDO_PNG_FILE = 0,
    ALCEDO_PNG_CHECKED_FILE,  // checksums of critical chunks are not looked at
    ALCEDO_PNG_TEXT,          // reads the first text, which it ignores otherwise
} alcedo_png_purpose;

/// `segments` and their bytes must outlive the decoder. A profile or a text of more than `chunk_limit` bytes, unpacked,
/// is left out. NULL: out of memory.
alcedo_png_decoder *_Nullable alcedo_png_create(
    const alcedo_png_segment *_Nonnull segments, size_t count, size_t chunk_limit, alcedo_png_purpose purpose);

/// A decoder whose bytes are still to come, by alcedo_png_push.
alcedo_png_decoder *_Nullable alcedo_png_create_push(size_t chunk_limit);
void alcedo_png_destroy(alcedo_png_decoder *_Nonnull decoder);

/// Reads up to the first image data. Allocates nothing for pixels.
alcedo_png_status alcedo_png_read_header(alcedo_png_decoder *_Nonnull decoder, alcedo_png_info *_Nonnull info);

/// Chooses the samples; after the header, or before the first alcedo_png_push. With `premultiplies`, color is
/// multiplied by alpha, rounded to nearest, as rows are read; pushed rows stay straight.
alcedo_png_status alcedo_png_start(
    alcedo_png_decoder *_Nonnull decoder, alcedo_png_format format, int premultiplies);

/// Writes the next `rows` rows of an image that is not interlaced, `stride` bytes apart. `capacity` is checked.
alcedo_png_status alcedo_png_read_rows(
    alcedo_png_decoder *_Nonnull decoder, uint8_t *_Nonnull out, size_t stride, size_t rows, size_t capacity);

/// Writes all rows of an interlaced image.
alcedo_png_status alcedo_png_read_interlaced(
    alcedo_png_decoder *_Nonnull decoder, uint8_t *_Nonnull out, size_t stride, size_t capacity);

/// Reads what follows the pixels, to the end of the file.
alcedo_png_status alcedo_png_finish(alcedo_png_decoder *_Nonnull decoder);

/// Takes the next bytes of the file and writes the rows they complete to `out`, straight, `stride` bytes apart, where row
/// `first_row` is the first; rows that do not fit are an error. Without `out` rows are decoded and not written. Pixels of
/// an interlaced image that have not come are shown by their neighbours.
alcedo_png_status alcedo_png_push(
    alcedo_png_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nullable out,
    size_t stride, size_t capacity, uint32_t first_row);

/// How far alcedo_png_push has come.
typedef struct {
    uint32_t rows;   // complete ones of the pass in progress
    uint32_t pass;   // from 0
    int is_whole;    // whether the end of the file was read
    int has_pixels;  // whether there was a row
} alcedo_png_progress;
alcedo_png_progress alcedo_png_get_progress(const alcedo_png_decoder *_Nonnull decoder);

/// Multiplies the color of `width` RGBA pixels by their alpha, rounded to nearest.
void alcedo_png_premultiply(uint8_t *_Nonnull row, size_t width, int is_16_bit);

/// The last error in libpng's words; empty when there was none.
const char *_Nonnull alcedo_png_message(const alcedo_png_decoder *_Nonnull decoder);

/// CRC-32 as in PNG annex D.
uint32_t alcedo_png_crc(const uint8_t *_Nullable bytes, size_t count);

/// The checksum of all bytes, when `crc` is that of the bytes before these; 0 at the beginning.
uint32_t alcedo_png_crc_continued(uint32_t crc, const uint8_t *_Nullable bytes, size_t count);

typedef struct alcedo_png_encoder alcedo_png_encoder;

typedef struct {
    uint32_t width;
    uint32_t height;
    int bit_depth;
    int color_type;                          // 0 gray, 2 RGB, 3 palette, 6 RGBA
    int drops_alpha;                         // rows have a fourth sample that is not written
    int level;                               // zlib's, 0 to 9
    const uint8_t *_Nullable palette;        // four bytes a color, those that are not opaque first
    size_t palette_count;
    size_t transparent_count;
    const uint8_t *_Nullable icc;            // left out when libpng does not accept it for these colors
    size_t icc_size;
    const uint8_t *_Nullable exif;           // from the TIFF header on
    size_t exif_size;
} alcedo_png_settings;

/// Nothing of `settings` is used after the call. NULL: out of memory.
alcedo_png_encoder *_Nullable alcedo_png_encoder_create(const alcedo_png_settings *_Nonnull settings);
void alcedo_png_encoder_destroy(alcedo_png_encoder *_Nonnull encoder);

/// Encodes all up to the pixels. To be called first, with the settings of the creation.
alcedo_png_status alcedo_png_encoder_begin(
    alcedo_png_encoder *_Nonnull encoder, const alcedo_png_settings *_Nonnull settings);

/// Encodes the next `rows` rows, `stride` bytes apart: samples of 8 or, in the machine's byte order, 16 bits; of a
/// palette one index a byte.
alcedo_png_status alcedo_png_encoder_write(
    alcedo_png_encoder *_Nonnull encoder, const uint8_t *_Nonnull pixels, size_t stride, size_t rows);
alcedo_png_status alcedo_png_encoder_finish(alcedo_png_encoder *_Nonnull encoder);

/// What has been encoded since the last call; valid until the next call.
alcedo_png_segment alcedo_png_encoder_take(alcedo_png_encoder *_Nonnull encoder);
const char *_Nonnull alcedo_png_encoder_message(const alcedo_png_encoder *_Nonnull encoder);

#endif
