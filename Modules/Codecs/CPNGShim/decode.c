#include "internal.h"

#include <setjmp.h>
#include <stdlib.h>

struct alcedo_png_decoder {
    png_structp png;
    png_infop info;
    alcedo_png_input input;
    size_t chunk_limit;
    jmp_buf escape;
    char message[96];
};

static void on_error(png_structp png, png_const_charp message) {
    alcedo_png_decoder *d = png_get_error_ptr(png);
    strncpy(d->message, message, sizeof d->message - 1);
    longjmp(d->escape, 1);
}

static alcedo_png_status failure(const alcedo_png_decoder *d) {
    if (d->input.ran_out) return ALCEDO_PNG_TRUNCATED;
    // libpng has no codes, only words.
    if (strstr(d->message, "emory")) return ALCEDO_PNG_OUT_OF_MEMORY;
    return ALCEDO_PNG_CORRUPT;
}

alcedo_png_decoder *alcedo_png_create(const uint8_t *bytes, size_t count, size_t chunk_limit) {
    alcedo_png_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->input = (alcedo_png_input){bytes, count, 0, 0};
    d->chunk_limit = chunk_limit;
    // An error during creation jumps too, before libpng has anything of ours to free.
    if (setjmp(d->escape)) {
        alcedo_png_destroy(d);
        return NULL;
    }
    d->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, d, on_error, alcedo_png_ignore_warning);
    if (d->png) d->info = png_create_info_struct(d->png);
    if (!d->info) {
        alcedo_png_destroy(d);
        return NULL;
    }
    // The caller checks the size after the header, by its own limits.
    png_set_user_limits(d->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(d->png, chunk_limit);
    png_set_chunk_cache_max(d->png, 128);
    // Of no use here. Text may unpack to a thousand times its size, and for the others libpng allocates and clears
    // whatever length a file claims, up to 2 GiB, before it reads: its limit for chunks is only a warning there.
    static const png_byte unused[] = "tEXt\0zTXt\0iTXt\0sPLT\0sCAL\0pCAL";
    png_set_keep_unknown_chunks(d->png, PNG_HANDLE_CHUNK_NEVER, unused, 6);
    // The same goes for EXIF, which is of use.
    static const char exif[] = "eXIf";
    const uint8_t *found = NULL;
    if (alcedo_png_find_chunk(&d->input, exif, "", 0, &found) > chunk_limit) {
        png_set_keep_unknown_chunks(d->png, PNG_HANDLE_CHUNK_NEVER, (png_const_bytep)exif, 1);
    }
    png_set_read_fn(d->png, &d->input, alcedo_png_read_input);
    return d;
}

void alcedo_png_destroy(alcedo_png_decoder *d) {
    png_destroy_read_struct(&d->png, &d->info, NULL);
    free(d);
}

const char *alcedo_png_message(const alcedo_png_decoder *d) { return d->message; }

alcedo_png_status alcedo_png_read_header(alcedo_png_decoder *d, alcedo_png_info *info) {
    if (setjmp(d->escape)) return failure(d);
    png_read_info(d->png, d->info);
    memset(info, 0, sizeof *info);
    info->width = png_get_image_width(d->png, d->info);
    info->height = png_get_image_height(d->png, d->info);
    info->bit_depth = png_get_bit_depth(d->png, d->info);
    info->has_alpha = (png_get_color_type(d->png, d->info) & PNG_COLOR_MASK_ALPHA) != 0 ||
                      png_get_valid(d->png, d->info, PNG_INFO_tRNS) != 0;
    png_bytep exif = NULL;
    png_uint_32 exif_size = 0;
    if (png_get_eXIf_1(d->png, d->info, &exif_size, &exif)) {
        info->exif = exif;
        info->exif_size = exif_size;
    }
    static const char xmp[] = "XML:com.adobe.xmp\0\0";  // the keyword of a text that is not compressed
    const size_t xmp_size = alcedo_png_find_chunk(&d->input, "iTXt", xmp, sizeof xmp - 1, &info->xmp);
    info->xmp_size = info->xmp && xmp_size <= d->chunk_limit ? xmp_size : 0;
    png_charp name = NULL;
    int compression = 0;
    png_bytep icc = NULL;
    png_uint_32 icc_size = 0;
    if (png_get_iCCP(d->png, d->info, &name, &compression, &icc, &icc_size)) {
        info->icc = icc;
        info->icc_size = icc_size;
    }
    return ALCEDO_PNG_OK;
}

alcedo_png_status alcedo_png_read_rgba(alcedo_png_decoder *d, uint8_t *out, size_t stride, size_t capacity) {
    if (setjmp(d->escape)) return failure(d);
    png_set_expand(d->png);
    png_set_strip_16(d->png);
    png_set_gray_to_rgb(d->png);
    png_set_add_alpha(d->png, 0xFF, PNG_FILLER_AFTER);
    const int passes = png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
    const size_t height = png_get_image_height(d->png, d->info);
    const size_t row_bytes = png_get_rowbytes(d->png, d->info);
    if (row_bytes != (size_t)png_get_image_width(d->png, d->info) * 4 || row_bytes > stride ||
        capacity / stride < height) {
        png_error(d->png, "the output buffer does not fit the image");
    }
    for (int pass = 0; pass < passes; pass++) {
        for (size_t y = 0; y < height; y++) png_read_row(d->png, out + y * stride, NULL);
    }
    png_read_end(d->png, NULL);
    return ALCEDO_PNG_OK;
}
