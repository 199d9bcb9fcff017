#include "inflate.h"

#include "CPNGShim.h"

#include <libdeflate.h>

int alcedo_png_inflate(const uint8_t *bytes, size_t count, uint8_t *out, size_t size) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (!decompressor) return 0;
    size_t used = 0;
    const enum libdeflate_result result =
        libdeflate_zlib_decompress_ex(decompressor, bytes, count, out, size, &used, NULL);
    libdeflate_free_decompressor(decompressor);
    return result == LIBDEFLATE_SUCCESS && used == count;
}

int alcedo_png_is_broken_stream(const uint8_t *bytes, size_t count, uint8_t *out, size_t size) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (!decompressor) return 0;
    size_t used = 0, written = 0;
    const enum libdeflate_result result =
        libdeflate_zlib_decompress_ex(decompressor, bytes, count, out, size, &used, &written);
    libdeflate_free_decompressor(decompressor);
    return result == LIBDEFLATE_BAD_DATA;
}
