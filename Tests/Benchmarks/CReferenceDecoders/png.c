#include "CReferenceDecoders.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *bytes;
    size_t count;
} reference_input;

static void read_input(png_structp png, png_bytep out, size_t count) {
    reference_input *input = png_get_io_ptr(png);
    if (count > input->count) png_error(png, "the bytes end early");
    memcpy(out, input->bytes, count);
    input->bytes += count;
    input->count -= count;
}

static void ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

size_t alcedo_reference_decode_png(const uint8_t *bytes, size_t count) {
    reference_input input = {bytes, count};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, ignore_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    uint8_t *volatile pixels = NULL;
    volatile size_t result = 0;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        return 0;
    }
    if (!setjmp(png_jmpbuf(png))) {
        png_set_read_fn(png, &input, read_input);
        png_read_info(png, info);
        png_set_expand(png);
        png_set_strip_16(png);
        png_set_gray_to_rgb(png);
        png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
        const int passes = png_set_interlace_handling(png);
        png_read_update_info(png, info);
        const size_t height = png_get_image_height(png, info);
        const size_t row_bytes = png_get_rowbytes(png, info);
        pixels = malloc(height * row_bytes);
        if (pixels) {
            for (int pass = 0; pass < passes; pass++) {
                for (size_t y = 0; y < height; y++) png_read_row(png, pixels + y * row_bytes, NULL);
            }
            png_read_end(png, NULL);
            result = height * (row_bytes / 4);
        }
    }
    free(pixels);
    png_destroy_read_struct(&png, &info, NULL);
    return result;
}
