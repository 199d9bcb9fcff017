// Functions over libpng for Swift. libpng reports errors with longjmp; every setjmp and every jump stays inside the
// shim.
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
    ALCEDO_PNG_CANCELED,
} alcedo_png_status;

/// The effect of damage on the pixels that were decoded.
typedef enum {
    ALCEDO_PNG_INTACT = 0,
    ALCEDO_PNG_HARMLESS,
    ALCEDO_PNG_WRONG_PIXELS,
} alcedo_png_damage;

/// A range of bytes: one of the consecutive parts of a file, or encoded bytes.
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
    const uint8_t *_Nullable text;  // the first text, decompressed, for ALCEDO_PNG_TEXT
    size_t text_size;
    alcedo_png_damage damage;  // the damage before the pixels, which alcedo_png_damage_message describes
} alcedo_png_info;

/// The format of the decoded rows. Gray requires a gray file without alpha, and 16 bits require a 16-bit file.
typedef enum {
    ALCEDO_PNG_RGBA8 = 0,
    ALCEDO_PNG_GRAY8,
    ALCEDO_PNG_RGBA16,
    ALCEDO_PNG_GRAY16,
} alcedo_png_format;

typedef enum {
    ALCEDO_PNG_FILE = 0,
    ALCEDO_PNG_CHECKED_FILE,  // ignores the checksums of critical chunks, because the caller has verified the chunks,
                              // and the checksum of the compressed stream where the libraries can
    ALCEDO_PNG_TEXT,          // reads the first text, which is otherwise ignored
} alcedo_png_purpose;

/// Creates a decoder of a complete file. `segments` and their bytes must outlive it. A profile or a text that has more
/// than `chunk_limit` bytes when decompressed is omitted. Returns NULL when memory is exhausted.
alcedo_png_decoder *_Nullable alcedo_png_create(
    const alcedo_png_segment *_Nonnull segments, size_t count, size_t chunk_limit, alcedo_png_purpose purpose);

/// Creates a decoder whose bytes are passed to alcedo_png_push. Returns NULL when memory is exhausted.
alcedo_png_decoder *_Nullable alcedo_png_create_push(size_t chunk_limit);
void alcedo_png_destroy(alcedo_png_decoder *_Nonnull decoder);

/// Reads the file up to the first pixel chunk. Allocates no memory for pixels.
alcedo_png_status alcedo_png_read_header(alcedo_png_decoder *_Nonnull decoder, alcedo_png_info *_Nonnull info);

/// Sets the format of the rows. Must be called after the header has been read, or before the first alcedo_png_push.
/// With `premultiplies`, color is multiplied by alpha and rounded to nearest when rows are read. Pushed rows stay
/// straight. A complete file whose filtered rows have at most `whole_limit` bytes can be inflated at once, which is
/// faster. This takes up to twice that number of bytes, and 64 KiB.
alcedo_png_status alcedo_png_start(
    alcedo_png_decoder *_Nonnull decoder, alcedo_png_format format, int premultiplies, size_t whole_limit);

/// Sets a function that returns whether the caller was canceled. It is called for each row that is read, in each pass,
/// and must not block. Reading then returns ALCEDO_PNG_CANCELED, and the decoder can only be destroyed.
void alcedo_png_set_cancellation(alcedo_png_decoder *_Nonnull decoder, int (*_Nonnull is_canceled)(void));

/// Writes the next `rows` rows of an image that is not interlaced, `stride` bytes apart. Failures include a row that
/// exceeds `stride`, `rows` * `stride` that exceeds `capacity`, and an image with fewer rows left.
alcedo_png_status alcedo_png_read_rows(
    alcedo_png_decoder *_Nonnull decoder, uint8_t *_Nonnull out, size_t stride, size_t rows, size_t capacity);

/// Writes all rows of an interlaced image, `stride` bytes apart. Failures include a row that exceeds `stride`, and rows
/// that exceed `capacity`.
alcedo_png_status alcedo_png_read_interlaced(
    alcedo_png_decoder *_Nonnull decoder, uint8_t *_Nonnull out, size_t stride, size_t capacity);

/// Reads the chunks after the pixels, up to IEND. Any damage is an error.
alcedo_png_status alcedo_png_finish(alcedo_png_decoder *_Nonnull decoder);

/// Decodes the next bytes of the file and writes the rows that they complete to `out`, straight and `stride` bytes
/// apart. Row `first_row` is written at the beginning of `out`, and rows that do not fit are an error. When `out` is
/// NULL, rows are decoded but not written. Wrong checksums of pixel chunks are no error. Missing pixels of
/// an interlaced image are filled from their neighbors.
alcedo_png_status alcedo_png_push(
    alcedo_png_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nullable out,
    size_t stride, size_t capacity, uint32_t first_row);

/// The progress of alcedo_png_push.
typedef struct {
    uint32_t rows;   // complete rows of the current pass
    uint32_t pass;   // from 0
    int is_whole;    // whether the end of the file was read
    int has_pixels;  // whether a row was decoded
    int has_all_rows;
    alcedo_png_damage damage;  // the damage that is no error, which alcedo_png_damage_message describes
} alcedo_png_progress;
alcedo_png_progress alcedo_png_get_progress(const alcedo_png_decoder *_Nonnull decoder);

/// Multiplies the color of `width` RGBA pixels by their alpha, rounded to nearest.
void alcedo_png_premultiply(uint8_t *_Nonnull row, size_t width, int is_16_bit);

/// Returns the message of the last error, from libpng or the shim, or an empty string.
const char *_Nonnull alcedo_png_message(const alcedo_png_decoder *_Nonnull decoder);

/// Returns the message of the worst damage that is no error, or an empty string.
const char *_Nonnull alcedo_png_damage_message(const alcedo_png_decoder *_Nonnull decoder);

/// Returns the CRC-32 of the bytes. Source: W3C PNG specification, annex D.
uint32_t alcedo_png_crc(const uint8_t *_Nullable bytes, size_t count);

/// Returns the checksum of all bytes so far. `crc` is the checksum of the preceding bytes, or 0 at the beginning.
uint32_t alcedo_png_crc_continued(uint32_t crc, const uint8_t *_Nullable bytes, size_t count);

typedef struct alcedo_png_encoder alcedo_png_encoder;

typedef struct {
    uint32_t width;
    uint32_t height;
    int bit_depth;
    int color_type;                          // 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA
    int drops_alpha;                         // rows have a fourth sample that is not written
    int is_interlaced;                       // all rows are written seven times, once for each pass
    int level;                               // the compression level of libdeflate, 0 to 12, of which zlib has 0 to 9
    size_t pack_limit;                       // the maximum number of bytes of filtered rows to keep, 0 for none
    const uint8_t *_Nullable palette;        // four bytes per color, colors that are not opaque first
    size_t palette_count;
    size_t transparent_count;
    const uint8_t *_Nullable icc;            // omitted when libpng rejects it
    size_t icc_size;
    const uint8_t *_Nullable color;          // complete chunks to write before the palette
    size_t color_size;
    const uint8_t *_Nullable chunks;         // complete chunks to write after the profile and the palette
    size_t chunks_size;
} alcedo_png_settings;

/// Creates an encoder with the compression level of `settings`. Does not keep `settings`. Returns NULL when memory is
/// exhausted.
alcedo_png_encoder *_Nullable alcedo_png_encoder_create(const alcedo_png_settings *_Nonnull settings);
void alcedo_png_encoder_destroy(alcedo_png_encoder *_Nonnull encoder);

/// Encodes everything before the pixels. Must be called first, with the compression level passed to
/// alcedo_png_encoder_create.
alcedo_png_status alcedo_png_encoder_begin(
    alcedo_png_encoder *_Nonnull encoder, const alcedo_png_settings *_Nonnull settings);

/// Encodes the next `rows` rows, `stride` bytes apart. Rows that fit in `pack_limit` are compressed at the end with
/// libdeflate, others as they arrive with zlib, which takes about three times as long. Samples have 8 bits, or 16 bits
/// in native byte order. Each palette index has one byte. The rows of an interlaced image are passed in full, from the
/// first to the last, for each of the seven passes.
alcedo_png_status alcedo_png_encoder_write(
    alcedo_png_encoder *_Nonnull encoder, const uint8_t *_Nonnull pixels, size_t stride, size_t rows);

/// Begins the next frame of an animation after all rows of the previous one. `control` is the complete fcTL chunk, and
/// `sequence` the number of the fdAT chunk. The frame before must fit in `pack_limit`.
alcedo_png_status alcedo_png_encoder_begin_frame(
    alcedo_png_encoder *_Nonnull encoder, uint32_t width, uint32_t height, const uint8_t *_Nonnull control,
    size_t control_size, uint32_t sequence);
alcedo_png_status alcedo_png_encoder_finish(alcedo_png_encoder *_Nonnull encoder);

/// Returns the number of encoded bytes that have not been taken.
size_t alcedo_png_encoder_count(const alcedo_png_encoder *_Nonnull encoder);

/// Returns the encoded bytes that have not been taken. They are valid until the next call of the encoder.
alcedo_png_segment alcedo_png_encoder_take(alcedo_png_encoder *_Nonnull encoder);
/// Returns all encoded bytes after the end, none of which may have been taken. The caller frees them.
alcedo_png_segment alcedo_png_encoder_detach(alcedo_png_encoder *_Nonnull encoder);
const char *_Nonnull alcedo_png_encoder_message(const alcedo_png_encoder *_Nonnull encoder);

/// Whether a zlib stream is invalid or incomplete. Only the first `size` bytes of its content are checked, for which
/// `out` has memory.
int alcedo_png_is_broken_stream(
    const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nonnull out, size_t size);

#endif
