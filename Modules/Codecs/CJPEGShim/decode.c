#include "internal.h"

#include <stdlib.h>
#include <string.h>

// Every scan of a progressive image may cost a pass over all coefficients: a file of a few kilobytes can claim
// thousands of them. Real encoders use about ten.
enum { MAXIMUM_SCANS = 100 };

static void check_scans(j_common_ptr cinfo) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    if (d->cinfo.input_scan_number <= MAXIMUM_SCANS) return;
    strcpy(d->message, "the image has too many scans");
    d->too_many_scans = 1;
    longjmp(d->escape, 1);
}

alcedo_jpeg_decoder *alcedo_jpeg_create(const uint8_t *bytes, size_t count) {
    alcedo_jpeg_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    alcedo_jpeg_init_errors(d);
    if (setjmp(d->escape)) {
        alcedo_jpeg_destroy(d);
        return NULL;
    }
    jpeg_create_decompress(&d->cinfo);
    d->progress.progress_monitor = check_scans;
    d->cinfo.progress = &d->progress;
    alcedo_jpeg_init_source(d, bytes, count);
    jpeg_save_markers(&d->cinfo, JPEG_APP0 + 1, 0xFFFF);
    jpeg_save_markers(&d->cinfo, JPEG_APP0 + 2, 0xFFFF);
    return d;
}

void alcedo_jpeg_destroy(alcedo_jpeg_decoder *d) {
    jpeg_destroy_decompress(&d->cinfo);
    free(d->icc);
    free(d);
}

const char *alcedo_jpeg_message(const alcedo_jpeg_decoder *d) { return d->message; }

static int is_cmyk(const struct jpeg_decompress_struct *c) {
    return c->jpeg_color_space == JCS_CMYK || c->jpeg_color_space == JCS_YCCK;
}

alcedo_jpeg_status alcedo_jpeg_read_header(alcedo_jpeg_decoder *d, alcedo_jpeg_info *info) {
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    jpeg_read_header(&d->cinfo, TRUE);
    memset(info, 0, sizeof *info);
    info->width = d->cinfo.image_width;
    info->height = d->cinfo.image_height;
    info->bit_depth = (uint32_t)d->cinfo.data_precision;
    if (jpeg_has_multiple_scans(&d->cinfo)) {
        for (int i = 0; i < d->cinfo.num_components; i++) {
            const jpeg_component_info *c = &d->cinfo.comp_info[i];
            info->coefficient_bytes += (uint64_t)c->width_in_blocks * c->height_in_blocks * sizeof(JBLOCK);
        }
    }
    for (jpeg_saved_marker_ptr m = d->cinfo.marker_list; m; m = m->next) {
        if (m->marker == JPEG_APP0 + 1 && m->data_length > 6 && !memcmp(m->data, "Exif\0\0", 6)) {
            info->exif = m->data + 6;
            info->exif_size = m->data_length - 6;
            break;
        }
    }
    unsigned int icc_size = 0;
    // A profile of inks says nothing about the colours they are turned into.
    if (!is_cmyk(&d->cinfo) && jpeg_read_icc_profile(&d->cinfo, &d->icc, &icc_size)) {
        info->icc = d->icc;
        info->icc_size = icc_size;
    }
    return ALCEDO_JPEG_OK;
}

alcedo_jpeg_status alcedo_jpeg_set_scale(
    alcedo_jpeg_decoder *d, uint32_t eighths, uint32_t *width, uint32_t *height) {
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    d->cinfo.scale_num = eighths;
    d->cinfo.scale_denom = 8;
    jpeg_calc_output_dimensions(&d->cinfo);
    *width = d->cinfo.output_width;
    *height = d->cinfo.output_height;
    return ALCEDO_JPEG_OK;
}

/// Turns one row of C, M, Y, K into R, G, B, 255, in place. Adobe writes ink inverted: 255 is none.
static void convert_cmyk(uint8_t *row, size_t width, int is_inverted) {
    const unsigned int flip = is_inverted ? 0 : 255;
    for (uint8_t *p = row; p < row + width * 4; p += 4) {
        const unsigned int k = p[3] ^ flip;
        for (int i = 0; i < 3; i++) p[i] = (uint8_t)(((p[i] ^ flip) * k + 127) / 255);
        p[3] = 255;
    }
}

alcedo_jpeg_status alcedo_jpeg_read_rgba(alcedo_jpeg_decoder *d, uint8_t *out, size_t stride, size_t capacity) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    const int has_inks = is_cmyk(c);
    c->out_color_space = has_inks ? JCS_CMYK : JCS_EXT_RGBA;
    jpeg_start_decompress(c);
    if ((size_t)c->output_width * 4 > stride || capacity / stride < c->output_height) {
        ERREXIT(c, JERR_IMAGE_TOO_BIG);
    }
    while (c->output_scanline < c->output_height) {
        // As many rows a call as one pass of the upsampler makes, which is what it has at hand anyway.
        JSAMPROW rows[8];
        const JDIMENSION first = c->output_scanline;
        for (JDIMENSION i = 0; i < 8; i++) rows[i] = out + (first + i) * stride;
        const JDIMENSION left = c->output_height - first;
        const JDIMENSION count = jpeg_read_scanlines(c, rows, left < 8 ? left : 8);
        if (has_inks) {
            for (JDIMENSION i = 0; i < count; i++) convert_cmyk(rows[i], c->output_width, c->saw_Adobe_marker);
        }
    }
    jpeg_finish_decompress(c);
    return d->is_damaged ? ALCEDO_JPEG_CORRUPT : ALCEDO_JPEG_OK;
}
