#include "internal.h"

#include <string.h>

static void on_error(j_common_ptr cinfo) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    cinfo->err->format_message(cinfo, d->message);
    longjmp(d->escape, 1);
}

static void on_message(j_common_ptr cinfo, int level) {
    if (level >= 0) return;  // a trace message
    alcedo_jpeg_decoder *d = cinfo->client_data;
    switch (cinfo->err->msg_code) {
    case JWRN_HIT_MARKER:
        // A progressive scan of AC coefficients only adds detail to an existing image, and a file without any such scan
        // causes no warning either (T.81 G.1.1.1).
        if (d->cinfo.progressive_mode && d->cinfo.Ss > 0) break;
        // fall through
    // Pixels were lost, and libjpeg has replaced them.
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_JPEG_EOF:
        if (!d->is_damaged) cinfo->err->format_message(cinfo, d->message);
        d->is_damaged = 1;
        break;
    default:
        break;
    }
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
    run_out(cinfo);
    return FALSE;
}

static void skip_input(j_decompress_ptr cinfo, long count) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    if (count <= 0) return;
    size_t remaining = (size_t)count;
    if (remaining > cinfo->src->bytes_in_buffer) {
        if (!d->is_stream) run_out(cinfo);
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

void alcedo_jpeg_end_input(alcedo_jpeg_decoder *d) {
    static const uint8_t end_of_image[] = {0xFF, 0xD9};
    d->skipped = 0;
    // Discards a marker whose segment is incomplete.
    d->cinfo.unread_marker = 0;
    d->base = end_of_image;
    d->source.next_input_byte = end_of_image;
    d->source.bytes_in_buffer = sizeof end_of_image;
}

void alcedo_jpeg_init_source(alcedo_jpeg_decoder *d, const uint8_t *bytes, size_t count) {
    d->source.init_source = do_nothing;
    d->source.fill_input_buffer = on_input_end;
    d->source.skip_input_data = skip_input;
    d->source.resync_to_restart = jpeg_resync_to_restart;
    d->source.term_source = do_nothing;
    d->base = bytes;
    d->source.next_input_byte = bytes;
    d->source.bytes_in_buffer = count;
    d->cinfo.src = &d->source;
}

alcedo_jpeg_status alcedo_jpeg_failure(const alcedo_jpeg_decoder *d) {
    if (d->ran_out) return ALCEDO_JPEG_TRUNCATED;
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
        return ALCEDO_JPEG_CORRUPT;
    }
}
