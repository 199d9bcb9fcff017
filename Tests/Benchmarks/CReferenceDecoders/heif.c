// Without the trait HEIF, the package builds without libheif.
#ifdef ALCEDO_HEIF
#include "CReferenceDecoders.h"

#include <libheif/heif.h>

/// Decodes the image of a handle as it is stored. Returns its number of pixels, or 0 on any error.
static size_t decode_handle(const struct heif_image_handle *handle) {
    struct heif_decoding_options *options = heif_decoding_options_alloc();
    if (!options) return 0;
    // As in the decoder that is compared, the orientation is not applied.
    options->ignore_transformations = 1;
    options->convert_hdr_to_8bit = 1;
    struct heif_image *image = NULL;
    const struct heif_error error =
        heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, options);
    heif_decoding_options_free(options);
    if (error.code != heif_error_Ok || !image) return 0;
    const int width = heif_image_get_primary_width(image);
    const int height = heif_image_get_primary_height(image);
    heif_image_release(image);
    return width > 0 && height > 0 ? (size_t)width * (size_t)height : 0;
}

size_t alcedo_reference_decode_heif(const uint8_t *bytes, size_t count) {
    struct heif_context *context = heif_context_alloc();
    if (!context) return 0;
    heif_context_set_max_decoding_threads(context, 0);
    struct heif_image_handle *handle = NULL;
    struct heif_error error = heif_context_read_from_memory_without_copy(context, bytes, count, NULL);
    if (error.code == heif_error_Ok) error = heif_context_get_primary_image_handle(context, &handle);
    const size_t result = error.code == heif_error_Ok && handle ? decode_handle(handle) : 0;
    if (handle) heif_image_handle_release(handle);
    heif_context_free(context);
    return result;
}
#endif
