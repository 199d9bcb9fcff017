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

/// Sets the scale that the decoder of the package uses for a thumbnail of a photo: see `shrink` in JPEGReader.swift.
static void set_scale(struct jpeg_decompress_struct *cinfo, size_t side) {
    const JDIMENSION longest = cinfo->image_width > cinfo->image_height ? cinfo->image_width : cinfo->image_height;
    const double factor = 2.0 * (double)side / longest;
    if (factor >= 1) return;
    cinfo->scale_denom = 8;
    // An eighth is used for files with several scans only.
    cinfo->scale_num = jpeg_has_multiple_scans(cinfo) ? 1 : 2;
    for (; cinfo->scale_num < 8; cinfo->scale_num *= 2) {
        jpeg_calc_output_dimensions(cinfo);
        const double needed = factor * (cinfo->scale_num <= 2 ? 3 : 2);
        const double width = cinfo->image_width * needed, height = cinfo->image_height * needed;
        if (cinfo->output_width >= width && cinfo->output_height >= height) break;
    }
}

/// Decodes the whole image, or with a side other than 0, only one row of a reduced image at a time. Returns the number
/// of pixels, or 0 on any error.
static size_t decode(const uint8_t *bytes, size_t count, size_t side) {
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
        if (side) set_scale(&cinfo, side);
        jpeg_start_decompress(&cinfo);
        const size_t row_bytes = (size_t)cinfo.output_width * 4;
        pixels = malloc(row_bytes * (side ? 1 : cinfo.output_height));
        if (pixels) {
            while (cinfo.output_scanline < cinfo.output_height) {
                JSAMPROW row = pixels + (side ? 0 : cinfo.output_scanline * row_bytes);
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

size_t alcedo_reference_decode_jpeg(const uint8_t *bytes, size_t count) { return decode(bytes, count, 0); }

size_t alcedo_reference_reduce_jpeg(const uint8_t *bytes, size_t count, size_t side) {
    return side ? decode(bytes, count, side) : 0;
}
