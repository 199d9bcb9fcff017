#include "internal.h"

#include <setjmp.h>
#include <stdlib.h>

typedef struct {
    jmp_buf escape;
    alcedo_png_output *output;
    size_t capacity;
    int out_of_memory;
} alcedo_png_writer;

static void on_error(png_structp png, png_const_charp message) {
    alcedo_png_writer *w = png_get_error_ptr(png);
    strncpy(w->output->message, message, sizeof w->output->message - 1);
    longjmp(w->escape, 1);
}

static void write_output(png_structp png, png_bytep bytes, size_t count) {
    alcedo_png_writer *w = png_get_io_ptr(png);
    alcedo_png_output *o = w->output;
    if (count > w->capacity - o->count) {
        size_t wanted = w->capacity < 4096 ? 4096 : w->capacity;
        while (wanted - o->count < count) {
            if (wanted > SIZE_MAX / 2) png_error(png, "the encoded image does not fit in memory");
            wanted *= 2;
        }
        uint8_t *grown = realloc(o->bytes, wanted);
        if (!grown) {
            w->out_of_memory = 1;
            png_error(png, "out of memory");
        }
        o->bytes = grown;
        w->capacity = wanted;
    }
    memcpy(o->bytes + o->count, bytes, count);
    o->count += count;
}

static void flush_output(png_structp png) { (void)png; }

alcedo_png_status alcedo_png_encode(
    const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height, int channels, int pixel_bytes, int level,
    const uint8_t *icc, size_t icc_size, alcedo_png_output *output) {
    alcedo_png_writer w = {.output = output};
    png_structp volatile png = NULL;
    png_infop volatile info = NULL;
    memset(output, 0, sizeof *output);
    if (setjmp(w.escape)) {
        png_structp p = png;
        png_infop i = info;
        if (p) png_destroy_write_struct(&p, &i);
        free(output->bytes);
        output->bytes = NULL;
        output->count = 0;
        return w.out_of_memory ? ALCEDO_PNG_OUT_OF_MEMORY : ALCEDO_PNG_CORRUPT;
    }
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_error, alcedo_png_ignore_warning);
    if (png) info = png_create_info_struct(png);
    if (!png || !info) {
        png_structp p = png;
        if (p) png_destroy_write_struct(&p, NULL);
        return ALCEDO_PNG_OUT_OF_MEMORY;
    }
    png_set_write_fn(png, &w, write_output, flush_output);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(png, level);
    const int type = channels == 1 ? PNG_COLOR_TYPE_GRAY : channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGBA;
    png_set_IHDR(png, info, width, height, 8, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (icc && icc_size && icc_size <= PNG_UINT_31_MAX) {
        // A profile that is damaged, or made for other colours than these, is no reason to lose the picture: as a
        // warning, libpng leaves it out.
        png_set_benign_errors(png, 1);
        png_set_iCCP(png, info, "ICC", PNG_COMPRESSION_TYPE_BASE, icc, (png_uint_32)icc_size);
    }
    // A profile that resembles sRGB is warned of here.
    png_write_info(png, info);
    png_set_benign_errors(png, 0);
    if (channels == 3 && pixel_bytes == 4) png_set_filler(png, 0, PNG_FILLER_AFTER);
    for (uint32_t y = 0; y < height; y++) png_write_row(png, pixels + (size_t)y * stride);
    png_write_end(png, NULL);
    png_structp p = png;
    png_infop i = info;
    png_destroy_write_struct(&p, &i);
    return ALCEDO_PNG_OK;
}

void alcedo_png_free(uint8_t *bytes) { free(bytes); }
