// Functions over giflib for Swift.
#ifndef ALCEDO_GIF_SHIM_H
#define ALCEDO_GIF_SHIM_H

#include <stddef.h>
#include <stdint.h>

/// An encoder that writes a GIF to memory. Only one thread may use it at a time.
typedef struct alcedo_gif_encoder alcedo_gif_encoder;

/// One image to write.
typedef struct {
    uint32_t left;
    uint32_t top;
    uint32_t width;
    uint32_t height;
    /// The palette indices, `width * height` bytes without padding. giflib masks them in place, which does not change
    /// an index that the palette contains.
    uint8_t *_Nonnull indices;
    /// The red, green and blue bytes of 1 to 256 colors.
    const uint8_t *_Nonnull palette;
    uint32_t color_count;
    /// The transparent index, or -1 for none.
    int32_t transparent_index;
    /// The disposal method. Source: GIF89a section 23.
    uint32_t disposal;
    /// The delay in hundredths of a second, at most 65,535.
    uint32_t delay;
    /// Returns whether the caller was canceled. Called for each row; the image is then not written, which is a failure.
    /// With NULL, the caller is never canceled.
    int (*_Nullable is_canceled)(void);
} alcedo_gif_image;

/// Creates an encoder of a file with at most `limit` bytes. Returns NULL when memory is exhausted.
alcedo_gif_encoder *_Nullable alcedo_gif_encoder_create(size_t limit);

void alcedo_gif_encoder_destroy(alcedo_gif_encoder *_Nonnull encoder);

/// Writes the header and the extensions for the whole file. `loop_count` is the loop count of the NETSCAPE2.0
/// extension, or -1 for no extension. `icc` and `xmp` may be NULL. Like `alcedo_gif_encoder_add` and
/// `alcedo_gif_encoder_finish`, returns 0 on failure.
int alcedo_gif_encoder_begin(
    alcedo_gif_encoder *_Nonnull encoder, uint32_t width, uint32_t height, int32_t loop_count,
    const uint8_t *_Nullable icc, size_t icc_size, const uint8_t *_Nullable xmp, size_t xmp_size);

int alcedo_gif_encoder_add(alcedo_gif_encoder *_Nonnull encoder, const alcedo_gif_image *_Nonnull image);

/// Writes the trailer. Afterwards, even on failure, nothing more can be written. On success, the caller owns the bytes
/// and frees them with `alcedo_gif_free`.
int alcedo_gif_encoder_finish(
    alcedo_gif_encoder *_Nonnull encoder, uint8_t *_Nullable *_Nonnull bytes, size_t *_Nonnull count);

/// Whether a call failed because the file would have more bytes than the limit.
int alcedo_gif_encoder_is_full(const alcedo_gif_encoder *_Nonnull encoder);

void alcedo_gif_free(uint8_t *_Nullable bytes);

/// Returns giflib's message for the last error, or a general message if giflib has none.
const char *_Nonnull alcedo_gif_encoder_message(const alcedo_gif_encoder *_Nonnull encoder);

#endif
