// Without the trait AVIF, the package builds without libavif.
#ifdef ALCEDO_AVIF
#include "CReferenceDecoders.h"

#include <avif/avif.h>
#include <stdlib.h>

/// Converts the current frame. Returns its number of pixels, or 0 on any error.
static size_t convert_frame(const avifImage *image) {
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.depth = 8;
    rgb.format = AVIF_RGB_FORMAT_RGBA;
    rgb.rowBytes = image->width * 4;
    rgb.pixels = malloc((size_t)rgb.rowBytes * image->height);
    const int is_converted = rgb.pixels && avifImageYUVToRGB(image, &rgb) == AVIF_RESULT_OK;
    free(rgb.pixels);
    return is_converted ? (size_t)image->width * image->height : 0;
}

size_t alcedo_reference_decode_avif(const uint8_t *bytes, size_t count) {
    avifDecoder *decoder = avifDecoderCreate();
    if (!decoder) return 0;
    decoder->maxThreads = 1;
    // As in the decoder that is compared, files are not rejected for rules that only the strict mode checks.
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    size_t result = 0;
    avifResult status = avifDecoderSetIOMemory(decoder, bytes, count);
    if (status == AVIF_RESULT_OK) status = avifDecoderParse(decoder);
    while (status == AVIF_RESULT_OK) {
        status = avifDecoderNextImage(decoder);
        if (status != AVIF_RESULT_OK) break;
        const size_t pixels = convert_frame(decoder->image);
        if (!pixels) break;
        result += pixels;
    }
    avifDecoderDestroy(decoder);
    return status == AVIF_RESULT_NO_IMAGES_REMAINING ? result : 0;
}
#endif
