#include "CReferenceDecoders.h"

#include <webp/decode.h>

size_t alcedo_reference_decode_webp(const uint8_t *bytes, size_t count) {
    int width = 0, height = 0;
    uint8_t *pixels = WebPDecodeRGBA(bytes, count, &width, &height);
    if (!pixels) return 0;
    WebPFree(pixels);
    return (size_t)width * (size_t)height;
}
