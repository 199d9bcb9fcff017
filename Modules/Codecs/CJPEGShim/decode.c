#include "internal.h"

#include <stdlib.h>
#include <string.h>

// Every scan of a progressive image can require a pass over all coefficients, and a file of a few kilobytes can declare
// thousands of scans. Real encoders write about ten. Small images may have more, because each scan costs little.
enum { ALWAYS_ALLOWED_SCANS = 20, MAXIMUM_SCANS = 100 };
static const uint64_t MAXIMUM_SCANNED_PIXELS = UINT64_C(1) << 30;

// The approximate size of the caches of one core.
enum { MAXIMUM_CACHED_BYTES = 1 << 22 };

// As many rows as are passed on at once.
enum { REPEATED_ROWS = 16 };

static void check_scans(j_common_ptr cinfo) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    if (d->is_canceled && d->is_canceled()) {
        strcpy(d->message, "decoding was canceled");
        d->was_canceled = 1;
        longjmp(d->escape, 1);
    }
    // libjpeg calls this function before it reads from the first of several scans.
    if (!d->is_stream) alcedo_jpeg_count_mcus(d);
    const int scan = d->cinfo.input_scan_number;
    if (scan <= ALWAYS_ALLOWED_SCANS) return;
    const uint64_t pixels = (uint64_t)d->cinfo.image_width * d->cinfo.image_height;
    if (scan <= MAXIMUM_SCANS && pixels * (uint64_t)scan <= MAXIMUM_SCANNED_PIXELS) return;
    strcpy(d->message, "the image has too many scans");
    d->too_many_scans = 1;
    longjmp(d->escape, 1);
}

/// Whether the scans that were read can be read again within the limits.
static int may_repeat_scans(const alcedo_jpeg_decoder *d) {
    const uint64_t pixels = (uint64_t)d->cinfo.image_width * d->cinfo.image_height;
    // The scans that were left out are read, too.
    const int scans = d->cinfo.input_scan_number + (d->pieces.count ? ALCEDO_JPEG_MAXIMUM_CUTS : 0);
    return scans <= ALWAYS_ALLOWED_SCANS / 2 || pixels * 2 * (uint64_t)scans <= MAXIMUM_SCANNED_PIXELS;
}

alcedo_jpeg_decoder *alcedo_jpeg_create(const uint8_t *bytes, size_t count) {
    alcedo_jpeg_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->tolerated = ALCEDO_JPEG_MISSING_PIXELS;
    d->real_rows = JPEG_MAX_DIMENSION;
    alcedo_jpeg_init_errors(d);
    if (setjmp(d->escape)) {
        alcedo_jpeg_destroy(d);
        return NULL;
    }
    jpeg_create_decompress(&d->cinfo);
    d->progress.progress_monitor = check_scans;
    d->cinfo.progress = &d->progress;
    alcedo_jpeg_init_source(d, bytes, count);
    alcedo_jpeg_init_markers(d);
    return d;
}

void alcedo_jpeg_rewind(alcedo_jpeg_decoder *d) {
    jpeg_abort_decompress(&d->cinfo);
    d->source.next_input_byte = d->base;
    d->source.bytes_in_buffer = d->size;
    memset(&d->pieces, 0, sizeof d->pieces);
    memset(d->edges, 0, sizeof d->edges);
    memset(d->read_bytes, 0, sizeof d->read_bytes);
    d->row = NULL;
    d->is_started = d->ran_out = d->gave_up = 0;
    d->damage = ALCEDO_JPEG_INTACT;
    d->damage_status = ALCEDO_JPEG_OK;
    d->damage_message[0] = 0;
    d->real_rows = JPEG_MAX_DIMENSION;
}

void alcedo_jpeg_set_cancellation(alcedo_jpeg_decoder *d, int (*is_canceled)(void)) { d->is_canceled = is_canceled; }

alcedo_jpeg_decoder *alcedo_jpeg_create_stream(void) {
    static const uint8_t nothing[1];
    alcedo_jpeg_decoder *d = alcedo_jpeg_create(nothing, 0);
    if (d) d->is_stream = 1;
    return d;
}

void alcedo_jpeg_destroy(alcedo_jpeg_decoder *d) {
    jpeg_destroy_decompress(&d->cinfo);
    free(d);
}

const char *alcedo_jpeg_message(const alcedo_jpeg_decoder *d) { return d->message; }

static int is_cmyk(const struct jpeg_decompress_struct *c) {
    return c->jpeg_color_space == JCS_CMYK || c->jpeg_color_space == JCS_YCCK;
}

static alcedo_jpeg_color color(const struct jpeg_decompress_struct *c) {
    switch (c->jpeg_color_space) {
    case JCS_GRAYSCALE:
        return ALCEDO_JPEG_GRAY;
    case JCS_RGB:
        return ALCEDO_JPEG_RGB;
    case JCS_CMYK:
        return ALCEDO_JPEG_CMYK;
    case JCS_YCCK:
        return ALCEDO_JPEG_YCCK;
    default:
        return ALCEDO_JPEG_YCBCR;
    }
}

static uint64_t round_up(uint64_t count, int step) {
    const uint64_t factor = step > 0 ? (uint64_t)step : 1;
    return (count + factor - 1) / factor * factor;
}

alcedo_jpeg_status alcedo_jpeg_read_header(alcedo_jpeg_decoder *d) {
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    return jpeg_read_header(&d->cinfo, TRUE) == JPEG_SUSPENDED ? ALCEDO_JPEG_SUSPENDED : ALCEDO_JPEG_OK;
}

void alcedo_jpeg_get_info(alcedo_jpeg_decoder *d, alcedo_jpeg_info *info) {
    memset(info, 0, sizeof *info);
    info->width = d->cinfo.image_width;
    info->height = d->cinfo.image_height;
    info->bit_depth = (uint32_t)d->cinfo.data_precision;
    info->color = color(&d->cinfo);
    info->can_suspend = !d->cinfo.arith_code;
    info->has_several_scans = jpeg_has_multiple_scans(&d->cinfo);
    if (info->has_several_scans) {
        for (int i = 0; i < d->cinfo.num_components; i++) {
            const jpeg_component_info *c = &d->cinfo.comp_info[i];
            // libjpeg stores whole MCUs, so the numbers of blocks are rounded up to multiples of the sampling factors.
            const uint64_t columns = round_up(c->width_in_blocks, c->h_samp_factor);
            info->coefficient_bytes += columns * round_up(c->height_in_blocks, c->v_samp_factor) * sizeof(JBLOCK);
        }
    }
    info->exif = d->exif.size ? d->base + d->exif.offset : NULL;
    info->exif_size = d->exif.size;
    info->xmp = d->xmp.size ? d->base + d->xmp.offset : NULL;
    info->xmp_size = d->xmp.size;
    info->resources = d->resources.size ? d->base + d->resources.offset : NULL;
    info->resources_size = d->resources.size;
    info->density_unit = d->cinfo.saw_JFIF_marker ? d->cinfo.density_unit : 0;
    info->horizontal_density = d->cinfo.X_density;
    info->vertical_density = d->cinfo.Y_density;
    info->icc_size = alcedo_jpeg_profile_size(d);
    info->has_icc = d->profile.count != 0 || d->profile.is_broken;
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

/// Converts a row of C, M, Y, K in place to R, G, B, 255. Of each ink, 255 means none. Adobe stores inks in this way,
/// and browsers assume it also for files without Adobe's marker.
void alcedo_jpeg_convert_row(const alcedo_jpeg_decoder *d, uint8_t *row) {
    if (!is_cmyk(&d->cinfo) || d->keeps_inks) return;
    for (uint8_t *p = row; p < row + (size_t)d->cinfo.output_width * 4; p += 4) {
        const unsigned int k = p[3];
        for (int i = 0; i < 3; i++) p[i] = (uint8_t)((p[i] * k + 127) / 255);
        p[3] = 255;
    }
}

/// The address of the row is an odd multiple of 8 and therefore not aligned to 16 bytes.
uint8_t *alcedo_jpeg_make_row(alcedo_jpeg_decoder *d) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    const size_t size = (size_t)c->output_width * (size_t)c->output_components + 32;
    uint8_t *memory = c->mem->alloc_large((j_common_ptr)c, JPOOL_IMAGE, size);
    return memory + (24 - (uintptr_t)memory % 16) % 16;
}

/// Whether a scan with each component has begun.
static int has_all_components(const struct jpeg_decompress_struct *c) {
    for (int i = 0; i < c->num_components; i++) {
        if (!c->comp_info[i].quant_table) return 0;
    }
    return 1;
}

/// Whether the scans that were read contain all bits of all coefficients.
static int is_complete(const struct jpeg_decompress_struct *c) {
    for (int i = 0; c->coef_bits && i < c->num_components; i++) {
        for (int k = 0; k < DCTSIZE2; k++) {
            if (c->coef_bits[i][k] != 0) return 0;
        }
    }
    return has_all_components(c);
}

/// Reads the scans of an image in several scans, after libjpeg was set up for them. After an error in a later scan, the
/// image is made of the data before it.
static alcedo_jpeg_status read_scans(alcedo_jpeg_decoder *d) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    const JDIMENSION width = c->image_width, height = c->image_height;
    const int component_count = c->num_components, precision = c->data_precision;
    const boolean is_progressive = c->progressive_mode, is_arithmetic = c->arith_code;
    if (setjmp(d->escape)) {
        // Before libjpeg refuses a second frame header, it takes over these fields, for which it has no memory.
        c->image_width = width;
        c->image_height = height;
        c->num_components = component_count;
        c->data_precision = precision;
        c->progressive_mode = is_progressive;
        c->arith_code = is_arithmetic;
        const alcedo_jpeg_status status = alcedo_jpeg_failure(d);
        const int is_damage =
            status != ALCEDO_JPEG_OUT_OF_MEMORY && status != ALCEDO_JPEG_LIMIT && status != ALCEDO_JPEG_CANCELED;
        const int has_scan = c->input_scan_number > 1 || c->input_iMCU_row >= c->total_iMCU_rows;
        if (!is_damage || d->gave_up || !has_scan) return status;
        d->gave_up = 1;
        // Discards a marker whose segment is incomplete.
        c->unread_marker = 0;
        alcedo_jpeg_end_input(d);
        return read_scans(d);
    }
    jpeg_start_decompress(c);
    if (d->ran_out || d->gave_up) {
        const int is_missing = d->ran_out || !has_all_components(c);
        const alcedo_jpeg_damage lost = is_missing ? ALCEDO_JPEG_MISSING_PIXELS : ALCEDO_JPEG_WRONG_PIXELS;
        // After the last scan, nothing is lost.
        alcedo_jpeg_note_damage(
            d, is_complete(c) ? ALCEDO_JPEG_HARMLESS : lost, d->gave_up ? d->message : "scans are missing");
    }
    return alcedo_jpeg_verdict(d);
}

alcedo_jpeg_status alcedo_jpeg_start(alcedo_jpeg_decoder *d, alcedo_jpeg_rows rows) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    const int is_gray = rows == ALCEDO_JPEG_ROWS_GRAY;
    d->kind = rows;
    d->keeps_inks = rows == ALCEDO_JPEG_ROWS_INKS;
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    d->is_started = 1;
    d->first_scan = d->source.next_input_byte;
    c->out_color_space = is_cmyk(c) ? JCS_CMYK : is_gray ? JCS_GRAYSCALE : JCS_EXT_RGBA;
    c->buffered_image = d->is_stream && jpeg_has_multiple_scans(c);
    jpeg_calc_output_dimensions(c);
    alcedo_jpeg_omit_details(d);
    if (c->jpeg_color_space == JCS_YCbCr && !is_gray) d->row = alcedo_jpeg_make_row(d);
    if (!d->is_stream && jpeg_has_multiple_scans(c)) return read_scans(d);
    if (!jpeg_start_decompress(c)) return ALCEDO_JPEG_SUSPENDED;
    if (!d->is_stream) alcedo_jpeg_count_mcus(d);
    return ALCEDO_JPEG_OK;
}

JDIMENSION alcedo_jpeg_real_count(const alcedo_jpeg_decoder *d, JDIMENSION count) {
    const JDIMENSION first = d->cinfo.output_scanline - count;
    return d->real_rows <= first ? 0 : d->real_rows - first < count ? d->real_rows - first : count;
}

/// Whether the rows that follow must be decoded at full size. The bytes of a stream are decoded again by the caller.
static int needs_full_size(const alcedo_jpeg_decoder *d) {
    const JDIMENSION row = d->cinfo.output_scanline;
    const int has_rows = row < d->cinfo.output_height && row <= d->real_rows;
    return d->details.are_lost && has_rows && !d->is_stream && may_repeat_scans(d);
}

/// Writes rows at the scale that was set, until details are lost.
static alcedo_jpeg_status read_scaled_rows(
    alcedo_jpeg_decoder *d, uint8_t *out, size_t stride, size_t capacity, size_t first, size_t end,
    size_t *count) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    if ((size_t)c->output_width * (size_t)c->output_components > stride) ERREXIT(c, JERR_IMAGE_TOO_BIG);
    alcedo_jpeg_hide_padding(d);
    const int is_watched = d->details.is_watched;
    // When rows are aligned, as the caller's are, libjpeg-turbo writes colors past the caches. This is faster only when
    // the output does not fit in the caches. Small output is soon read again, so colors are decoded through an
    // unaligned row.
    const int is_small = capacity * stride <= MAXIMUM_CACHED_BYTES;
    while (first + *count < end && c->output_scanline < c->output_height && !needs_full_size(d)) {
        if (d->row && is_small) {
            JSAMPROW row = d->row;
            if (jpeg_read_scanlines(c, &row, 1) == 0) return ALCEDO_JPEG_SUSPENDED;
            if (alcedo_jpeg_real_count(d, 1) == 0) break;
            if (is_watched) alcedo_jpeg_examine(d, row, c->output_scanline - 1);
            memcpy(out + (first + *count) * stride, row, (size_t)c->output_width * 4);
            ++*count;
            continue;
        }
        // One call reads several rows, because one pass of the upsampler produces them together.
        JSAMPROW rows[8];
        const size_t left = end - first - *count;
        const JDIMENSION batch = left < 8 ? (JDIMENSION)left : 8;
        for (JDIMENSION i = 0; i < batch; i++) rows[i] = out + (first + *count + i) * stride;
        const JDIMENSION produced = jpeg_read_scanlines(c, rows, batch);
        if (produced == 0) return ALCEDO_JPEG_SUSPENDED;
        const JDIMENSION row_count = alcedo_jpeg_real_count(d, produced);
        for (JDIMENSION i = 0; i < row_count; i++) {
            alcedo_jpeg_convert_row(d, rows[i]);
            if (is_watched) alcedo_jpeg_examine(d, rows[i], c->output_scanline - produced + i);
        }
        *count += row_count;
        if (row_count < produced) break;
    }
    return alcedo_jpeg_verdict(d);
}

alcedo_jpeg_status alcedo_jpeg_read_rows(
    alcedo_jpeg_decoder *d, uint8_t *out, size_t stride, size_t capacity, size_t first, size_t end,
    size_t *count) {
    *count = 0;
    if (d->details.factor == 0) {
        alcedo_jpeg_status status = read_scaled_rows(d, out, stride, capacity, first, end, count);
        if (status != ALCEDO_JPEG_OK || !needs_full_size(d)) return status;
        // The caller does not have the rows of this call yet, so the last of them are made again, too. How many does
        // not depend on how many rows a call reads, if that is a multiple.
        const JDIMENSION row = d->cinfo.output_scanline, begin = (row - 1) / REPEATED_ROWS * REPEATED_ROWS;
        const size_t repeated = row - begin < *count ? row - begin : *count;
        *count -= repeated;
        status = alcedo_jpeg_begin_full_size(d, row - (JDIMENSION)repeated);
        if (status != ALCEDO_JPEG_OK) return status;
    }
    return alcedo_jpeg_read_reduced_rows(d, out, stride, first, end, count);
}

alcedo_jpeg_status alcedo_jpeg_finish(alcedo_jpeg_decoder *d) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    if (setjmp(d->escape)) {
        const alcedo_jpeg_status status = alcedo_jpeg_failure(d);
        if (status == ALCEDO_JPEG_OUT_OF_MEMORY || status == ALCEDO_JPEG_LIMIT || status == ALCEDO_JPEG_CANCELED) {
            return status;
        }
        alcedo_jpeg_note_damage(d, ALCEDO_JPEG_HARMLESS, d->message);
        return alcedo_jpeg_verdict(d);
    }
    // The other rows are missing.
    if (!d->is_stream && c->output_scanline < c->output_height) return alcedo_jpeg_verdict(d);
    if (!jpeg_finish_decompress(c)) return ALCEDO_JPEG_SUSPENDED;
    return alcedo_jpeg_verdict(d);
}

alcedo_jpeg_status alcedo_jpeg_consume(alcedo_jpeg_decoder *d, uint32_t *complete) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    int result;
    do {
        // jpeg_consume_input does not call the progress monitor, so scans are checked here, too.
        check_scans((j_common_ptr)c);
        result = jpeg_consume_input(c);
    } while (result != JPEG_SUSPENDED && result != JPEG_REACHED_EOI);
    const int scans = jpeg_input_complete(c) ? c->input_scan_number : c->input_scan_number - 1;
    *complete = scans > 0 ? (uint32_t)scans : 0;
    return result == JPEG_REACHED_EOI ? ALCEDO_JPEG_OK : ALCEDO_JPEG_SUSPENDED;
}

alcedo_jpeg_status alcedo_jpeg_begin_output(alcedo_jpeg_decoder *d, uint32_t scan) {
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    // Only the last output counts.
    d->details.excess = d->details.block_excess = d->details.are_lost = 0;
    return jpeg_start_output(&d->cinfo, (int)scan) ? ALCEDO_JPEG_OK : ALCEDO_JPEG_SUSPENDED;
}

alcedo_jpeg_status alcedo_jpeg_end_output(alcedo_jpeg_decoder *d) {
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    return jpeg_finish_output(&d->cinfo) ? ALCEDO_JPEG_OK : ALCEDO_JPEG_SUSPENDED;
}
