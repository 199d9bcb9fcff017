#ifdef ALCEDO_AVIF
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct alcedo_avif_encoder {
    avifEncoder *encoder;
    /// The image that holds the metadata and the planes of the current frame.
    avifImage *image;
    avifRWData output;
    alcedo_avif_encoder_settings settings;
    const char *message;
};

static alcedo_avif_status status(alcedo_avif_encoder *e, avifResult result) {
    if (result != AVIF_RESULT_OK) {
        e->message = e->encoder->diag.error[0] ? e->encoder->diag.error : avifResultToString(result);
    }
    return alcedo_avif_status_of(result);
}

/// Copies the profile, the EXIF data and the XMP packet. Returns 0 when memory is exhausted.
static int set_metadata(avifImage *image, const alcedo_avif_encoder_settings *settings) {
#if AVIF_VERSION >= 1000000  // libavif 1.0 returns a result
    if (settings->icc && avifImageSetProfileICC(image, settings->icc, settings->icc_size) != AVIF_RESULT_OK) return 0;
#else
    if (settings->icc) avifImageSetProfileICC(image, settings->icc, settings->icc_size);
#endif
    if (settings->exif) {
        // avifImageSetMetadataExif() would also take the orientation from the data, and fail for invalid data.
        (void)avifRWDataSet(&image->exif, settings->exif, settings->exif_size);
        if (image->exif.size != settings->exif_size) return 0;
    }
    if (settings->xmp) {
        (void)avifRWDataSet(&image->xmp, settings->xmp, settings->xmp_size);
        if (image->xmp.size != settings->xmp_size) return 0;
    }
    if (settings->rotation) {
        image->transformFlags |= AVIF_TRANSFORM_IROT;
        image->irot.angle = (uint8_t)settings->rotation;
    }
    if (settings->mirror >= 0) {
        image->transformFlags |= AVIF_TRANSFORM_IMIR;
#if AVIF_VERSION >= 1000000  // libavif 1.0 renamed the member
        image->imir.axis = (uint8_t)settings->mirror;
#else
        image->imir.mode = (uint8_t)settings->mirror;
#endif
    }
    return 1;
}

/// Whether the file has no color: gray rows, or rows with color and alpha that are gray.
static int is_gray(const alcedo_avif_encoder_settings *settings) {
    return settings->is_gray || settings->format == ALCEDO_AVIF_GRAY8 || settings->format == ALCEDO_AVIF_GRAY16;
}

static avifPixelFormat planes_of(const alcedo_avif_encoder_settings *settings) {
    if (is_gray(settings)) return AVIF_PIXEL_FORMAT_YUV400;
    return settings->is_subsampled && !settings->is_rgb ? AVIF_PIXEL_FORMAT_YUV420 : AVIF_PIXEL_FORMAT_YUV444;
}

/// Sets the code points of the image.
static void set_color(avifImage *image, const alcedo_avif_encoder_settings *settings) {
    const int has_profile = settings->icc != NULL;
    image->yuvRange = AVIF_RANGE_FULL;
    image->colorPrimaries = has_profile ? AVIF_COLOR_PRIMARIES_UNSPECIFIED : AVIF_COLOR_PRIMARIES_BT709;
    image->transferCharacteristics =
        has_profile ? AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED : AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
    if (!has_profile && settings->transfer) {
        image->colorPrimaries = settings->primaries;
        image->transferCharacteristics = settings->transfer;
        // Decoders of video support no other matrix with these primaries.
        if (settings->primaries == AVIF_COLOR_PRIMARIES_BT2020) {
            image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT2020_NCL;
        }
    }
    if (settings->is_rgb) image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_IDENTITY;
}

alcedo_avif_encoder *alcedo_avif_encoder_create(const alcedo_avif_encoder_settings *settings) {
    alcedo_avif_encoder *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->message = "";
    e->settings = *settings;
    e->encoder = avifEncoderCreate();
    e->image = avifImageCreate(settings->width, settings->height, settings->depth, planes_of(settings));
    if (!e->encoder || !e->image || !set_metadata(e->image, settings)) {
        alcedo_avif_encoder_destroy(e);
        return NULL;
    }
    set_color(e->image, settings);
    avifEncoder *encoder = e->encoder;
    encoder->maxThreads = settings->threads;
    // From speed 7, libavif encodes sequences with the real-time mode of libaom. That is not exactly lossless, and
    // libaom 3.6 ends the process: at speed 7 by an invalid access, and above by an assertion in the 11th frame.
    encoder->speed = settings->is_sequence && settings->speed > 6 ? 6 : settings->speed;
    // Equal bounds fix the quantizer. libavif 1.x derives its quality from their mean.
    encoder->minQuantizer = encoder->maxQuantizer = settings->quantizer;
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_LOSSLESS;
    encoder->autoTiling = settings->threads > 1 ? AVIF_TRUE : AVIF_FALSE;
    if (settings->is_sequence) {
        encoder->timescale = settings->timescale;
#if AVIF_VERSION >= 1000000  // libavif 1.0 writes the number of plays
        encoder->repetitionCount =
            settings->play_count ? (int)settings->play_count - 1 : AVIF_REPETITION_COUNT_INFINITE;
#endif
    }
    return e;
}

void alcedo_avif_encoder_destroy(alcedo_avif_encoder *e) {
    if (e->encoder) avifEncoderDestroy(e->encoder);
    if (e->image) avifImageDestroy(e->image);
    avifRWDataFree(&e->output);
    free(e);
}

/// Copies one sample of each pixel to a row of a plane. Samples of 16 bits are rounded to the bits of the plane.
static void copy_samples(
    const avifImage *image, const uint8_t *samples, size_t first, size_t step, int is_deep, uint8_t *row) {
    const uint32_t maximum = (1u << image->depth) - 1;
    const uint16_t *deep_samples = (const uint16_t *)(const void *)samples;
    uint16_t *deep_row = (uint16_t *)(void *)row;
    for (uint32_t x = 0; x < image->width; x++) {
        const size_t position = first + x * step;
        if (!is_deep) {
            row[x] = samples[position];
        } else {
            deep_row[x] = (uint16_t)((deep_samples[position] * maximum + 32767) / 65535);
        }
    }
}

/// Copies gray rows to the luminance plane, and their alpha, if they have any, to the alpha plane.
static avifResult copy_gray(alcedo_avif_encoder *e, const uint8_t *rows, size_t stride) {
    avifImage *image = e->image;
    const alcedo_avif_format format = e->settings.format;
    const int is_deep = format == ALCEDO_AVIF_GRAY16 || format == ALCEDO_AVIF_RGBA16;
    const size_t step = format == ALCEDO_AVIF_GRAY8 || format == ALCEDO_AVIF_GRAY16 ? 1 : 4;
    const int has_alpha = e->settings.has_alpha;
    const avifResult result =
        avifImageAllocatePlanes(image, has_alpha ? AVIF_PLANES_YUV | AVIF_PLANES_A : AVIF_PLANES_YUV);
    if (result != AVIF_RESULT_OK) return result;
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *samples = rows + y * stride;
        uint8_t *row = image->yuvPlanes[AVIF_CHAN_Y] + (size_t)y * image->yuvRowBytes[AVIF_CHAN_Y];
        copy_samples(image, samples, 0, step, is_deep, row);
        if (!has_alpha) continue;
        copy_samples(image, samples, 3, step, is_deep, image->alphaPlane + (size_t)y * image->alphaRowBytes);
    }
    return AVIF_RESULT_OK;
}

static avifResult copy_color(alcedo_avif_encoder *e, const void *rows, size_t stride) {
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, e->image);
    rgb.depth = e->settings.format == ALCEDO_AVIF_RGBA16 ? 16 : 8;
    rgb.format = AVIF_RGB_FORMAT_RGBA;
    rgb.ignoreAlpha = e->settings.has_alpha ? AVIF_FALSE : AVIF_TRUE;
    // The rows are only read.
    rgb.pixels = (uint8_t *)(uintptr_t)rows;
    rgb.rowBytes = (uint32_t)stride;
    return avifImageRGBToYUV(e->image, &rgb);
}

alcedo_avif_status alcedo_avif_encoder_add(
    alcedo_avif_encoder *e, const void *rows, size_t stride, uint64_t duration) {
    if (stride > UINT32_MAX) return ALCEDO_AVIF_UNSUPPORTED;
    avifResult result = is_gray(&e->settings) ? copy_gray(e, rows, stride) : copy_color(e, rows, stride);
    if (result != AVIF_RESULT_OK) return status(e, result);
    const avifAddImageFlags flags = e->settings.is_sequence ? AVIF_ADD_IMAGE_FLAG_NONE : AVIF_ADD_IMAGE_FLAG_SINGLE;
    return status(e, avifEncoderAddImage(e->encoder, e->image, duration, flags));
}

alcedo_avif_status alcedo_avif_encoder_finish(alcedo_avif_encoder *e, uint8_t **bytes, size_t *count) {
    const alcedo_avif_status result = status(e, avifEncoderFinish(e->encoder, &e->output));
    if (result != ALCEDO_AVIF_OK) return result;
    *bytes = e->output.data;
    *count = e->output.size;
    e->output = (avifRWData){NULL, 0};
    return result;
}

void alcedo_avif_free(uint8_t *bytes) { avifFree(bytes); }

const char *alcedo_avif_encoder_message(const alcedo_avif_encoder *e) { return e->message; }
#endif
