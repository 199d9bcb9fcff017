#ifndef ALCEDO_GIF_SHIM_H
#define ALCEDO_GIF_SHIM_H

#include <stddef.h>
#include <stdint.h>

/// Reads the first image of a GIF from memory. One thread at a time; the bytes must outlive the decoder.
typedef struct alcedo_gif_decoder alcedo_gif_decoder;

typedef enum {
    ALCEDO_GIF_OK = 0,
    /// The bytes end before the image does.
    ALCEDO_GIF_TRUNCATED,
    ALCEDO_GIF_CORRUPT,
    /// The pixels are coded in a way that giflib does not know.
    ALCEDO_GIF_UNSUPPORTED,
    /// The trailer comes before any image.
    ALCEDO_GIF_NO_IMAGE,
    ALCEDO_GIF_OUT_OF_MEMORY
} alcedo_gif_status;

/// The first image's place on the canvas, in pixels, and how its rows are stored.
typedef struct {
    uint32_t left;
    uint32_t top;
    uint32_t width;
    uint32_t height;
    int32_t interlaced;
    /// -1 when no index is transparent.
    int32_t transparent_index;
} alcedo_gif_frame;

/// Returns NULL when there is no memory.
alcedo_gif_decoder *_Nullable alcedo_gif_create(const uint8_t *_Nonnull bytes, size_t count);

void alcedo_gif_destroy(alcedo_gif_decoder *_Nullable decoder);

/// Reads up to the first image's first row. Call it once. Allocates palettes and extensions, never pixels.
alcedo_gif_status alcedo_gif_read_header(alcedo_gif_decoder *_Nonnull decoder, alcedo_gif_frame *_Nonnull frame);

/// Writes red, green and blue of each colour of the image's palette, at most `capacity` colours. Returns the number
/// written; 0 when the file has no palette for the image.
size_t alcedo_gif_copy_palette(
    const alcedo_gif_decoder *_Nonnull decoder, uint8_t *_Nonnull rgb, size_t capacity);

/// Writes the palette indices of the next stored row. `capacity` is checked against the image's width. Fails as corrupt
/// when there are no more rows.
alcedo_gif_status alcedo_gif_read_row(
    alcedo_gif_decoder *_Nonnull decoder, uint8_t *_Nonnull indices, size_t capacity);

/// What the library says of the last failure.
const char *_Nonnull alcedo_gif_message(const alcedo_gif_decoder *_Nonnull decoder);

#endif
