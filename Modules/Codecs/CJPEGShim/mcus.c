#include "internal.h"

// The beginning of libjpeg's own structure, which no installed header has. It is the same in all versions since 6b.
struct jpeg_entropy_decoder {
    void (*start_pass)(j_decompress_ptr cinfo);
    boolean (*decode_mcu)(j_decompress_ptr cinfo, JBLOCKROW *blocks);
};

static boolean decode_mcu(j_decompress_ptr cinfo, JBLOCKROW *blocks) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    const boolean is_done = d->decode_mcu(cinfo, blocks);
    if (!is_done) return is_done;
    d->mcu_count++;
    if (d->mcu_count == d->sixteenth || d->mcu_count == 2 * d->sixteenth) {
        d->read_bytes[d->mcu_count > d->sixteenth] = (size_t)(d->source.next_input_byte - d->first_scan);
    }
    return is_done;
}

static void begin_scan(alcedo_jpeg_decoder *d) {
    const struct jpeg_decompress_struct *c = &d->cinfo;
    d->mcu_count = 0;
    d->sixteenth = c->input_scan_number == 1 ? (uint64_t)c->MCUs_per_row * c->MCU_rows_in_scan / 16 : 0;
}

static void start_pass(j_decompress_ptr cinfo) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    d->start_pass(cinfo);
    // The decoder of a progressive image selects its function for each scan.
    if (cinfo->entropy->decode_mcu != decode_mcu) {
        d->decode_mcu = cinfo->entropy->decode_mcu;
        cinfo->entropy->decode_mcu = decode_mcu;
    }
    begin_scan(d);
}

void alcedo_jpeg_count_mcus(alcedo_jpeg_decoder *d) {
    struct jpeg_entropy_decoder *entropy = d->cinfo.entropy;
    if (!entropy || entropy->start_pass == start_pass) return;
    d->start_pass = entropy->start_pass;
    d->decode_mcu = entropy->decode_mcu;
    entropy->start_pass = start_pass;
    entropy->decode_mcu = decode_mcu;
    // libjpeg has already begun the scan of an image in one scan.
    begin_scan(d);
}
