// Functions over libjpeg-turbo for Swift. libjpeg reports errors with longjmp; every setjmp and every jump stays inside
// the shim.
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
    ALCEDO_JPEG_SUSPENDED,
    ALCEDO_JPEG_CANCELED,
} alcedo_jpeg_status;

/// The effect of damage on the pixels.
typedef enum {
    ALCEDO_JPEG_INTACT = 0,
    ALCEDO_JPEG_HARMLESS,
    ALCEDO_JPEG_WRONG_PIXELS,
    ALCEDO_JPEG_MISSING_PIXELS,
} alcedo_jpeg_damage;

typedef enum {
    ALCEDO_JPEG_GRAY = 0,
    ALCEDO_JPEG_YCBCR,
    ALCEDO_JPEG_RGB,
    ALCEDO_JPEG_CMYK,
    ALCEDO_JPEG_YCCK,
} alcedo_jpeg_color;

typedef struct {
    uint32_t width;
    uint32_t height;
    uint32_t bit_depth;
    /// The number of bytes that libjpeg keeps for the coefficients of an image in several scans, in addition to the
    /// output. 0 for an image in one scan.
    uint64_t coefficient_bytes;
    // EXIF, which begins with the TIFF header, and XMP. They point into the decoder's bytes and are NULL when absent.
    const uint8_t *_Nullable exif;
    size_t exif_size;
    const uint8_t *_Nullable xmp;
    size_t xmp_size;
    // The image resources of Photoshop in the first segment with some, as above.
    const uint8_t *_Nullable resources;
    size_t resources_size;
    /// The unit of the density in the JFIF header: 0 for none, 1 for pixels per inch, 2 for pixels per centimeter.
    uint32_t density_unit;
    uint32_t horizontal_density;
    uint32_t vertical_density;
    /// The size of the ICC profile, or 0 when there is none or its parts are incomplete or contradictory; and whether
    /// there is any part.
    size_t icc_size;
    int has_icc;
    alcedo_jpeg_color color;
    int has_several_scans;
    /// Whether the image can be decoded while its bytes arrive. libjpeg needs all bytes for arithmetic coding.
    int can_suspend;
} alcedo_jpeg_info;

/// Creates a decoder of a complete file. `bytes` must outlive it. Returns NULL when memory is exhausted.
alcedo_jpeg_decoder *_Nullable alcedo_jpeg_create(const uint8_t *_Nonnull bytes, size_t count);

/// Creates a decoder whose bytes arrive in pieces. Its functions may return ALCEDO_JPEG_SUSPENDED, and must then be
/// called again when more bytes have arrived. Returns NULL when memory is exhausted.
alcedo_jpeg_decoder *_Nullable alcedo_jpeg_create_stream(void);

/// Passes all bytes received so far. When they have moved, this function must be called again before the functions that
/// read them.
void alcedo_jpeg_feed(alcedo_jpeg_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count);

/// Sets the most damage with which decoding continues. With more, the functions return ALCEDO_JPEG_TRUNCATED or
/// ALCEDO_JPEG_CORRUPT. By default, all damage is tolerated.
void alcedo_jpeg_tolerate(alcedo_jpeg_decoder *_Nonnull decoder, alcedo_jpeg_damage damage);

/// Sets a function that returns whether the caller was canceled. It is called for each row, and for each row of blocks
/// of each scan, and must not block. The functions then return ALCEDO_JPEG_CANCELED, and the decoder can only be
/// destroyed.
void alcedo_jpeg_set_cancellation(alcedo_jpeg_decoder *_Nonnull decoder, int (*_Nonnull is_canceled)(void));

/// Returns the worst damage found so far. `status` receives the status that it causes if it is not tolerated.
alcedo_jpeg_damage alcedo_jpeg_found_damage(
    const alcedo_jpeg_decoder *_Nonnull decoder, alcedo_jpeg_status *_Nonnull status);

/// Returns the message of the worst damage found so far, or an empty string.
const char *_Nonnull alcedo_jpeg_damage_message(const alcedo_jpeg_decoder *_Nonnull decoder);

void alcedo_jpeg_destroy(alcedo_jpeg_decoder *_Nonnull decoder);

/// Reads the file up to the first scan. Allocates no memory for pixels.
alcedo_jpeg_status alcedo_jpeg_read_header(alcedo_jpeg_decoder *_Nonnull decoder);

/// Returns what the header contains. Must be called after the header has been read, and before decoding starts.
void alcedo_jpeg_get_info(alcedo_jpeg_decoder *_Nonnull decoder, alcedo_jpeg_info *_Nonnull info);

/// Writes the ICC profile, `icc_size` bytes, to `out`. Must be called directly after the header has been read, and only
/// if `icc_size` is not 0.
void alcedo_jpeg_copy_profile(const alcedo_jpeg_decoder *_Nonnull decoder, uint8_t *_Nonnull out);

/// Sets the scale of the DCT to `eighths` / 8, where `eighths` is from 1 to 8, and reports the size of the output.
alcedo_jpeg_status alcedo_jpeg_set_scale(
    alcedo_jpeg_decoder *_Nonnull decoder, uint32_t eighths, uint32_t *_Nonnull width, uint32_t *_Nonnull height);

/// Whether samples at the scale that has been set would depend on what blocks hold outside of the image. At an eighth,
/// libjpeg does not keep the coefficients of a sequential file that are needed to leave that out.
int alcedo_jpeg_shows_padding(const alcedo_jpeg_decoder *_Nonnull decoder);

/// Examines the rows of a scaled image for details that the scaled transform loses, such as those of text. If there are
/// many, the last rows of the same call and those that follow are made of the image at full size, which is then decoded
/// from its beginning. An image whose bytes arrive in pieces continues at the same scale. Must be called after the
/// scale has been set and before alcedo_jpeg_start. At full size, this has no effect.
void alcedo_jpeg_watch_details(alcedo_jpeg_decoder *_Nonnull decoder);

/// Whether details are lost in the rows that were read.
int alcedo_jpeg_lost_details(const alcedo_jpeg_decoder *_Nonnull decoder);

/// How many rows of RGBA at full size decoding at full size holds in addition to those of libjpeg.
enum { ALCEDO_JPEG_DETAIL_ROWS = 9 };

typedef enum {
    /// One byte per pixel. Requires a gray file.
    ALCEDO_JPEG_ROWS_GRAY = 0,
    /// R, G, B, 255. Inks are converted by a formula.
    ALCEDO_JPEG_ROWS_RGBA,
    /// C, M, Y, K, of which 255 means no ink. Requires a CMYK or YCCK file.
    ALCEDO_JPEG_ROWS_INKS,
} alcedo_jpeg_rows;

/// Starts decoding. An image in several scans is read to its end, unless its bytes arrive in pieces.
alcedo_jpeg_status alcedo_jpeg_start(alcedo_jpeg_decoder *_Nonnull decoder, alcedo_jpeg_rows rows);

/// Writes the rows from `first` to before `end`, `stride` bytes apart, to `out`, which has memory for `capacity` rows.
/// Writes fewer when bytes are missing, at the end of the image, and before the first row of an image in one scan whose
/// data is missing. Sets `count` to the number of rows written, even on
/// failure.
alcedo_jpeg_status alcedo_jpeg_read_rows(
    alcedo_jpeg_decoder *_Nonnull decoder, uint8_t *_Nonnull out, size_t stride, size_t capacity, size_t first,
    size_t end, size_t *_Nonnull count);

/// Reads to the end of the image, after all its rows. Errors after the last row are harmless damage.
alcedo_jpeg_status alcedo_jpeg_finish(alcedo_jpeg_decoder *_Nonnull decoder);

// For images in several scans whose bytes arrive in pieces, after alcedo_jpeg_start:

/// Reads scans and sets `complete` to the number of complete ones. Returns ALCEDO_JPEG_OK at the end of the image.
alcedo_jpeg_status alcedo_jpeg_consume(alcedo_jpeg_decoder *_Nonnull decoder, uint32_t *_Nonnull complete);

/// Begins the output of the image, at least at the quality of the scans up to `scan`, which must be complete. All rows
/// must be read next, and then alcedo_jpeg_end_output must be called.
alcedo_jpeg_status alcedo_jpeg_begin_output(alcedo_jpeg_decoder *_Nonnull decoder, uint32_t scan);

alcedo_jpeg_status alcedo_jpeg_end_output(alcedo_jpeg_decoder *_Nonnull decoder);

/// Returns the message of the last error, from libjpeg or the shim, or an empty string.
const char *_Nonnull alcedo_jpeg_message(const alcedo_jpeg_decoder *_Nonnull decoder);

typedef struct alcedo_jpeg_encoder alcedo_jpeg_encoder;

typedef struct {
    uint32_t width;
    uint32_t height;
    /// Whether rows have one byte per pixel. Otherwise they have four: red, green, blue and a byte that is ignored.
    int is_gray;
    /// The quality, from 1 to 100.
    int quality;
    /// The number of luminance samples for each chrominance sample, 1 or 2 per axis.
    int horizontal_subsampling;
    int vertical_subsampling;
    int is_progressive;
    int optimizes;
    const uint8_t *_Nullable icc;
    size_t icc_size;
    /// The EXIF data, which begins with the TIFF header, at most 65,527 bytes.
    const uint8_t *_Nullable exif;
    size_t exif_size;
    /// The XMP packet, at most 65,504 bytes.
    const uint8_t *_Nullable xmp;
    size_t xmp_size;
    /// The image resources of Photoshop, at most 65,519 bytes.
    const uint8_t *_Nullable resources;
    size_t resources_size;
    /// The pixels per inch, at most 65,535, or 0 to write none.
    uint32_t horizontal_density;
    uint32_t vertical_density;
    /// Returns whether the caller was canceled, as for the decoder. With NULL, the caller is never canceled.
    int (*_Nullable is_canceled)(void);
} alcedo_jpeg_settings;

/// Creates an encoder. Returns NULL when memory is exhausted.
alcedo_jpeg_encoder *_Nullable alcedo_jpeg_encoder_create(void);
void alcedo_jpeg_encoder_destroy(alcedo_jpeg_encoder *_Nonnull encoder);
alcedo_jpeg_status alcedo_jpeg_encoder_begin(
    alcedo_jpeg_encoder *_Nonnull encoder, const alcedo_jpeg_settings *_Nonnull settings);
alcedo_jpeg_status alcedo_jpeg_encoder_write(
    alcedo_jpeg_encoder *_Nonnull encoder, const uint8_t *_Nonnull rows, size_t stride, size_t count);
alcedo_jpeg_status alcedo_jpeg_encoder_finish(alcedo_jpeg_encoder *_Nonnull encoder);

/// Returns the number of encoded bytes that have not been taken.
size_t alcedo_jpeg_encoder_pending(const alcedo_jpeg_encoder *_Nonnull encoder);

/// Returns the encoded bytes that have not been taken. They are valid until the next call of the encoder.
const uint8_t *_Nullable alcedo_jpeg_encoder_take(alcedo_jpeg_encoder *_Nonnull encoder, size_t *_Nonnull count);
const char *_Nonnull alcedo_jpeg_encoder_message(const alcedo_jpeg_encoder *_Nonnull encoder);

#endif
