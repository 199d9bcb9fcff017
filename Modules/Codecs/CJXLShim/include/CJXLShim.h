// Functions over libjxl for Swift. They hide the differences between libjxl 0.7 and 0.11.
#ifndef ALCEDO_CJXLSHIM_H
#define ALCEDO_CJXLSHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct alcedo_jxl_decoder alcedo_jxl_decoder;
typedef struct alcedo_jxl_encoder alcedo_jxl_encoder;

typedef enum {
    ALCEDO_JXL_OK = 0,
    /// The next bytes of the file are needed.
    ALCEDO_JXL_TRUNCATED,
    ALCEDO_JXL_CORRUPT,
    ALCEDO_JXL_UNSUPPORTED,
    ALCEDO_JXL_OUT_OF_MEMORY,
    /// libjxl requested more memory than the limit.
    ALCEDO_JXL_EXCEEDS_LIMIT,
    /// A pass of a progressive image is complete. The image is not.
    ALCEDO_JXL_PASS,
    /// There are no more frames.
    ALCEDO_JXL_END,
} alcedo_jxl_status;

/// The samples of a row. 16-bit samples have native byte order.
typedef enum {
    ALCEDO_JXL_GRAY8 = 0,
    ALCEDO_JXL_RGBA8,
    ALCEDO_JXL_RGBA16,
    ALCEDO_JXL_GRAY16,
} alcedo_jxl_format;

/// The purpose of a decoder.
typedef enum {
    /// Reads the header and the layers of the frames, without pixels.
    ALCEDO_JXL_LAYERS = 0,
    /// Decodes whole frames.
    ALCEDO_JXL_PIXELS,
    /// Decodes frames and reports each pass of a progressive image.
    ALCEDO_JXL_PASSES,
    /// Reconstructs the JPEG file.
    ALCEDO_JXL_RECONSTRUCTION,
} alcedo_jxl_purpose;

typedef struct {
    alcedo_jxl_purpose purpose;
    /// The maximum number of bytes that libjxl may hold until the header is read. libjxl before 0.11 allocates
    /// pixels without the allocator that counts them.
    size_t memory_limit;
    /// The maximum number of bytes of an ICC profile. A larger one is ignored.
    size_t profile_limit;
    /// The number of threads, at least 1.
    int threads;
} alcedo_jxl_decoder_settings;

typedef struct {
    /// The size of the stored rows.
    uint32_t width;
    uint32_t height;
    /// The number of bits per sample of the file.
    uint32_t depth;
    int is_gray;
    int has_alpha;
    /// Whether the file has a black channel. The color channels are then the other inks.
    int has_black;
    /// The number of channels besides color, such as alpha.
    uint32_t extra_count;
    /// The orientation of the stored rows, as in EXIF.
    int orientation;
    int is_animated;
    /// The number of plays as stored; 0 repeats forever.
    uint32_t play_count;
    /// The number of units per second in durations is the quotient of both.
    uint32_t ticks_numerator;
    uint32_t ticks_denominator;
    /// Whether decoded samples are in sRGB.
    int is_srgb;
    /// The code points of ITU-T H.273 for the primaries and the transfer function of decoded samples, when the function
    /// is PQ or HLG and the white point is D65; otherwise 0.
    uint8_t hdr_primaries;
    uint8_t hdr_transfer;
    /// Whether the file has a profile that is not an enumerated color space.
    int has_profile;
    // The following pointers are NULL when there is no profile within the limit. Their bytes belong to the decoder.
    /// The profile of decoded samples.
    const uint8_t *_Nullable samples_icc;
    size_t samples_icc_size;
    /// The profile of the file.
    const uint8_t *_Nullable file_icc;
    size_t file_icc_size;
} alcedo_jxl_info;

typedef struct {
    /// The size of the layer, or of the canvas for a decoder of pixels.
    uint32_t width;
    uint32_t height;
    /// In units of the animation header.
    uint32_t duration;
    /// Whether the frame is shown, rather than drawn below the next one.
    int is_shown;
    int is_last;
} alcedo_jxl_frame;

/// Creates a decoder whose bytes are passed with alcedo_jxl_feed. Returns NULL when memory is exhausted.
alcedo_jxl_decoder *_Nullable alcedo_jxl_create(const alcedo_jxl_decoder_settings *_Nonnull settings);

void alcedo_jxl_destroy(alcedo_jxl_decoder *_Nonnull decoder);

/// Passes all bytes received so far. Bytes passed earlier may have moved. They must stay until the next call.
void alcedo_jxl_feed(alcedo_jxl_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count);

/// Reads the header of the file. Allocates no memory for pixels.
alcedo_jxl_status alcedo_jxl_read_header(alcedo_jxl_decoder *_Nonnull decoder, alcedo_jxl_info *_Nonnull info);

/// Sets the maximum number of bytes that libjxl may hold.
void alcedo_jxl_set_memory_limit(alcedo_jxl_decoder *_Nonnull decoder, size_t limit);

/// The maximum numbers of pixels of frames.
typedef struct {
    /// The limit of a layer.
    uint64_t layer;
    /// The limit of a frame that is not a layer, but only referred to.
    uint64_t hidden;
    /// The limit of a shown frame together with those since the previous shown frame.
    uint64_t total;
} alcedo_jxl_frame_limits;

typedef struct alcedo_jxl_frame_check alcedo_jxl_frame_check;

/// Creates a check of the sizes of frames. Returns NULL when memory is exhausted.
alcedo_jxl_frame_check *_Nullable alcedo_jxl_frame_check_create(alcedo_jxl_frame_limits limits);

void alcedo_jxl_frame_check_destroy(alcedo_jxl_frame_check *_Nonnull check);

/// Returns the offset in the codestream of the bytes that alcedo_jxl_check_frames expects next.
size_t alcedo_jxl_frame_check_offset(const alcedo_jxl_frame_check *_Nonnull check);

/// Returns whether no more bytes are checked.
int alcedo_jxl_frame_check_is_complete(const alcedo_jxl_frame_check *_Nonnull check);

/// Checks the frames of a codestream, or of the beginning of one, from the offset of the check. Must be called before
/// the bytes are decoded.
///
/// Returns ALCEDO_JXL_EXCEEDS_LIMIT when frames exceed the limits. After a frame whose sections have a coded order,
/// the sizes of frames are unknown: returns ALCEDO_JXL_UNSUPPORTED in libjxl before 0.11, whose allocator has no limit
/// for pixels. Damaged frames are left to libjxl.
alcedo_jxl_status alcedo_jxl_check_frames(
    alcedo_jxl_frame_check *_Nonnull check, const uint8_t *_Nonnull bytes, size_t count);

/// Returns the number of passed bytes that libjxl has not consumed. The bytes are then released.
size_t alcedo_jxl_remaining(alcedo_jxl_decoder *_Nonnull decoder);

/// Skips frames that are shown. Must be called before the next frame is read.
void alcedo_jxl_skip_frames(alcedo_jxl_decoder *_Nonnull decoder, size_t count);

/// Reads the header of the next layer, or, in a decoder of pixels, of the next frame.
alcedo_jxl_status alcedo_jxl_next_frame(alcedo_jxl_decoder *_Nonnull decoder, alcedo_jxl_frame *_Nonnull frame);

/// Decodes the frame whose header was read. Writes its rows `stride` bytes apart, where `stride` is the row size
/// rounded up to a multiple of 64. `out` must stay until the frame is complete. Color is straight. The inks of a file
/// with a black channel are converted to RGB. Gray rows require a gray file without alpha. In 8-bit rows, samples of 16
/// bits lose their low byte, and other deeper samples are rounded.
///
/// Returns ALCEDO_JXL_PASS and ALCEDO_JXL_TRUNCATED before the frame is complete. The call can then be repeated.
alcedo_jxl_status alcedo_jxl_read_pixels(
    alcedo_jxl_decoder *_Nonnull decoder, alcedo_jxl_format format, void *_Nonnull out, size_t capacity);

/// Writes the pixels that can be decoded from the bytes received so far. Returns whether there are any.
int alcedo_jxl_flush(alcedo_jxl_decoder *_Nonnull decoder);

/// Returns whether every alpha sample of the rows has its maximum.
int alcedo_jxl_is_opaque(
    const void *_Nonnull rows, uint32_t width, uint32_t height, size_t stride, alcedo_jxl_format format);

/// Writes the reconstructed JPEG file, and sets `written` to its number of bytes. Returns ALCEDO_JXL_PASS when it has
/// more than `capacity`. The call can then be repeated with a larger capacity. Returns ALCEDO_JXL_UNSUPPORTED when the
/// file has no JPEG data.
alcedo_jxl_status alcedo_jxl_read_jpeg(
    alcedo_jxl_decoder *_Nonnull decoder, uint8_t *_Nonnull out, size_t capacity, size_t *_Nonnull written);

/// Decompresses the contents of a box of the type `brob`, without its header. Sets `size` to the number of bytes.
/// Returns ALCEDO_JXL_EXCEEDS_LIMIT when there are more than `capacity`, and ALCEDO_JXL_CORRUPT also for contents that
/// end too early.
alcedo_jxl_status alcedo_jxl_decompress_box(
    const uint8_t *_Nonnull contents, size_t count, uint8_t *_Nonnull out, size_t capacity, size_t *_Nonnull size);

typedef struct {
    uint32_t width;
    uint32_t height;
    /// The samples of the rows that are passed.
    alcedo_jxl_format format;
    int has_alpha;
    /// Whether red, green and blue of every pixel are equal, so that only one of them is stored.
    int is_gray;
    int is_lossless;
    /// The distance of lossy compression, in units of just noticeable differences, from 0.01 to 25.
    float distance;
    /// The effort, from 1 (fastest) to 9 (smallest file).
    int effort;
    int threads;
    /// The orientation of the rows, as in EXIF.
    int orientation;
    /// Whether several frames are added. Durations are then in milliseconds.
    int is_animated;
    /// The number of plays, or 0 to repeat forever.
    uint32_t play_count;
    /// The code points of a color space of HDR, as in alcedo_jxl_info, of an image without a profile; otherwise 0.
    uint8_t hdr_primaries;
    uint8_t hdr_transfer;
    const uint8_t *_Nullable icc;
    size_t icc_size;
    /// EXIF data, starting with the TIFF header.
    const uint8_t *_Nullable exif;
    size_t exif_size;
    const uint8_t *_Nullable xmp;
    size_t xmp_size;
} alcedo_jxl_encoder_settings;

/// Creates an encoder of pixels for a file of at most `limit` bytes. The profile and the metadata are copied. Returns
/// NULL when memory is exhausted.
alcedo_jxl_encoder *_Nullable alcedo_jxl_encoder_create(int threads, size_t limit);
void alcedo_jxl_encoder_destroy(alcedo_jxl_encoder *_Nonnull encoder);

/// Sets the properties of the image, before frames are added.
alcedo_jxl_status alcedo_jxl_encoder_begin(
    alcedo_jxl_encoder *_Nonnull encoder, const alcedo_jxl_encoder_settings *_Nonnull settings);

/// Adds a frame: straight rows, `stride` bytes apart, where `stride` is the row size rounded up to a multiple of 64.
/// `duration` is in milliseconds. Returns ALCEDO_JXL_EXCEEDS_LIMIT when the file has more bytes than the limit.
alcedo_jxl_status alcedo_jxl_encoder_add(
    alcedo_jxl_encoder *_Nonnull encoder, const void *_Nonnull rows, size_t size, uint32_t duration, int is_last);

/// Adds a JPEG file whose bytes can be reconstructed. Replaces alcedo_jxl_encoder_begin and alcedo_jxl_encoder_add.
alcedo_jxl_status alcedo_jxl_encoder_add_jpeg(
    alcedo_jxl_encoder *_Nonnull encoder, const uint8_t *_Nonnull bytes, size_t count, int effort);

/// Returns the encoded bytes, which the caller frees with `alcedo_jxl_free`. Returns NULL when there are none.
uint8_t *_Nullable alcedo_jxl_encoder_take(alcedo_jxl_encoder *_Nonnull encoder, size_t *_Nonnull count);

void alcedo_jxl_free(uint8_t *_Nullable bytes);

#endif
