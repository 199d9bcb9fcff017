// The plain C loops over the codec libraries, written as in the libraries' manuals, that the decoders are compared
// with. Each function decodes into its own memory and discards the pixels. It returns the number of pixels, or 0 on any
// error.
#ifndef ALCEDO_CREFERENCEDECODERS_H
#define ALCEDO_CREFERENCEDECODERS_H

#include <stddef.h>
#include <stdint.h>

size_t alcedo_reference_decode_png(const uint8_t *_Nonnull bytes, size_t count);
size_t alcedo_reference_decode_jpeg(const uint8_t *_Nonnull bytes, size_t count);
/// Decodes every image onto one canvas, without any disposal. Returns the number of pixels of all images.
size_t alcedo_reference_decode_gif(const uint8_t *_Nonnull bytes, size_t count);
/// Decodes a still image.
size_t alcedo_reference_decode_webp(const uint8_t *_Nonnull bytes, size_t count);

#endif
