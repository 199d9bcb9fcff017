// Plain functions over giflib.
#ifndef ALCEDO_GIF_SHIM_H
#define ALCEDO_GIF_SHIM_H

#include <stddef.h>
#include <stdint.h>

/// Writes a GIF to memory. One thread at a time.
typedef struct alcedo_gif_encoder alcedo_gif_encoder;

/// One image, where it lies on the canvas, and how it is shown.
typedef struct {
    uint32_t left;
    uint32_t top;
    uint32_t width;
    uint32_t height;
    /// Tightly packed palette indices, width * height of them. giflib masks them in place, which changes none that the
    /// palette has.
    uint8_t *_Nonnull indices;
    /// Red, green and blue of each color, 1 to 256 of them.
    const uint8_t *_Nonnull palette;
    uint32_t color_count;
    /// -1 when no index is transparent.
    int32_t transparent_index;
    /// As in GIF89a section 23.
    uint32_t disposal;
    /// In hundredths of a second, at most 65535.
    uint32_t delay;
} alcedo_gif_image;

/// Returns NULL when there is no memory.
alcedo_gif_encoder *_Nullable alcedo_gif_encoder_create(void);

void alcedo_gif_encoder_destroy(alcedo_gif_encoder *_Nonnull encoder);

/// Writes the header. `loop_count` is that of the NETSCAPE2.0 extension, -1 for none. `icc` may be NULL. All functions
/// return 0 when they fail.
int alcedo_gif_encoder_begin(
    alcedo_gif_encoder *_Nonnull encoder, uint32_t width, uint32_t height, int32_t loop_count,
    const uint8_t *_Nullable icc, size_t icc_size);

int alcedo_gif_encoder_add(alcedo_gif_encoder *_Nonnull encoder, const alcedo_gif_image *_Nonnull image);

/// Writes the trailer. The bytes belong to the caller, who frees them by `alcedo_gif_free`.
int alcedo_gif_encoder_finish(
    alcedo_gif_encoder *_Nonnull encoder, uint8_t *_Nullable *_Nonnull bytes, size_t *_Nonnull count);

void alcedo_gif_free(uint8_t *_Nullable bytes);

/// What the library says of the last failure.
const char *_Nonnull alcedo_gif_encoder_message(const alcedo_gif_encoder *_Nonnull encoder);

#endif
