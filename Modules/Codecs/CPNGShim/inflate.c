#include "inflate.h"

#include "CPNGShim.h"

#include <libdeflate.h>

/// Whether the stream declares a window that matches within `size` bytes can exceed. Source: RFC 1950, section 2.2.
static int has_small_window(const uint8_t *bytes, size_t size) {
    enum { SMALLEST_WINDOW = 256, LARGEST_WINDOW_SIZE = 7 };
    const unsigned int window_size = bytes[0] >> 4;
    return window_size < LARGEST_WINDOW_SIZE && size > (size_t)SMALLEST_WINDOW << window_size;
}

int alcedo_png_inflate(const uint8_t *bytes, size_t count, uint8_t *out, size_t size) {
    // libdeflate does not verify that matches stay within the window.
    if (count == 0 || has_small_window(bytes, size)) return 0;
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
