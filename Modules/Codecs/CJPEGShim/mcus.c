#include "internal.h"

// The beginning of libjpeg's own structure, which no installed header has. It is the same in all versions since 6b.
struct jpeg_entropy_decoder {
    void (*start_pass)(j_decompress_ptr cinfo);
    boolean (*decode_mcu)(j_decompress_ptr cinfo, JBLOCKROW *blocks);
};

static boolean decode_mcu(j_decompress_ptr cinfo, JBLOCKROW *blocks) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    const boolean is_done = d->decode_mcu(cinfo, blocks);
    if (is_done) d->mcu_count++;
    return is_done;
}

static void start_pass(j_decompress_ptr cinfo) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    d->start_pass(cinfo);
    // The decoder of a progressive image selects its function for each scan.
    if (cinfo->entropy->decode_mcu != decode_mcu) {
        d->decode_mcu = cinfo->entropy->decode_mcu;
        cinfo->entropy->decode_mcu = decode_mcu;
    }
    d->mcu_count = 0;
}

void alcedo_jpeg_count_mcus(alcedo_jpeg_decoder *d) {
    struct jpeg_entropy_decoder *entropy = d->cinfo.entropy;
    if (!entropy || entropy->start_pass == start_pass) return;
    d->start_pass = entropy->start_pass;
    d->decode_mcu = entropy->decode_mcu;
    entropy->start_pass = start_pass;
    entropy->decode_mcu = decode_mcu;
}
