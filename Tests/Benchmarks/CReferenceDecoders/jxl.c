// Without the trait JXL, the package builds without libjxl.
#ifdef ALCEDO_JXL
#include "CReferenceDecoders.h"

#include <jxl/decode.h>
#include <stdlib.h>

static const JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};

/// Decodes all frames into new memory. Returns the number of pixels, or 0 on any error.
static size_t decode_frames(JxlDecoder *decoder) {
    void *pixels = NULL;
    size_t frame_count = 0;
    JxlBasicInfo info = {0};
    JxlDecoderStatus status;
    while ((status = JxlDecoderProcessInput(decoder)) != JXL_DEC_SUCCESS) {
        if (status == JXL_DEC_BASIC_INFO) {
            if (JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS) break;
        } else if (status == JXL_DEC_NEED_IMAGE_OUT_BUFFER) {
            size_t size = 0;
            if (JxlDecoderImageOutBufferSize(decoder, &format, &size) != JXL_DEC_SUCCESS) break;
            free(pixels);
            pixels = malloc(size);
            if (!pixels || JxlDecoderSetImageOutBuffer(decoder, &format, pixels, size) != JXL_DEC_SUCCESS) break;
        } else if (status == JXL_DEC_FULL_IMAGE) {
            frame_count += 1;
        } else {
            break;
        }
    }
    free(pixels);
    return status == JXL_DEC_SUCCESS ? frame_count * info.xsize * info.ysize : 0;
}

size_t alcedo_reference_decode_jxl(const uint8_t *bytes, size_t count) {
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    if (!decoder) return 0;
    size_t result = 0;
    if (JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE) == JXL_DEC_SUCCESS &&
        JxlDecoderSetKeepOrientation(decoder, JXL_TRUE) == JXL_DEC_SUCCESS &&
        JxlDecoderSetInput(decoder, bytes, count) == JXL_DEC_SUCCESS) {
        JxlDecoderCloseInput(decoder);
        result = decode_frames(decoder);
    }
    JxlDecoderDestroy(decoder);
    return result;
}
#endif
