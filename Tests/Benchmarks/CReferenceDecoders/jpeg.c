#include "CReferenceDecoders.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

// jpeglib.h uses size_t and FILE without including their headers.
#include <jpeglib.h>

typedef struct {
    struct jpeg_error_mgr errors;
    jmp_buf escape;
} reference_errors;

static void on_reference_error(j_common_ptr cinfo) { longjmp(((reference_errors *)cinfo->err)->escape, 1); }

static void ignore_message(j_common_ptr cinfo, int level) {
    (void)cinfo;
    (void)level;
}

size_t alcedo_reference_decode_jpeg(const uint8_t *bytes, size_t count) {
    struct jpeg_decompress_struct cinfo = {0};
    reference_errors errors;
    uint8_t *volatile pixels = NULL;
    volatile size_t result = 0;
    cinfo.err = jpeg_std_error(&errors.errors);
    errors.errors.error_exit = on_reference_error;
    errors.errors.emit_message = ignore_message;
    if (!setjmp(errors.escape)) {
        jpeg_create_decompress(&cinfo);
        jpeg_mem_src(&cinfo, bytes, count);
        jpeg_read_header(&cinfo, TRUE);
        cinfo.out_color_space = JCS_EXT_RGBA;
        jpeg_start_decompress(&cinfo);
        const size_t row_bytes = (size_t)cinfo.output_width * 4;
        pixels = malloc(row_bytes * cinfo.output_height);
        if (pixels) {
            while (cinfo.output_scanline < cinfo.output_height) {
                JSAMPROW row = pixels + cinfo.output_scanline * row_bytes;
                jpeg_read_scanlines(&cinfo, &row, 1);
            }
            jpeg_finish_decompress(&cinfo);
            result = (size_t)cinfo.output_width * cinfo.output_height;
        }
    }
    jpeg_destroy_decompress(&cinfo);
    free(pixels);
    return result;
}
