#include "internal.h"

#include <pthread.h>

void alcedo_png_read_input(png_structp png, png_bytep out, size_t count) {
    alcedo_png_input *input = png_get_io_ptr(png);
    while (count) {
        if (input->index == input->count) {
            input->ran_out = 1;
            png_error(png, "the file is truncated");
        }
        const alcedo_png_segment *segment = &input->segments[input->index];
        const size_t left = segment->count - input->offset;
        const size_t taken = count < left ? count : left;
        if (taken) memcpy(out, segment->bytes + input->offset, taken);
        out += taken;
        count -= taken;
        input->offset += taken;
        if (input->offset == segment->count) {
            input->index++;
            input->offset = 0;
        }
    }
}

void alcedo_png_ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

// Eight tables allow eight bytes to be processed in one step.
static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        tables[0][byte] = crc;
    }
    for (int table = 1; table < 8; table++) {
        for (int byte = 0; byte < 256; byte++) {
            const uint32_t crc = tables[table - 1][byte];
            tables[table][byte] = crc >> 8 ^ tables[0][crc & 255];
        }
    }
}

uint32_t alcedo_png_crc(const uint8_t *bytes, size_t count) { return alcedo_png_crc_continued(0, bytes, count); }

uint32_t alcedo_png_crc_continued(uint32_t crc, const uint8_t *bytes, size_t count) {
    pthread_once(&tables_once, make_tables);
    crc = ~crc;
    for (; count >= 8; count -= 8, bytes += 8) {
        crc ^= bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        crc = tables[7][crc & 255] ^ tables[6][crc >> 8 & 255] ^ tables[5][crc >> 16 & 255] ^ tables[4][crc >> 24] ^
              tables[3][bytes[4]] ^ tables[2][bytes[5]] ^ tables[1][bytes[6]] ^ tables[0][bytes[7]];
    }
    for (; count; count--, bytes++) crc = crc >> 8 ^ tables[0][(crc ^ *bytes) & 255];
    return ~crc;
}
