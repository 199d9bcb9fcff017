// Functions over libtiff for Swift. They read one page of a file in memory row by row, and write files. libtiff reports
// errors to a handler of each file, so the functions of different files can be called at the same time.
#ifndef ALCEDO_CTIFFSHIM_H
#define ALCEDO_CTIFFSHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct alcedo_tiff_decoder alcedo_tiff_decoder;
typedef struct alcedo_tiff_encoder alcedo_tiff_encoder;

typedef enum {
    ALCEDO_TIFF_OK = 0,
    ALCEDO_TIFF_TRUNCATED,
    ALCEDO_TIFF_CORRUPT,
    ALCEDO_TIFF_UNSUPPORTED,
    ALCEDO_TIFF_EXCEEDS_LIMIT,
    ALCEDO_TIFF_OUT_OF_MEMORY,
    ALCEDO_TIFF_CANCELED,
} alcedo_tiff_status;

/// The effect of damage on the pixels.
typedef enum {
    ALCEDO_TIFF_INTACT = 0,
    ALCEDO_TIFF_HARMLESS,
    ALCEDO_TIFF_WRONG_PIXELS,
    ALCEDO_TIFF_MISSING_PIXELS,
} alcedo_tiff_damage;

/// The samples of a row. 16-bit samples have native byte order.
typedef enum {
    ALCEDO_TIFF_GRAY8 = 0,
    ALCEDO_TIFF_RGBA8,
    ALCEDO_TIFF_RGBA16,
    ALCEDO_TIFF_GRAY16,
    /// C, M, Y, K, of which 255 means no ink. Requires a CMYK file.
    ALCEDO_TIFF_INKS,
} alcedo_tiff_format;

typedef enum {
    ALCEDO_TIFF_MODEL_GRAY = 0,
    ALCEDO_TIFF_MODEL_RGB,
    ALCEDO_TIFF_MODEL_PALETTE,
    ALCEDO_TIFF_MODEL_YCBCR,
    ALCEDO_TIFF_MODEL_CMYK,
} alcedo_tiff_model;

typedef struct {
    uint32_t width;
    uint32_t height;
    /// The number of bits per sample of the file, from 1 to 16.
    uint32_t depth;
    alcedo_tiff_model model;
    int has_alpha;
    /// Whether color is multiplied by alpha.
    int is_premultiplied;
    /// The orientation of the stored rows, as in EXIF.
    int orientation;
    /// The pixels per inch, or 0 when the file has none.
    double horizontal_resolution;
    double vertical_resolution;
    // The following pointers are NULL when there is no such data. Their bytes belong to the decoder.
    const uint8_t *_Nullable icc;
    size_t icc_size;
    const uint8_t *_Nullable xmp;
    size_t xmp_size;
    /// The number of bytes that decoding holds beside the rows that it writes, without small tables.
    uint64_t memory;
    /// The number of pixels of all strips or tiles, with those outside of the image.
    uint64_t coded_pixels;
} alcedo_tiff_info;

/// Creates a decoder. `bytes` must outlive it. Returns NULL when memory is exhausted.
///
/// `is_canceled` returns whether the caller was canceled. It is called for each row and each tile, and must not block.
alcedo_tiff_decoder *_Nullable alcedo_tiff_create(
    const uint8_t *_Nonnull bytes, size_t count, int (*_Nullable is_canceled)(void));

void alcedo_tiff_destroy(alcedo_tiff_decoder *_Nonnull decoder);

/// Reads the directory of a page at an offset in the file. Allocates no memory for pixels. Must be called once.
alcedo_tiff_status alcedo_tiff_read_page(
    alcedo_tiff_decoder *_Nonnull decoder, uint64_t directory, alcedo_tiff_info *_Nonnull info);

/// Starts to decode the page. Gray rows require a gray file without alpha, and 16-bit rows one of more than 8 bits. The
/// memory in the information must have been checked. Must be called once.
alcedo_tiff_status alcedo_tiff_start(alcedo_tiff_decoder *_Nonnull decoder, alcedo_tiff_format format);

typedef enum {
    ALCEDO_TIFF_WHOLE = 0,
    /// Some pixels are missing.
    ALCEDO_TIFF_PARTIAL,
    /// All pixels are missing.
    ALCEDO_TIFF_MISSING,
} alcedo_tiff_row_state;

/// Writes the next row, in stored order. All bytes of pixels that cannot be decoded are zero. Color is as stored,
/// straight or multiplied by alpha. In 8-bit rows, samples of 16 bits lose their low byte, and other samples are
/// rounded. Must be called at most once for each row.
alcedo_tiff_status alcedo_tiff_read_row(
    alcedo_tiff_decoder *_Nonnull decoder, void *_Nonnull out, size_t capacity,
    alcedo_tiff_row_state *_Nonnull state);

/// Returns the worst damage of the pixels found so far. `status` receives the status that it causes if it is not
/// tolerated.
alcedo_tiff_damage alcedo_tiff_found_damage(
    const alcedo_tiff_decoder *_Nonnull decoder, alcedo_tiff_status *_Nonnull status);

/// Returns the message of the worst damage, or an empty string.
const char *_Nonnull alcedo_tiff_damage_message(const alcedo_tiff_decoder *_Nonnull decoder);

/// Returns the message of the last error, from libtiff or the shim, or an empty string.
const char *_Nonnull alcedo_tiff_message(const alcedo_tiff_decoder *_Nonnull decoder);

typedef enum {
    ALCEDO_TIFF_NONE = 0,
    ALCEDO_TIFF_LZW,
    ALCEDO_TIFF_DEFLATE,
} alcedo_tiff_compression;

enum {
    /// The number of bytes of the header.
    ALCEDO_TIFF_DIRECTORIES_OFFSET = 8,
};

typedef struct {
    uint32_t width;
    uint32_t height;
    /// The samples of the rows that are passed: gray or RGBA.
    alcedo_tiff_format format;
    /// Whether the alpha of RGBA rows, which is straight, is written.
    int has_alpha;
    /// Whether red, green and blue of every pixel are equal, so that only one of them is stored.
    int is_gray;
    alcedo_tiff_compression compression;
    /// The orientation of the rows, as in EXIF.
    int orientation;
    /// The pixels per inch, or 0 to write none.
    double horizontal_resolution;
    double vertical_resolution;
    const uint8_t *_Nullable icc;
    size_t icc_size;
    const uint8_t *_Nullable xmp;
    size_t xmp_size;
    const uint8_t *_Nullable iptc;
    size_t iptc_size;
    /// Description, maker, model, software, date, artist and copyright of EXIF, each with a final zero, one after the
    /// other; NULL for none. Empty texts are not written.
    const uint8_t *_Nullable texts;
    /// The directories of EXIF and of GPS with their values, which the file has from the offset
    /// ALCEDO_TIFF_DIRECTORIES_OFFSET on. BigTIFF has none.
    const uint8_t *_Nullable directories;
    size_t directories_size;
    /// The offsets of the directories in the file, or 0 for none.
    uint32_t exif_directory;
    uint32_t gps_directory;
    /// Whether the numbers of the directories, and therefore of the file, are big-endian. BigTIFF is little-endian.
    int is_big_endian;
} alcedo_tiff_encoder_settings;

/// Creates an encoder of a file of at most `limit` bytes. Returns NULL when memory is exhausted.
alcedo_tiff_encoder *_Nullable alcedo_tiff_encoder_create(size_t limit);

void alcedo_tiff_encoder_destroy(alcedo_tiff_encoder *_Nonnull encoder);

/// Sets the properties of the image, before rows are written. The profile and the metadata are copied.
alcedo_tiff_status alcedo_tiff_encoder_begin(
    alcedo_tiff_encoder *_Nonnull encoder, const alcedo_tiff_encoder_settings *_Nonnull settings);

/// Writes the next row, from the top. Returns ALCEDO_TIFF_EXCEEDS_LIMIT when the file has more bytes than the limit.
alcedo_tiff_status alcedo_tiff_encoder_write(
    alcedo_tiff_encoder *_Nonnull encoder, const void *_Nonnull row, size_t count);

/// Completes the file after the last row. Returns ALCEDO_TIFF_CORRUPT if rows are missing.
alcedo_tiff_status alcedo_tiff_encoder_finish(alcedo_tiff_encoder *_Nonnull encoder);

/// Returns the complete file, which the caller frees. Must be called once.
uint8_t *_Nullable alcedo_tiff_encoder_take(alcedo_tiff_encoder *_Nonnull encoder, size_t *_Nonnull count);

const char *_Nonnull alcedo_tiff_encoder_message(const alcedo_tiff_encoder *_Nonnull encoder);

#endif
