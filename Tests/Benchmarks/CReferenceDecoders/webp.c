#include "CReferenceDecoders.h"

#include <webp/decode.h>
#include <webp/demux.h>

size_t alcedo_reference_decode_webp(const uint8_t *bytes, size_t count) {
    int width = 0, height = 0;
    uint8_t *pixels = WebPDecodeRGBA(bytes, count, &width, &height);
    if (!pixels) return 0;
    WebPFree(pixels);
    return (size_t)width * (size_t)height;
}

size_t alcedo_reference_decode_webp_frames(const uint8_t *bytes, size_t count, size_t limit) {
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options)) return 0;
    options.color_mode = MODE_RGBA;
    const WebPData data = {bytes, count};
    WebPAnimDecoder *decoder = WebPAnimDecoderNew(&data, &options);
    WebPAnimInfo info;
    size_t frame_count = 0, expected = 0;
    if (decoder && WebPAnimDecoderGetInfo(decoder, &info)) {
        expected = info.frame_count < limit ? info.frame_count : limit;
        uint8_t *canvas = NULL;
        int timestamp = 0;
        while (frame_count < expected && WebPAnimDecoderGetNext(decoder, &canvas, &timestamp)) frame_count++;
    }
    WebPAnimDecoderDelete(decoder);
    return frame_count && frame_count == expected ? frame_count * info.canvas_width * info.canvas_height : 0;
}
