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
    ALCEDO_JPEG_SUSPENDED,
} alcedo_jpeg_status;

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
    /// What libjpeg keeps of an image that comes in several scans, beside the output; 0 for one scan.
    uint64_t coefficient_bytes;
    // Among the decoder's bytes; NULL when absent. `exif` begins at the TIFF header.
    const uint8_t *_Nullable exif;
    size_t exif_size;
    const uint8_t *_Nullable xmp;
    size_t xmp_size;
    /// 0 when there is no ICC profile, or a part of it is missing.
    size_t icc_size;
    alcedo_jpeg_color color;
    int has_several_scans;
    /// libjpeg decodes arithmetic coding only when all bytes are there.
    int can_suspend;
} alcedo_jpeg_info;

/// `bytes` must outlive the decoder. NULL: out of memory.
alcedo_jpeg_decoder *_Nullable alcedo_jpeg_create(const uint8_t *_Nonnull bytes, size_t count);

/// A decoder whose bytes come piece by piece: every function may return ALCEDO_JPEG_SUSPENDED, and is to be called again
/// when there are more. NULL: out of memory.
alcedo_jpeg_decoder *_Nullable alcedo_jpeg_create_stream(void);

/// Gives all bytes so far, the earlier ones too, which may have moved. They must stay there until the next call of this.
void alcedo_jpeg_feed(alcedo_jpeg_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count);

/// Ends a suspended stream where it stands, as if the image's end came next.
void alcedo_jpeg_end_input(alcedo_jpeg_decoder *_Nonnull decoder);

void alcedo_jpeg_destroy(alcedo_jpeg_decoder *_Nonnull decoder);

/// Reads up to the first scan. Allocates nothing for pixels.
alcedo_jpeg_status alcedo_jpeg_read_header(alcedo_jpeg_decoder *_Nonnull decoder, alcedo_jpeg_info *_Nonnull info);

/// Puts the parts of the ICC profile together: `icc_size` bytes. To be called when the header has just been read.
void alcedo_jpeg_copy_profile(const alcedo_jpeg_decoder *_Nonnull decoder, uint8_t *_Nonnull out);

/// Gives the size of the output when the DCT scales by `eighths` / 8 (1 to 8), and keeps that choice.
alcedo_jpeg_status alcedo_jpeg_set_scale(
    alcedo_jpeg_decoder *_Nonnull decoder, uint32_t eighths, uint32_t *_Nonnull width, uint32_t *_Nonnull height);

/// Prepares for rows: of one byte a pixel when `is_gray` is not 0, which gray files allow, otherwise R, G, B, 255. An
/// image in several scans is read to its end, except by a stream.
alcedo_jpeg_status alcedo_jpeg_start(alcedo_jpeg_decoder *_Nonnull decoder, int is_gray);

/// Writes the next rows, `stride` bytes apart, at most `capacity` of them, and says how many in `count`, also when it
/// fails. Fewer when bytes are missing.
alcedo_jpeg_status alcedo_jpeg_read_rows(
    alcedo_jpeg_decoder *_Nonnull decoder, uint8_t *_Nonnull out, size_t stride, size_t capacity,
    size_t *_Nonnull count);

/// Reads to the end of the image. Fails as corrupt when pixels were lost on the way.
alcedo_jpeg_status alcedo_jpeg_finish(alcedo_jpeg_decoder *_Nonnull decoder);

// Of a stream in several scans, which alcedo_jpeg_start has prepared:

/// Reads scans. OK when the image's end has been reached. `complete` is how many scans are.
alcedo_jpeg_status alcedo_jpeg_consume(alcedo_jpeg_decoder *_Nonnull decoder, uint32_t *_Nonnull complete);

/// Begins to output what the scans up to this one, a complete one, have brought; then come all rows, then
/// alcedo_jpeg_end_output.
alcedo_jpeg_status alcedo_jpeg_begin_output(alcedo_jpeg_decoder *_Nonnull decoder, uint32_t scan);

alcedo_jpeg_status alcedo_jpeg_end_output(alcedo_jpeg_decoder *_Nonnull decoder);

/// The last error in libjpeg's words; empty when there was none.
const char *_Nonnull alcedo_jpeg_message(const alcedo_jpeg_decoder *_Nonnull decoder);

typedef struct alcedo_jpeg_encoder alcedo_jpeg_encoder;

typedef struct {
    uint32_t width;
    uint32_t height;
    /// 1: rows of one byte a pixel; 0: of red, green, blue and a byte that does not count.
    int is_gray;
    /// 1 to 100.
    int quality;
    /// Luminance samples for each of chrominance, 1 or 2 in each direction.
    int horizontal_subsampling;
    int vertical_subsampling;
    int is_progressive;
    int optimizes;
    const uint8_t *_Nullable icc;
    size_t icc_size;
    /// From the TIFF header on, at most 65527 bytes.
    const uint8_t *_Nullable exif;
    size_t exif_size;
} alcedo_jpeg_settings;

/// NULL: out of memory.
alcedo_jpeg_encoder *_Nullable alcedo_jpeg_encoder_create(void);
void alcedo_jpeg_encoder_destroy(alcedo_jpeg_encoder *_Nonnull encoder);
alcedo_jpeg_status alcedo_jpeg_encoder_begin(
    alcedo_jpeg_encoder *_Nonnull encoder, const alcedo_jpeg_settings *_Nonnull settings);
alcedo_jpeg_status alcedo_jpeg_encoder_write(
    alcedo_jpeg_encoder *_Nonnull encoder, const uint8_t *_Nonnull rows, size_t stride, size_t count);
alcedo_jpeg_status alcedo_jpeg_encoder_finish(alcedo_jpeg_encoder *_Nonnull encoder);

/// How many encoded bytes have not been taken yet.
size_t alcedo_jpeg_encoder_pending(const alcedo_jpeg_encoder *_Nonnull encoder);

/// The encoded bytes that have not been taken yet; they stay where they are until the next call.
const uint8_t *_Nullable alcedo_jpeg_encoder_take(alcedo_jpeg_encoder *_Nonnull encoder, size_t *_Nonnull count);
const char *_Nonnull alcedo_jpeg_encoder_message(const alcedo_jpeg_encoder *_Nonnull encoder);

#endif
