#include "internal.h"

void alcedo_png_read_input(png_structp png, png_bytep out, size_t count) {
    alcedo_png_input *input = png_get_io_ptr(png);
    if (count > input->count - input->offset) {
        input->ran_out = 1;
        png_error(png, "the file ends early");
    }
    memcpy(out, input->bytes + input->offset, count);
    input->offset += count;
}

size_t alcedo_png_find_chunk(
    const alcedo_png_input *input, const char *name, const char *prefix, size_t prefix_size, const uint8_t **data) {
    size_t offset = 8;  // the signature
    *data = NULL;
    while (offset <= input->count && input->count - offset >= 12) {
        const uint8_t *chunk = input->bytes + offset;
        const size_t length = png_get_uint_32(chunk);
        const size_t available = input->count - offset - 12;
        if (!memcmp(chunk + 4, "IDAT", 4)) return 0;
        if (!memcmp(chunk + 4, name, 4) && prefix_size <= length && prefix_size <= available &&
            !memcmp(chunk + 8, prefix, prefix_size)) {
            if (length <= available) *data = chunk + 8;
            return length;
        }
        if (length > available) return 0;
        offset += 12 + length;
    }
    return 0;
}

void alcedo_png_ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}
