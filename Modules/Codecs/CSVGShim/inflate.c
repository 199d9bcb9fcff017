// Without the trait SVG, the package builds without librsvg.
#ifdef ALCEDO_SVG
#include "internal.h"

#include <gio/gio.h>

alcedo_svg_status alcedo_svg_inflate(
    const uint8_t *bytes, size_t count, uint8_t *out, size_t capacity, size_t *written, size_t *used) {
    *written = *used = 0;
    // librsvg needs GLib, which brings zlib.
    GZlibDecompressor *decompressor = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_RAW);
    if (!decompressor) return ALCEDO_SVG_OUT_OF_MEMORY;
    alcedo_svg_status status = ALCEDO_SVG_LIMIT;
    while (*written < capacity) {
        gsize read_count = 0, written_count = 0;
        // What a call has written before it finds damage is lost, so a call writes little.
        const size_t step = capacity - *written < 4096 ? capacity - *written : 4096;
        const GConverterResult result = g_converter_convert(
            G_CONVERTER(decompressor), bytes, count, out + *written, step, G_CONVERTER_INPUT_AT_END, &read_count,
            &written_count, NULL);
        if (result == G_CONVERTER_ERROR) {
            status = count == 0 ? ALCEDO_SVG_TRUNCATED : ALCEDO_SVG_CORRUPT;
            break;
        }
        bytes += read_count;
        count -= read_count;
        *used += read_count;
        *written += written_count;
        if (result == G_CONVERTER_FINISHED) {
            status = ALCEDO_SVG_OK;
            break;
        }
    }
    g_object_unref(decompressor);
    return status;
}

uint32_t alcedo_svg_checksum(const uint8_t *bytes, size_t count) {
    // The remainders of four bits at a time.
    uint32_t remainders[16];
    for (uint32_t value = 0; value < 16; value++) {
        uint32_t remainder = value;
        for (int bit = 0; bit < 4; bit++) remainder = remainder & 1 ? remainder >> 1 ^ 0xEDB88320 : remainder >> 1;
        remainders[value] = remainder;
    }
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        sum = sum >> 4 ^ remainders[sum & 15];
        sum = sum >> 4 ^ remainders[sum & 15];
    }
    return ~sum;
}
#else
typedef int alcedo_svg_no_inflate;
#endif
