#ifdef ALCEDO_JXL
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/// The alignment of the rows of a pixel buffer.
#define ROW_ALIGNMENT 64

static int wanted_events(alcedo_jxl_purpose purpose) {
    const int header = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING;
    switch (purpose) {
    case ALCEDO_JXL_LAYERS:
        return header | JXL_DEC_FRAME;
    case ALCEDO_JXL_PIXELS:
        return header | JXL_DEC_FRAME | JXL_DEC_FULL_IMAGE;
    case ALCEDO_JXL_PASSES:
        return header | JXL_DEC_FRAME | JXL_DEC_FULL_IMAGE | JXL_DEC_FRAME_PROGRESSION;
    case ALCEDO_JXL_RECONSTRUCTION:
        return header | JXL_DEC_FULL_IMAGE | JXL_DEC_JPEG_RECONSTRUCTION;
    }
    return header;
}

/// Returns whether all settings were accepted.
static int configure(alcedo_jxl_decoder *d, int threads) {
    JxlDecoder *decoder = d->decoder;
    if (JxlDecoderSubscribeEvents(decoder, wanted_events(d->purpose)) != JXL_DEC_SUCCESS) return 0;
    if (JxlDecoderSetKeepOrientation(decoder, JXL_TRUE) != JXL_DEC_SUCCESS) return 0;
    if (JxlDecoderSetUnpremultiplyAlpha(decoder, JXL_TRUE) != JXL_DEC_SUCCESS) return 0;
    if (d->purpose == ALCEDO_JXL_LAYERS && JxlDecoderSetCoalescing(decoder, JXL_FALSE) != JXL_DEC_SUCCESS) return 0;
    if (d->purpose == ALCEDO_JXL_PASSES && JxlDecoderSetProgressiveDetail(decoder, kPasses) != JXL_DEC_SUCCESS) {
        return 0;
    }
    if (threads <= 1) return 1;
    d->runner = JxlThreadParallelRunnerCreate(NULL, (size_t)threads);
    return d->runner &&
           JxlDecoderSetParallelRunner(decoder, JxlThreadParallelRunner, d->runner) == JXL_DEC_SUCCESS;
}

alcedo_jxl_decoder *alcedo_jxl_create(const alcedo_jxl_decoder_settings *settings) {
    alcedo_jxl_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->purpose = settings->purpose;
    d->profile_limit = settings->profile_limit;
    d->black_index = -1;
    alcedo_jxl_set_memory_limit(d, settings->memory_limit);
    const JxlMemoryManager manager = alcedo_jxl_memory_manager(&d->memory);
    d->decoder = JxlDecoderCreate(&manager);
    if (!d->decoder || !configure(d, settings->threads)) {
        alcedo_jxl_destroy(d);
        return NULL;
    }
    return d;
}

void alcedo_jxl_destroy(alcedo_jxl_decoder *d) {
    if (d->decoder) JxlDecoderDestroy(d->decoder);
    if (d->runner) JxlThreadParallelRunnerDestroy(d->runner);
    free(d->black);
    free(d->deep);
    free(d->samples_icc);
    free(d->file_icc);
    free(d);
}

void alcedo_jxl_feed(alcedo_jxl_decoder *d, const uint8_t *bytes, size_t count) {
    d->position = d->count - JxlDecoderReleaseInput(d->decoder);
    d->bytes = bytes;
    d->count = count;
    JxlDecoderSetInput(d->decoder, bytes + d->position, count - d->position);
}

size_t alcedo_jxl_remaining(alcedo_jxl_decoder *d) {
    const size_t rest = JxlDecoderReleaseInput(d->decoder);
    d->count = d->position = d->count - rest;
    return rest;
}

alcedo_jxl_status alcedo_jxl_failure(const alcedo_jxl_decoder *d) {
    if (d->memory.is_exhausted) return ALCEDO_JXL_OUT_OF_MEMORY;
    return d->memory.is_exceeded ? ALCEDO_JXL_EXCEEDS_LIMIT : ALCEDO_JXL_CORRUPT;
}

/// Reads the positions of the extra channels that matter.
static alcedo_jxl_status read_channels(alcedo_jxl_decoder *d, alcedo_jxl_info *info) {
    for (uint32_t index = 0; index < d->basic.num_extra_channels; index++) {
        JxlExtraChannelInfo channel;
        if (JxlDecoderGetExtraChannelInfo(d->decoder, index, &channel) != JXL_DEC_SUCCESS) {
            return alcedo_jxl_failure(d);
        }
        // A gray file has no inks.
        const int is_black = channel.type == JXL_CHANNEL_BLACK && !info->is_gray;
        if (is_black && d->black_index < 0) d->black_index = (int)index;
    }
    info->has_black = d->black_index >= 0;
    return ALCEDO_JXL_OK;
}

alcedo_jxl_status alcedo_jxl_read_header(alcedo_jxl_decoder *d, alcedo_jxl_info *info) {
    for (;;) {
        switch (JxlDecoderProcessInput(d->decoder)) {
        case JXL_DEC_BASIC_INFO:
            continue;
        case JXL_DEC_COLOR_ENCODING:
            break;
        case JXL_DEC_JPEG_RECONSTRUCTION:
            d->has_jpeg = 1;
            continue;
        case JXL_DEC_NEED_MORE_INPUT:
            return ALCEDO_JXL_TRUNCATED;
        default:
            return alcedo_jxl_failure(d);
        }
        break;
    }
    JxlBasicInfo *basic = &d->basic;
    if (JxlDecoderGetBasicInfo(d->decoder, basic) != JXL_DEC_SUCCESS) return alcedo_jxl_failure(d);
    *info = (alcedo_jxl_info){0};
    info->width = basic->xsize;
    info->height = basic->ysize;
    info->depth = basic->bits_per_sample;
    info->is_gray = basic->num_color_channels == 1;
    info->has_alpha = basic->alpha_bits > 0;
    info->extra_count = basic->num_extra_channels;
    info->orientation = (int)basic->orientation;
    info->is_animated = basic->have_animation;
    if (basic->have_animation) {
        info->play_count = basic->animation.num_loops;
        info->ticks_numerator = basic->animation.tps_numerator;
        info->ticks_denominator = basic->animation.tps_denominator;
    }
    const alcedo_jxl_status status = read_channels(d, info);
    if (status == ALCEDO_JXL_OK) alcedo_jxl_read_color(d, info);
    return status;
}

void alcedo_jxl_skip_frames(alcedo_jxl_decoder *d, size_t count) { JxlDecoderSkipFrames(d->decoder, count); }

alcedo_jxl_status alcedo_jxl_next_frame(alcedo_jxl_decoder *d, alcedo_jxl_frame *frame) {
    switch (JxlDecoderProcessInput(d->decoder)) {
    case JXL_DEC_FRAME:
        break;
    case JXL_DEC_NEED_MORE_INPUT:
        return ALCEDO_JXL_TRUNCATED;
    case JXL_DEC_SUCCESS:
        return ALCEDO_JXL_END;
    default:
        return alcedo_jxl_failure(d);
    }
    JxlFrameHeader header;
    if (JxlDecoderGetFrameHeader(d->decoder, &header) != JXL_DEC_SUCCESS) return alcedo_jxl_failure(d);
    d->has_output = 0;
    *frame = (alcedo_jxl_frame){
        .width = header.layer_info.xsize,
        .height = header.layer_info.ysize,
        .duration = header.duration,
        .is_shown = header.duration > 0 || header.is_last,
        .is_last = header.is_last,
    };
    return ALCEDO_JXL_OK;
}

int alcedo_jxl_is_gray(alcedo_jxl_format format) {
    return format == ALCEDO_JXL_GRAY8 || format == ALCEDO_JXL_GRAY16;
}

int alcedo_jxl_is_deep(alcedo_jxl_format format) {
    return format == ALCEDO_JXL_RGBA16 || format == ALCEDO_JXL_GRAY16;
}

JxlPixelFormat alcedo_jxl_pixel_format(alcedo_jxl_format format, int has_alpha) {
    return (JxlPixelFormat){
        .num_channels = alcedo_jxl_is_gray(format) ? 1 : has_alpha ? 4 : 3,
        .data_type = alcedo_jxl_is_deep(format) ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
        .endianness = JXL_NATIVE_ENDIAN,
        .align = ROW_ALIGNMENT,
    };
}

static size_t pixel_size(alcedo_jxl_format format) {
    return (alcedo_jxl_is_gray(format) ? 1 : 4) * (alcedo_jxl_is_deep(format) ? 2 : 1);
}

size_t alcedo_jxl_aligned(size_t size) { return (size + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT; }

size_t alcedo_jxl_stride(alcedo_jxl_format format, uint32_t width) {
    return alcedo_jxl_aligned(width * pixel_size(format));
}

/// Returns the number of bytes from one row that libjxl writes to the next.
static size_t output_stride(const alcedo_jxl_decoder *d) {
    const size_t sample_size = d->format.data_type == JXL_TYPE_UINT16 ? 2 : 1;
    return alcedo_jxl_aligned(sample_size * d->format.num_channels * d->basic.xsize);
}

/// Passes the memory for the pixels of the current frame to libjxl.
static alcedo_jxl_status set_output(alcedo_jxl_decoder *d, alcedo_jxl_format format, void *out, size_t capacity) {
    d->format = alcedo_jxl_pixel_format(format, 1);
    d->out = out;
    d->narrow = NULL;
    if (capacity / output_stride(d) < d->basic.ysize) return ALCEDO_JXL_CORRUPT;
    if (d->basic.bits_per_sample > 8 && !alcedo_jxl_is_deep(format)) {
        // Versions of libjxl round deeper samples differently, some of them with dithering.
        d->format.data_type = JXL_TYPE_UINT16;
        capacity = output_stride(d) * d->basic.ysize;
        // The memory is cleared, because parts of a damaged image may stay unwritten.
        if (!d->deep) d->deep = calloc(1, capacity);
        if (!d->deep) return ALCEDO_JXL_OUT_OF_MEMORY;
        d->narrow = out;
        d->out = d->deep;
    }
    if (JxlDecoderSetImageOutBuffer(d->decoder, &d->format, d->out, capacity) != JXL_DEC_SUCCESS) {
        return alcedo_jxl_failure(d);
    }
    d->has_output = 1;
    if (d->black_index < 0) return ALCEDO_JXL_OK;
    const uint32_t index = (uint32_t)d->black_index;
    JxlPixelFormat plane = d->format;
    plane.num_channels = 1;
    const size_t sample_size = plane.data_type == JXL_TYPE_UINT16 ? 2 : 1;
    const size_t stride = alcedo_jxl_aligned(sample_size * d->basic.xsize);
    size_t plane_size = 0;
    if (JxlDecoderExtraChannelBufferSize(d->decoder, &plane, &plane_size, index) != JXL_DEC_SUCCESS) {
        return alcedo_jxl_failure(d);
    }
    // Later versions of libjxl do not count the padding of the last row.
    const size_t size = plane_size > stride * d->basic.ysize ? plane_size : stride * d->basic.ysize;
    if (!d->black) d->black = calloc(1, size);
    if (!d->black) return ALCEDO_JXL_OUT_OF_MEMORY;
    const JxlDecoderStatus status = JxlDecoderSetExtraChannelBuffer(d->decoder, &plane, d->black, size, index);
    return status == JXL_DEC_SUCCESS ? ALCEDO_JXL_OK : alcedo_jxl_failure(d);
}

/// Multiplies the color of the frame by black, which makes RGB of inks. A sample of 0 means the maximum of an ink.
static void apply_black(const alcedo_jxl_decoder *d) {
    const uint32_t width = d->basic.xsize;
    const int is_deep = d->format.data_type == JXL_TYPE_UINT16;
    const size_t stride = output_stride(d);
    const size_t plane_stride = alcedo_jxl_aligned((size_t)width * (is_deep ? 2 : 1));
    for (uint32_t y = 0; y < d->basic.ysize; y++) {
        uint8_t *row = (uint8_t *)d->out + y * stride;
        const uint8_t *black = (const uint8_t *)d->black + y * plane_stride;
        for (uint32_t x = 0; x < width; x++) {
            for (int channel = 0; channel < 3; channel++) {
                if (is_deep) {
                    uint16_t *sample = (uint16_t *)row + 4 * (size_t)x + channel;
                    *sample = (uint16_t)(((uint32_t)*sample * ((const uint16_t *)black)[x] + 32767) / 65535);
                } else {
                    uint8_t *sample = row + 4 * (size_t)x + channel;
                    *sample = (uint8_t)((*sample * black[x] + 127) / 255);
                }
            }
        }
    }
}

/// Makes the 8-bit rows of the caller.
static void make_narrow(const alcedo_jxl_decoder *d) {
    if (!d->narrow) return;
    const size_t count = (size_t)d->basic.xsize * d->format.num_channels;
    const size_t stride = output_stride(d), narrow_stride = alcedo_jxl_aligned(count);
    const int has_low_byte = d->basic.bits_per_sample == 16 && d->basic.exponent_bits_per_sample == 0;
    for (size_t y = 0; y < d->basic.ysize; y++) {
        const uint16_t *row = (const uint16_t *)((const uint8_t *)d->out + y * stride);
        uint8_t *narrow = d->narrow + y * narrow_stride;
        if (has_low_byte) {
            for (size_t x = 0; x < count; x++) narrow[x] = (uint8_t)(row[x] >> 8);
        } else {
            for (size_t x = 0; x < count; x++) narrow[x] = (uint8_t)((row[x] * 255u + 32767) / 65535);
        }
    }
}

alcedo_jxl_status alcedo_jxl_read_pixels(
    alcedo_jxl_decoder *d, alcedo_jxl_format format, void *out, size_t capacity) {
    for (;;) {
        switch (JxlDecoderProcessInput(d->decoder)) {
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER: {
            const alcedo_jxl_status status = set_output(d, format, out, capacity);
            if (status != ALCEDO_JXL_OK) return status;
            continue;
        }
        case JXL_DEC_FRAME_PROGRESSION:
            return ALCEDO_JXL_PASS;
        case JXL_DEC_NEED_MORE_INPUT:
            return ALCEDO_JXL_TRUNCATED;
        case JXL_DEC_FULL_IMAGE:
            if (!d->has_output) return ALCEDO_JXL_CORRUPT;
            if (d->black_index >= 0) apply_black(d);
            make_narrow(d);
            return ALCEDO_JXL_OK;
        default:
            return alcedo_jxl_failure(d);
        }
    }
}

int alcedo_jxl_flush(alcedo_jxl_decoder *d) {
    // The samples of the black channel are not flushed.
    if (!d->has_output || d->black_index >= 0 || JxlDecoderFlushImage(d->decoder) != JXL_DEC_SUCCESS) return 0;
    make_narrow(d);
    return 1;
}

int alcedo_jxl_is_opaque(
    const void *rows, uint32_t width, uint32_t height, size_t stride, alcedo_jxl_format format) {
    if (alcedo_jxl_is_gray(format)) return 1;
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *row = (const uint8_t *)rows + y * stride;
        // One result for the row, because a loop without exits is vectorized.
        uint32_t is_below = 0;
        if (format == ALCEDO_JXL_RGBA16) {
            const uint16_t *samples = (const uint16_t *)row;
            for (size_t x = 0; x < width; x++) is_below |= samples[4 * x + 3] < 65535;
        } else {
            for (size_t x = 0; x < width; x++) is_below |= row[4 * x + 3] < 255;
        }
        if (is_below) return 0;
    }
    return 1;
}
#endif
