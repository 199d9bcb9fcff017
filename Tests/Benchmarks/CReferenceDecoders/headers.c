#include "CReferenceDecoders.h"

#include <gif_lib.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

// jpeglib.h uses size_t and FILE without including their headers.
#include <jpeglib.h>

typedef struct {
    const uint8_t *bytes;
    size_t count;
} input;

typedef struct {
    unsigned width, height;
    int components;
    const char *format;
} header;

typedef struct {
    struct jpeg_error_mgr errors;
    jmp_buf escape;
} jpeg_errors;

static void on_jpeg_error(j_common_ptr cinfo) { longjmp(((jpeg_errors *)cinfo->err)->escape, 1); }

static void ignore_jpeg_message(j_common_ptr cinfo, int level) {
    (void)cinfo;
    (void)level;
}

static int read_jpeg(input file, header *header) {
    struct jpeg_decompress_struct cinfo = {0};
    jpeg_errors errors;
    volatile int is_read = 0;
    cinfo.err = jpeg_std_error(&errors.errors);
    errors.errors.error_exit = on_jpeg_error;
    errors.errors.emit_message = ignore_jpeg_message;
    if (!setjmp(errors.escape)) {
        jpeg_create_decompress(&cinfo);
        jpeg_mem_src(&cinfo, file.bytes, file.count);
        jpeg_read_header(&cinfo, TRUE);
        header->width = cinfo.image_width;
        header->height = cinfo.image_height;
        header->components = cinfo.num_components;
        header->format = "jpeg";
        is_read = 1;
    }
    jpeg_destroy_decompress(&cinfo);
    return is_read;
}

static void read_png_bytes(png_structp png, png_bytep out, size_t count) {
    input *file = png_get_io_ptr(png);
    if (count > file->count) png_error(png, "the bytes end early");
    memcpy(out, file->bytes, count);
    file->bytes += count;
    file->count -= count;
}

static void ignore_png_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static int read_png(input file, header *header) {
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, ignore_png_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    volatile int is_read = 0;
    if (info && !setjmp(png_jmpbuf(png))) {
        png_set_read_fn(png, &file, read_png_bytes);
        png_read_info(png, info);
        header->width = png_get_image_width(png, info);
        header->height = png_get_image_height(png, info);
        header->components = png_get_channels(png, info);
        header->format = "png";
        is_read = 1;
    }
    png_destroy_read_struct(&png, &info, NULL);
    return is_read;
}

static int read_gif_bytes(GifFileType *gif, GifByteType *out, int count) {
    input *file = gif->UserData;
    const size_t taken = (size_t)count < file->count ? (size_t)count : file->count;
    memcpy(out, file->bytes, taken);
    file->bytes += taken;
    file->count -= taken;
    return (int)taken;
}

static int read_gif(input file, header *header) {
    GifFileType *gif = DGifOpen(&file, read_gif_bytes, NULL);
    if (!gif) return 0;
    header->width = (unsigned)gif->SWidth;
    header->height = (unsigned)gif->SHeight;
    header->components = 3;
    header->format = "gif";
    DGifCloseFile(gif, NULL);
    return 1;
}

static int read_webp(input file, header *header) {
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(file.bytes, file.count, &features) != VP8_STATUS_OK) return 0;
    header->width = (unsigned)features.width;
    header->height = (unsigned)features.height;
    header->components = features.has_alpha ? 4 : 3;
    header->format = "webp";
    return 1;
}

/// Reads a file into new memory. Returns NULL on any error.
static uint8_t *read_file(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    uint8_t *bytes = NULL;
    // The file is small, so one read gets all of it, and a buffer would only be another copy.
    setvbuf(file, NULL, _IONBF, 0);
    if (!fseek(file, 0, SEEK_END)) {
        const long size = ftell(file);
        rewind(file);
        bytes = size > 0 ? malloc((size_t)size) : NULL;
        *count = bytes ? fread(bytes, 1, (size_t)size, file) : 0;
    }
    fclose(file);
    return bytes;
}

size_t alcedo_reference_print_headers(char *const *paths, size_t count, const char *output) {
    FILE *lines = fopen(output, "w");
    if (!lines) return 0;
    size_t result = 0;
    for (size_t i = 0; i < count; i++) {
        size_t size = 0;
        uint8_t *bytes = read_file(paths[i], &size);
        if (!bytes) continue;
        const input file = {bytes, size};
        header header = {0, 0, 0, NULL};
        int is_read = 0;
        if (size >= 12 && !memcmp(bytes, "\xFF\xD8\xFF", 3)) {
            is_read = read_jpeg(file, &header);
        } else if (size >= 12 && !memcmp(bytes, "\x89PNG", 4)) {
            is_read = read_png(file, &header);
        } else if (size >= 12 && !memcmp(bytes, "GIF8", 4)) {
            is_read = read_gif(file, &header);
        } else if (size >= 12 && !memcmp(bytes + 8, "WEBP", 4)) {
            is_read = read_webp(file, &header);
        }
        free(bytes);
        if (!is_read) continue;
        fprintf(
            lines, "%s: %ux%u uchar, %d bands, %s\n", paths[i], header.width, header.height, header.components,
            header.format);
        result++;
    }
    return fclose(lines) ? 0 : result;
}
