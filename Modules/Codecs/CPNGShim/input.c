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

void alcedo_png_ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}
