#include "internal.h"

#include <string.h>

static void on_error(j_common_ptr cinfo) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    cinfo->err->format_message(cinfo, d->message);
    longjmp(d->escape, 1);
}

void alcedo_jpeg_note_damage(alcedo_jpeg_decoder *d, alcedo_jpeg_damage damage, const char *message) {
    if (damage <= d->damage) return;
    d->damage = damage;
    d->damage_status = d->ran_out ? ALCEDO_JPEG_TRUNCATED : ALCEDO_JPEG_CORRUPT;
    memmove(d->damage_message, message, strlen(message) + 1);
}

void alcedo_jpeg_tolerate(alcedo_jpeg_decoder *d, alcedo_jpeg_damage damage) { d->tolerated = damage; }

alcedo_jpeg_damage alcedo_jpeg_found_damage(const alcedo_jpeg_decoder *d, alcedo_jpeg_status *status) {
    *status = d->damage_status;
    return d->damage;
}

const char *alcedo_jpeg_damage_message(const alcedo_jpeg_decoder *d) { return d->damage_message; }

alcedo_jpeg_status alcedo_jpeg_verdict(alcedo_jpeg_decoder *d) {
    if (d->damage <= d->tolerated) return ALCEDO_JPEG_OK;
    memcpy(d->message, d->damage_message, sizeof d->message);
    return d->damage_status;
}

/// Whether libjpeg reads the scan that begins the first component. Later scans refine its rows, or add color.
static int begins_image(const struct jpeg_decompress_struct *c) {
    if (c->Ss != 0 || c->Ah != 0) return 0;
    for (int i = 0; i < c->comps_in_scan; i++) {
        if (c->cur_comp_info[i]->component_index == 0) return 1;
    }
    return 0;
}

/// Ends the rows of the image above the row of MCUs that libjpeg is reading. If that is the first row, it counts if a
/// part of it was decoded.
static void limit_rows(alcedo_jpeg_decoder *d) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    if (d->damage == ALCEDO_JPEG_MISSING_PIXELS || !begins_image(c)) return;
#if JPEG_LIB_VERSION >= 70
    const int side = c->min_DCT_v_scaled_size;
#else
    const int side = c->min_DCT_scaled_size;
#endif
    const JDIMENSION height = (JDIMENSION)(c->max_v_samp_factor * side), rows = c->input_iMCU_row * height;
    // Upsampling of chrominance reads the row below.
    const JDIMENSION context = c->max_v_samp_factor > 1 ? (JDIMENSION)c->max_v_samp_factor : 0;
    d->real_rows = rows > context ? rows - context : d->mcu_count > 0 ? height : 0;
}

/// Whether the first scan has about as much data as its first MCUs make expect, which have few bits each. Other images,
/// such as photos below an even sky, have about as much data when they are cut off. libjpeg reads up to eight bytes in
/// advance.
static int is_evenly_filled(const alcedo_jpeg_decoder *d) {
    enum { MAX_BYTES_PER_MCU = 8 };
    if (d->sixteenth == 0 || d->read_bytes[1] > 2 * d->sixteenth * MAX_BYTES_PER_MCU) return 0;
    const size_t count = (size_t)(d->source.next_input_byte - d->first_scan);
    for (int i = 0; i < 2; i++) {
        const size_t expected = d->read_bytes[i] * (i == 0 ? 16 : 8);
        if ((expected > count ? expected - count : count - expected) > count / 16) return 0;
    }
    return d->cinfo.input_scan_number == 1;
}

/// Returns the damage of a scan whose data has ended before its last MCU: at the end of the file, or at a marker.
///
/// A wrong bit can change the number of MCUs that the decoder reads from the data before it finds the next code again.
/// It then reads fewer MCUs than there are: in photos up to 20, but many more in an even image, in which it may never
/// find the next code again. A wrong bit can also look like a marker. In all cases, the data of the rows is there. But
/// when an end mark, or the marker of another scan, is where many more MCUs should be, the data was cut off before the
/// mark was added. When it is exactly at the beginning of a row, the image was declared higher than it is.
static alcedo_jpeg_damage damage_of_short_scan(alcedo_jpeg_decoder *d) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    if (d->ran_out) return ALCEDO_JPEG_MISSING_PIXELS;
    const int is_first = c->Ss == 0 && c->Ah == 0;
    const int ends_scan = c->unread_marker == JPEG_EOI ||
                          (jpeg_has_multiple_scans(c) && alcedo_jpeg_separates_scans(c->unread_marker));
    if (!is_first || !ends_scan || d->gave_up) return ALCEDO_JPEG_WRONG_PIXELS;
    if (d->mcu_count == 0 && d->source.next_input_byte <= d->first_scan + 2) return ALCEDO_JPEG_MISSING_PIXELS;
    enum { LONG_ROW = 16 };
    const uint64_t total = (uint64_t)c->MCUs_per_row * c->MCU_rows_in_scan;
    const uint64_t missing = total > d->mcu_count ? total - d->mcu_count : 0;
    if (missing > 0 && missing % c->MCUs_per_row == 0 && c->MCUs_per_row >= LONG_ROW) return ALCEDO_JPEG_MISSING_PIXELS;
    if (is_evenly_filled(d)) return ALCEDO_JPEG_WRONG_PIXELS;
    // The MCU that is being read has some data.
    const uint64_t few = total / 16 > 8 ? total / 16 : 8, allowed = 1 + (few < total / 8 ? few : total / 8);
    return missing > allowed ? ALCEDO_JPEG_MISSING_PIXELS : ALCEDO_JPEG_WRONG_PIXELS;
}

/// Whether the only scan of the image has been read.
static int ends_image(struct jpeg_decompress_struct *c) {
    return !jpeg_has_multiple_scans(c) && c->input_iMCU_row >= c->total_iMCU_rows;
}

static void on_message(j_common_ptr cinfo, int level) {
    if (level >= 0) return;  // a trace message
    alcedo_jpeg_decoder *d = cinfo->client_data;
    alcedo_jpeg_damage damage = ALCEDO_JPEG_WRONG_PIXELS;
    switch (cinfo->err->msg_code) {
    case JWRN_HIT_MARKER:
        damage = damage_of_short_scan(d);
        if (damage == ALCEDO_JPEG_MISSING_PIXELS) limit_rows(d);
        break;
    case JWRN_EXTRANEOUS_DATA:
        if (!d->is_started) {
            // Bytes between the segments of the header are skipped.
            damage = ALCEDO_JPEG_HARMLESS;
            break;
        }
        // The data of the scan is longer than its MCUs. After the only scan, other markers than the end mark show that
        // it is no data of a scan.
        if (d->ran_out || (ends_image(&d->cinfo) && cinfo->err->msg_parm.i[1] != JPEG_EOI)) {
            damage = ALCEDO_JPEG_HARMLESS;
        }
        break;
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        break;
    default:
        return;
    }
    if (damage <= d->damage) return;
    char message[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, message);
    alcedo_jpeg_note_damage(d, damage, message);
}

static void print_nothing(j_common_ptr cinfo) { (void)cinfo; }

void alcedo_jpeg_init_errors(alcedo_jpeg_decoder *d) {
    d->cinfo.err = jpeg_std_error(&d->errors);
    d->cinfo.client_data = d;
    d->errors.error_exit = on_error;
    d->errors.emit_message = on_message;
    d->errors.output_message = print_nothing;
}

static void do_nothing(j_decompress_ptr cinfo) { (void)cinfo; }

static void run_out(j_decompress_ptr cinfo) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    d->ran_out = 1;
    ERREXIT(cinfo, JERR_INPUT_EOF);
}

void alcedo_jpeg_end_input(alcedo_jpeg_decoder *d) {
    static const uint8_t end_of_image[] = {0xFF, 0xD9};
    d->source.next_input_byte = end_of_image;
    d->source.bytes_in_buffer = sizeof end_of_image;
}

/// Continues with an end mark after the last byte of the file.
static void end_file(alcedo_jpeg_decoder *d) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    d->ran_out = 1;
    alcedo_jpeg_end_input(d);
    // An arithmetic decoder does not tell whether it needed the bytes, and reads zeros after a marker.
    const int is_needed = c->arith_code && c->input_iMCU_row < c->total_iMCU_rows;
    if (is_needed) limit_rows(d);
    alcedo_jpeg_note_damage(
        d, is_needed ? ALCEDO_JPEG_MISSING_PIXELS : ALCEDO_JPEG_HARMLESS,
        is_needed ? "the data ends early" : "the end mark is missing");
}

static boolean on_input_end(j_decompress_ptr cinfo) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    if (d->is_stream) return FALSE;
    alcedo_jpeg_pieces *pieces = &d->pieces;
    if (pieces->current < pieces->count) {
        pieces->current++;
        d->source.next_input_byte = pieces->starts[pieces->current];
        d->source.bytes_in_buffer = (size_t)(pieces->ends[pieces->current] - pieces->starts[pieces->current]);
        return TRUE;
    }
    if (!d->is_started) run_out(cinfo);
    end_file(d);
    return TRUE;
}

static boolean resync(j_decompress_ptr cinfo, int desired) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    if (!jpeg_resync_to_restart(cinfo, desired)) return FALSE;
    // libjpeg only continues after a restart marker if more MCUs follow it.
    if (d->ran_out) {
        limit_rows(d);
        alcedo_jpeg_note_damage(d, ALCEDO_JPEG_MISSING_PIXELS, "the data ends early");
    }
    return TRUE;
}

static void skip_input(j_decompress_ptr cinfo, long count) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    if (count <= 0) return;
    size_t remaining = (size_t)count;
    if (remaining > cinfo->src->bytes_in_buffer) {
        if (!d->is_stream) {
            if (!d->is_started) run_out(cinfo);
            end_file(d);
            return;
        }
        d->skipped = remaining - cinfo->src->bytes_in_buffer;
        remaining = cinfo->src->bytes_in_buffer;
    }
    cinfo->src->next_input_byte += remaining;
    cinfo->src->bytes_in_buffer -= remaining;
}

void alcedo_jpeg_feed(alcedo_jpeg_decoder *d, const uint8_t *bytes, size_t count) {
    size_t offset = (size_t)(d->source.next_input_byte - d->base);
    const size_t left = count - offset;
    const size_t skipped = d->skipped < left ? d->skipped : left;
    offset += skipped;
    d->skipped -= skipped;
    d->base = bytes;
    d->source.next_input_byte = bytes + offset;
    d->source.bytes_in_buffer = count - offset;
}

void alcedo_jpeg_init_source(alcedo_jpeg_decoder *d, const uint8_t *bytes, size_t count) {
    d->source.init_source = do_nothing;
    d->source.fill_input_buffer = on_input_end;
    d->source.skip_input_data = skip_input;
    d->source.resync_to_restart = resync;
    d->source.term_source = do_nothing;
    d->base = bytes;
    d->size = count;
    d->source.next_input_byte = bytes;
    d->source.bytes_in_buffer = count;
    d->cinfo.src = &d->source;
}

alcedo_jpeg_status alcedo_jpeg_failure(const alcedo_jpeg_decoder *d) {
    if (d->was_canceled) return ALCEDO_JPEG_CANCELED;
    if (d->too_many_scans) return ALCEDO_JPEG_LIMIT;
    switch (d->errors.msg_code) {
    case JERR_OUT_OF_MEMORY:
        return ALCEDO_JPEG_OUT_OF_MEMORY;
    case JERR_IMAGE_TOO_BIG:
        return ALCEDO_JPEG_LIMIT;
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
#if JPEG_LIB_VERSION < 70  // the API of libjpeg 6b, as in Debian; Ubuntu's libjpeg-turbo has the API of libjpeg 8
    case JERR_ARITH_NOTIMPL:
#endif
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
        return ALCEDO_JPEG_UNSUPPORTED;
    default:
        return d->ran_out ? ALCEDO_JPEG_TRUNCATED : ALCEDO_JPEG_CORRUPT;
    }
}
