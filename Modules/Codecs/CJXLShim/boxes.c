#ifdef ALCEDO_JXL
#include "internal.h"

#include <stdlib.h>
#include <string.h>

alcedo_jxl_status alcedo_jxl_read_jpeg(alcedo_jxl_decoder *d, uint8_t *out, size_t capacity, size_t *written) {
    *written = 0;
    int has_buffer = 0;
    if (d->has_jpeg) {
        if (JxlDecoderSetJPEGBuffer(d->decoder, out, capacity) != JXL_DEC_SUCCESS) return ALCEDO_JXL_CORRUPT;
        has_buffer = 1;
    }
    for (;;) {
        switch (JxlDecoderProcessInput(d->decoder)) {
        case JXL_DEC_JPEG_RECONSTRUCTION:
            d->has_jpeg = has_buffer = 1;
            if (JxlDecoderSetJPEGBuffer(d->decoder, out, capacity) != JXL_DEC_SUCCESS) return ALCEDO_JXL_CORRUPT;
            continue;
        case JXL_DEC_JPEG_NEED_MORE_OUTPUT:
            // libjxl then writes all bytes again, and reports that it has written none.
            JxlDecoderReleaseJPEGBuffer(d->decoder);
            return ALCEDO_JXL_PASS;
        case JXL_DEC_FULL_IMAGE:
            if (!has_buffer) return ALCEDO_JXL_UNSUPPORTED;
            *written = capacity - JxlDecoderReleaseJPEGBuffer(d->decoder);
            return ALCEDO_JXL_OK;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            // libjxl requests memory for pixels only when there is no JPEG data.
            return ALCEDO_JXL_UNSUPPORTED;
        case JXL_DEC_NEED_MORE_INPUT:
            return ALCEDO_JXL_TRUNCATED;
        default:
            return alcedo_jxl_failure(d);
        }
    }
}

/// The boxes that begin each file. Source: ISO/IEC 18181-2, section 9.
static const uint8_t file_start[] = {
    0, 0, 0, 12, 'J', 'X', 'L', ' ', 0x0D, 0x0A, 0x87, 0x0A,
    0, 0, 0, 20, 'f', 't', 'y', 'p', 'j',  'x',  'l',  ' ',  0, 0, 0, 0, 'j', 'x', 'l', ' ',
};

/// Reads the first compressed box into `out`.
static alcedo_jxl_status read_box(JxlDecoder *decoder, uint8_t *out, size_t capacity, size_t *size) {
    int has_buffer = 0;
    for (;;) {
        switch (JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_BOX: {
            JxlBoxType type;
            if (JxlDecoderGetBoxType(decoder, type, JXL_FALSE) != JXL_DEC_SUCCESS) return ALCEDO_JXL_CORRUPT;
            if (memcmp(type, "brob", 4) != 0) continue;
            if (JxlDecoderSetBoxBuffer(decoder, out, capacity) != JXL_DEC_SUCCESS) return ALCEDO_JXL_CORRUPT;
            has_buffer = 1;
            continue;
        }
        case JXL_DEC_BOX_NEED_MORE_OUTPUT:
            return ALCEDO_JXL_EXCEEDS_LIMIT;
        case JXL_DEC_NEED_MORE_INPUT:
        case JXL_DEC_SUCCESS:
            if (!has_buffer) return ALCEDO_JXL_CORRUPT;
            *size = capacity - JxlDecoderReleaseBoxBuffer(decoder);
            return ALCEDO_JXL_OK;
        default:
            return ALCEDO_JXL_CORRUPT;
        }
    }
}

/// Decompresses the contents of a box, followed by zero bytes.
static alcedo_jxl_status decompress(
    const uint8_t *contents, size_t count, size_t zero_count, uint8_t *out, size_t capacity, size_t *size) {
    *size = 0;
    // libjxl decompresses boxes of a file only. This file has no image.
    const size_t start = sizeof file_start;
    if (count > UINT32_MAX - 8 - zero_count) return ALCEDO_JXL_EXCEEDS_LIMIT;
    const uint32_t box_size = (uint32_t)(8 + count + zero_count);
    uint8_t *file = calloc(1, start + box_size);
    if (!file) return ALCEDO_JXL_OUT_OF_MEMORY;
    memcpy(file, file_start, start);
    for (int byte = 0; byte < 4; byte++) file[start + (size_t)byte] = (uint8_t)(box_size >> (24 - 8 * byte));
    memcpy(file + start + 4, "brob", 4);
    memcpy(file + start + 8, contents, count);
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    alcedo_jxl_status status = ALCEDO_JXL_OUT_OF_MEMORY;
    if (decoder) {
        status = ALCEDO_JXL_CORRUPT;
        if (JxlDecoderSubscribeEvents(decoder, JXL_DEC_BOX) == JXL_DEC_SUCCESS &&
            JxlDecoderSetDecompressBoxes(decoder, JXL_TRUE) == JXL_DEC_SUCCESS &&
            JxlDecoderSetInput(decoder, file, start + box_size) == JXL_DEC_SUCCESS) {
            status = read_box(decoder, out, capacity, size);
        }
        JxlDecoderDestroy(decoder);
    }
    free(file);
    return status;
}

alcedo_jxl_status alcedo_jxl_decompress_box(
    const uint8_t *contents, size_t count, uint8_t *out, size_t capacity, size_t *size) {
    alcedo_jxl_status status = decompress(contents, count, 0, out, capacity, size);
    if (status != ALCEDO_JXL_OK) return status;
    // libjxl before 0.11 does not report whether the compressed data is complete. Zero bytes after complete data are
    // not read. After incomplete data, they give more output or an error.
    size_t continued_size = 0;
    status = decompress(contents, count, 4096, out, capacity, &continued_size);
    if (status == ALCEDO_JXL_OUT_OF_MEMORY) return status;
    return status == ALCEDO_JXL_OK && continued_size == *size ? ALCEDO_JXL_OK : ALCEDO_JXL_CORRUPT;
}
#endif
