#include "internal.h"

#include <string.h>

/// A marker and its segment. Source: ITU-T T.81, annex B.
enum { START_OF_SCAN = 0xDA, END_OF_IMAGE = 0xD9, FIRST_RESTART = 0xD0, LAST_RESTART = 0xD7 };

/// The coefficients of one scan.
typedef struct {
    int components[MAX_COMPS_IN_SCAN];  // indices of components
    int count;
    int first;      // the first coefficient, in zigzag order
    int last;       // the last coefficient
    int low_bit;    // the lowest bit that the scan contains
} scan_header;

/// Returns the next marker that is not part of the data of a scan, or NULL when there is none.
static const uint8_t *next_marker(const uint8_t *bytes, const uint8_t *end) {
    while (end - bytes >= 2) {
        bytes = memchr(bytes, 0xFF, (size_t)(end - bytes - 1));
        if (!bytes) return NULL;
        const uint8_t code = bytes[1];
        if (code == 0xFF) {
            bytes++;
        } else if (code == 0 || (code >= FIRST_RESTART && code <= LAST_RESTART)) {
            bytes += 2;
        } else {
            return bytes;
        }
    }
    return NULL;
}

int alcedo_jpeg_separates_scans(int code) {
    enum { HUFFMAN_TABLES = 0xC4, CONDITIONING = 0xCC, QUANTIZATION = 0xDB, INTERVAL = 0xDD, COMMENT = 0xFE };
    const int is_application = code >= 0xE0 && code <= 0xEF;
    return code == HUFFMAN_TABLES || code == CONDITIONING || code == QUANTIZATION || code == INTERVAL ||
           code == COMMENT || code == START_OF_SCAN || is_application;
}

/// Reads the segment of a scan, `size` bytes including its length. Returns 0 when it is not valid.
static int read_scan(const struct jpeg_decompress_struct *c, const uint8_t *segment, size_t size, scan_header *scan) {
    if (size < 3) return 0;
    scan->count = segment[2];
    if (scan->count < 1 || scan->count > MAX_COMPS_IN_SCAN || size != (size_t)(6 + 2 * scan->count)) return 0;
    for (int i = 0; i < scan->count; i++) {
        int index = 0;
        while (index < c->num_components && c->comp_info[index].component_id != segment[3 + 2 * i]) index++;
        if (index == c->num_components) return 0;
        scan->components[i] = index;
    }
    const uint8_t *range = segment + 3 + 2 * scan->count;
    scan->first = range[0];
    scan->last = range[1];
    scan->low_bit = range[2] & 15;
    if (scan->first == 0) return scan->last == 0;
    return scan->count == 1 && scan->first <= scan->last && scan->last < DCTSIZE2;
}

int alcedo_jpeg_block_side(const jpeg_component_info *component) {
#if JPEG_LIB_VERSION >= 70
    const int width = component->DCT_h_scaled_size, height = component->DCT_v_scaled_size;
    return width > height ? width : height;
#else
    return component->DCT_scaled_size;
#endif
}

/// Records the scan whose header libjpeg has read. Returns 0 when it is not valid.
static int record_first_scan(const struct jpeg_decompress_struct *c, scan_header *scan) {
    if (c->Se < c->Ss || c->Se >= DCTSIZE2) return 0;
    scan->count = c->comps_in_scan;
    for (int i = 0; i < scan->count; i++) scan->components[i] = c->cur_comp_info[i]->component_index;
    scan->first = c->Ss;
    scan->last = c->Se;
    scan->low_bit = c->Al;
    return 1;
}

void alcedo_jpeg_omit_details(alcedo_jpeg_decoder *d) {
    const struct jpeg_decompress_struct *c = &d->cinfo;
    if (d->is_stream || !c->progressive_mode) return;
    const uint8_t *bytes = d->source.next_input_byte;
    const uint8_t *const end = bytes + d->source.bytes_in_buffer;
    alcedo_jpeg_pieces pieces = {.starts = {bytes}};
    uint64_t exact[MAX_COMPONENTS] = {0};  // a bit for each coefficient that has all its bits
    int omitted = 0;
    scan_header scan;
    if (!record_first_scan(c, &scan)) return;
    for (;;) {
        if (scan.first > 0 && scan.low_bit == 0) {
            const uint64_t from_first = UINT64_MAX << scan.first, to_last = UINT64_MAX >> (63 - scan.last);
            exact[scan.components[0]] |= from_first & to_last;
        }
        scan.low_bit = 1;  // until the next scan
        bytes = next_marker(bytes, end);
        if (!bytes) return;
        if (bytes[1] == END_OF_IMAGE) break;
        if (end - bytes < 4 || !alcedo_jpeg_separates_scans(bytes[1])) return;
        const size_t size = (size_t)bytes[2] << 8 | bytes[3];
        if (size < 2 || size > (size_t)(end - bytes - 2)) return;
        const uint8_t *const marker = bytes;
        bytes += 2 + size;
        if (marker[1] != START_OF_SCAN) continue;
        if (!read_scan(c, marker + 2, size, &scan)) return;
        const jpeg_component_info *component = &c->comp_info[scan.components[0]];
        if (scan.first == 0 || alcedo_jpeg_block_side(component) > 1) continue;
        // The visible part of a block at the edge is only known with its details.
        if (alcedo_jpeg_has_cut_blocks(c, component)) continue;
        bytes = next_marker(bytes, end);
        // The limit on scans applies to files with more of them.
        if (!bytes || ++omitted > ALCEDO_JPEG_MAXIMUM_CUTS) return;
        // Two omitted scans in a row make a single cut, because no piece may be empty.
        if (pieces.count == 0 || pieces.starts[pieces.count] != marker) pieces.ends[pieces.count++] = marker;
        pieces.starts[pieces.count] = bytes;
    }
    // libjpeg smooths an image whose coefficients do not have all bits. Such an image needs all its scans.
    for (int i = 0; i < c->num_components; i++) {
        if (exact[i] != UINT64_MAX - 1) return;
    }
    pieces.ends[pieces.count] = end;
    d->pieces = pieces;
    if (pieces.count == 0) return;
    d->cinfo.do_block_smoothing = FALSE;
    d->source.bytes_in_buffer = (size_t)(pieces.ends[0] - pieces.starts[0]);
}
