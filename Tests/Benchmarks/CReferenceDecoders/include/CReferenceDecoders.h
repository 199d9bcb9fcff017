// The plain C loops over the codec libraries, written as in the libraries' manuals, that the decoders are compared
// with. Each function decodes into its own memory and discards the pixels. It returns the number of pixels, or 0 on any
// error.
#ifndef ALCEDO_CREFERENCEDECODERS_H
#define ALCEDO_CREFERENCEDECODERS_H

#include <stddef.h>
#include <stdint.h>

size_t alcedo_reference_decode_png(const uint8_t *_Nonnull bytes, size_t count);
/// Decodes an image with libspng. Returns 0 when libspng is not installed.
size_t alcedo_reference_decode_png_with_libspng(const uint8_t *_Nonnull bytes, size_t count);
size_t alcedo_reference_decode_jpeg(const uint8_t *_Nonnull bytes, size_t count);
/// Decodes a JPEG row by row at the scale that the decoder of the package uses for a photo whose thumbnail has `side`
/// pixels on its longer side. Returns the number of pixels of the reduced image.
size_t alcedo_reference_reduce_jpeg(const uint8_t *_Nonnull bytes, size_t count, size_t side);
/// Decodes every image onto one canvas, without any disposal. Returns the number of pixels of all images.
size_t alcedo_reference_decode_gif(const uint8_t *_Nonnull bytes, size_t count);
/// Decodes at most `limit` images as above.
size_t alcedo_reference_decode_gif_frames(const uint8_t *_Nonnull bytes, size_t count, size_t limit);
/// Decodes a still image.
size_t alcedo_reference_decode_webp(const uint8_t *_Nonnull bytes, size_t count);
/// Composites at most `limit` frames of an animation. Returns the number of pixels of their canvases.
size_t alcedo_reference_decode_webp_frames(const uint8_t *_Nonnull bytes, size_t count, size_t limit);
/// Decodes every frame on one thread. Returns the number of pixels of all frames. Only with the package trait AVIF.
size_t alcedo_reference_decode_avif(const uint8_t *_Nonnull bytes, size_t count);
/// Decodes a still image with libheif on one thread. Only with the package trait HEIF.
size_t alcedo_reference_decode_heif(const uint8_t *_Nonnull bytes, size_t count);
/// Decodes every frame on one thread. Returns the number of pixels of all frames. Only with the package trait JXL.
size_t alcedo_reference_decode_jxl(const uint8_t *_Nonnull bytes, size_t count);
/// Draws a document with a size at this size, and converts it to straight RGBA. Only with the package trait SVG.
size_t alcedo_reference_decode_svg(const uint8_t *_Nonnull bytes, size_t count);
/// Draws a document so that its longer side has `side` pixels, as `rsvg-convert` does. Only with the package trait SVG.
size_t alcedo_reference_draw_svg(const uint8_t *_Nonnull bytes, size_t count, size_t side);
/// Reads files and the headers of their images: JPEG, PNG, WebP and GIF. Writes a line for each into a file, as
/// `vipsheader` does. Returns the number of lines.
size_t alcedo_reference_print_headers(
    char *_Nullable const *_Nonnull paths, size_t count, const char *_Nonnull output);

#endif
