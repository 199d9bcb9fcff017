#ifdef ALCEDO_JXL
#include "internal.h"

#include <jxl/encode.h>
#include <stdlib.h>
#include <string.h>

struct alcedo_jxl_encoder {
    JxlEncoder *encoder;
    void *runner;
    JxlEncoderFrameSettings *frame;
    JxlPixelFormat format;
    uint32_t width;
    uint32_t height;
    /// The number of bytes between the rows that are passed.
    size_t stride;
    /// The rows with only the samples that the file stores, or NULL.
    uint8_t *samples;
    size_t sample_stride;
    int is_animated;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    size_t limit;
};

alcedo_jxl_encoder *alcedo_jxl_encoder_create(int threads, size_t limit) {
    alcedo_jxl_encoder *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->limit = limit;
    e->encoder = JxlEncoderCreate(NULL);
    if (e->encoder) e->frame = JxlEncoderFrameSettingsCreate(e->encoder, NULL);
    if (e->frame && threads > 1) {
        e->runner = JxlThreadParallelRunnerCreate(NULL, (size_t)threads);
        if (e->runner) JxlEncoderSetParallelRunner(e->encoder, JxlThreadParallelRunner, e->runner);
    }
    if (!e->frame) {
        alcedo_jxl_encoder_destroy(e);
        return NULL;
    }
    return e;
}

void alcedo_jxl_encoder_destroy(alcedo_jxl_encoder *e) {
    if (e->encoder) JxlEncoderDestroy(e->encoder);
    if (e->runner) JxlThreadParallelRunnerDestroy(e->runner);
    free(e->bytes);
    free(e->samples);
    free(e);
}

static alcedo_jxl_status failure(const alcedo_jxl_encoder *e) {
    switch (JxlEncoderGetError(e->encoder)) {
    case JXL_ENC_ERR_OOM:
        return ALCEDO_JXL_OUT_OF_MEMORY;
    case JXL_ENC_ERR_JBRD:
    case JXL_ENC_ERR_NOT_SUPPORTED:
        return ALCEDO_JXL_UNSUPPORTED;
    default:
        return ALCEDO_JXL_CORRUPT;
    }
}

/// Whether the file has no color: gray rows, or rows with color and alpha that are gray.
static int is_gray(const alcedo_jxl_encoder_settings *settings) {
    return settings->is_gray || alcedo_jxl_is_gray(settings->format);
}

/// Sets the size, the samples, the orientation and the animation.
static int set_basic_info(alcedo_jxl_encoder *e, const alcedo_jxl_encoder_settings *settings) {
    JxlBasicInfo info;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = settings->width;
    info.ysize = settings->height;
    info.bits_per_sample = alcedo_jxl_is_deep(settings->format) ? 16 : 8;
    info.num_color_channels = is_gray(settings) ? 1 : 3;
    if (settings->has_alpha) {
        info.num_extra_channels = 1;
        info.alpha_bits = info.bits_per_sample;
    }
    info.orientation = (JxlOrientation)settings->orientation;
    // Lossy compression converts the samples to another color space.
    info.uses_original_profile = settings->is_lossless ? JXL_TRUE : JXL_FALSE;
    // The luminance of the largest sample in cd/m². Source: ITU-R BT.2100.
    if (settings->hdr_transfer == JXL_TRANSFER_FUNCTION_PQ) info.intensity_target = 10000;
    if (settings->hdr_transfer == JXL_TRANSFER_FUNCTION_HLG) info.intensity_target = 1000;
    if (settings->is_animated) {
        info.have_animation = JXL_TRUE;
        info.animation.tps_numerator = 1000;
        info.animation.tps_denominator = 1;
        info.animation.num_loops = settings->play_count;
    }
    return JxlEncoderSetBasicInfo(e->encoder, &info) == JXL_ENC_SUCCESS;
}

static int set_color(alcedo_jxl_encoder *e, const alcedo_jxl_encoder_settings *settings) {
    // A profile that libjxl cannot read is omitted.
    if (settings->icc &&
        JxlEncoderSetICCProfile(e->encoder, settings->icc, settings->icc_size) == JXL_ENC_SUCCESS) {
        return 1;
    }
    JxlColorEncoding color;
    JxlColorEncodingSetToSRGB(&color, is_gray(settings));
    if (settings->hdr_transfer) {
        color.primaries =
            settings->hdr_primaries == 12 ? JXL_PRIMARIES_P3 : (JxlPrimaries)settings->hdr_primaries;
        color.transfer_function = (JxlTransferFunction)settings->hdr_transfer;
        color.rendering_intent = JXL_RENDERING_INTENT_RELATIVE;
    }
    return JxlEncoderSetColorEncoding(e->encoder, &color) == JXL_ENC_SUCCESS;
}

/// Adds the boxes with EXIF data, after the four bytes that state where it begins, and XMP.
static alcedo_jxl_status add_boxes(alcedo_jxl_encoder *e, const alcedo_jxl_encoder_settings *settings) {
    if (!settings->exif && !settings->xmp) return ALCEDO_JXL_OK;
    uint8_t *contents = malloc(settings->exif_size + 4);
    if (!contents) return ALCEDO_JXL_OUT_OF_MEMORY;
    memset(contents, 0, 4);
    if (settings->exif) memcpy(contents + 4, settings->exif, settings->exif_size);
    int is_added = JxlEncoderUseBoxes(e->encoder) == JXL_ENC_SUCCESS;
    if (is_added && settings->exif) {
        is_added =
            JxlEncoderAddBox(e->encoder, "Exif", contents, settings->exif_size + 4, JXL_FALSE) == JXL_ENC_SUCCESS;
    }
    if (is_added && settings->xmp) {
        is_added = JxlEncoderAddBox(e->encoder, "xml ", settings->xmp, settings->xmp_size, JXL_FALSE) == JXL_ENC_SUCCESS;
    }
    JxlEncoderCloseBoxes(e->encoder);
    free(contents);
    return is_added ? ALCEDO_JXL_OK : failure(e);
}

static int set_compression(alcedo_jxl_encoder *e, const alcedo_jxl_encoder_settings *settings) {
    if (JxlEncoderFrameSettingsSetOption(e->frame, JXL_ENC_FRAME_SETTING_EFFORT, settings->effort) !=
        JXL_ENC_SUCCESS) {
        return 0;
    }
    if (settings->is_lossless) return JxlEncoderSetFrameLossless(e->frame, JXL_TRUE) == JXL_ENC_SUCCESS;
    if (JxlEncoderSetFrameDistance(e->frame, settings->distance) != JXL_ENC_SUCCESS) return 0;
    // Before libjxl 0.9, alpha has the distance of the color.
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
    if (settings->has_alpha && JxlEncoderSetExtraChannelDistance(e->frame, 0, 0) != JXL_ENC_SUCCESS) return 0;
#endif
    return 1;
}

alcedo_jxl_status alcedo_jxl_encoder_begin(alcedo_jxl_encoder *e, const alcedo_jxl_encoder_settings *settings) {
    e->format = alcedo_jxl_pixel_format(settings->format, settings->has_alpha);
    if (is_gray(settings)) e->format.num_channels = settings->has_alpha ? 2 : 1;
    e->width = settings->width;
    e->height = settings->height;
    e->stride = alcedo_jxl_stride(settings->format, settings->width);
    e->is_animated = settings->is_animated;
    const alcedo_jxl_status status = add_boxes(e, settings);
    if (status != ALCEDO_JXL_OK) return status;
    if (!set_basic_info(e, settings) || !set_color(e, settings) || !set_compression(e, settings)) return failure(e);
    return ALCEDO_JXL_OK;
}

/// Appends the bytes that the encoder has ready, up to the limit.
static alcedo_jxl_status collect(alcedo_jxl_encoder *e) {
    for (;;) {
        if (e->capacity - e->count < 4096) {
            const size_t capacity = e->capacity ? 2 * e->capacity : 65536;
            uint8_t *bytes = realloc(e->bytes, capacity);
            if (!bytes) return ALCEDO_JXL_OUT_OF_MEMORY;
            e->bytes = bytes;
            e->capacity = capacity;
        }
        uint8_t *next = e->bytes + e->count;
        size_t available = e->capacity - e->count;
        const JxlEncoderStatus status = JxlEncoderProcessOutput(e->encoder, &next, &available);
        e->count = (size_t)(next - e->bytes);
        if (e->count > e->limit) return ALCEDO_JXL_EXCEEDS_LIMIT;
        if (status == JXL_ENC_SUCCESS) return ALCEDO_JXL_OK;
        if (status != JXL_ENC_NEED_MORE_OUTPUT) return failure(e);
    }
}

/// Copies the samples that the file stores from rows with four samples: the color without alpha, because libjxl accepts
/// no fourth sample for an image without alpha, or one sample of color and alpha. Returns NULL when memory is
/// exhausted.
static const uint8_t *copy_samples(alcedo_jxl_encoder *e, const uint8_t *rows) {
    const size_t sample_size = e->format.data_type == JXL_TYPE_UINT16 ? 2 : 1;
    const size_t count = e->format.num_channels;
    e->sample_stride = alcedo_jxl_aligned(count * sample_size * e->width);
    if (!e->samples) e->samples = calloc(e->height, e->sample_stride);
    if (!e->samples) return NULL;
    for (size_t y = 0; y < e->height; y++) {
        const uint8_t *source = rows + y * e->stride;
        uint8_t *target = e->samples + y * e->sample_stride;
        for (size_t x = 0; x < e->width; x++) {
            if (count == 3) {
                memcpy(target, source, 3 * sample_size);
            } else {
                memcpy(target, source, sample_size);
                memcpy(target + sample_size, source + 3 * sample_size, sample_size);
            }
            target += count * sample_size;
            source += 4 * sample_size;
        }
    }
    return e->samples;
}

alcedo_jxl_status alcedo_jxl_encoder_add(
    alcedo_jxl_encoder *e, const void *rows, size_t size, uint32_t duration, int is_last) {
    if (size / e->stride < e->height) return ALCEDO_JXL_UNSUPPORTED;
    if (e->is_animated) {
        JxlFrameHeader header;
        JxlEncoderInitFrameHeader(&header);
        header.duration = duration;
        if (JxlEncoderSetFrameHeader(e->frame, &header) != JXL_ENC_SUCCESS) return failure(e);
    }
    const void *samples = rows;
    size_t sample_count = e->stride * e->height;
    if (e->format.num_channels == 3 || e->format.num_channels == 2) {
        samples = copy_samples(e, rows);
        if (!samples) return ALCEDO_JXL_OUT_OF_MEMORY;
        sample_count = e->sample_stride * e->height;
    }
    if (JxlEncoderAddImageFrame(e->frame, &e->format, samples, sample_count) != JXL_ENC_SUCCESS) return failure(e);
    if (is_last) JxlEncoderCloseInput(e->encoder);
    // The bytes are taken after each frame, because libjxl keeps the pixels of frames that are not yet encoded.
    return collect(e);
}

alcedo_jxl_status alcedo_jxl_encoder_add_jpeg(
    alcedo_jxl_encoder *e, const uint8_t *bytes, size_t count, int effort) {
    if (JxlEncoderStoreJPEGMetadata(e->encoder, JXL_TRUE) != JXL_ENC_SUCCESS ||
        JxlEncoderFrameSettingsSetOption(e->frame, JXL_ENC_FRAME_SETTING_EFFORT, effort) != JXL_ENC_SUCCESS ||
        JxlEncoderAddJPEGFrame(e->frame, bytes, count) != JXL_ENC_SUCCESS) {
        return failure(e);
    }
    JxlEncoderCloseInput(e->encoder);
    return collect(e);
}

uint8_t *alcedo_jxl_encoder_take(alcedo_jxl_encoder *e, size_t *count) {
    uint8_t *bytes = e->bytes;
    *count = e->count;
    e->bytes = NULL;
    e->count = e->capacity = 0;
    return bytes;
}

void alcedo_jxl_free(uint8_t *bytes) { free(bytes); }
#endif
