#include "internal.h"

#include <libdeflate.h>

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

uint32_t alcedo_png_crc(const uint8_t *bytes, size_t count) { return alcedo_png_crc_continued(0, bytes, count); }

uint32_t alcedo_png_crc_continued(uint32_t crc, const uint8_t *bytes, size_t count) {
    // For a null pointer, libdeflate returns the checksum of no bytes.
    return count ? libdeflate_crc32(crc, bytes, count) : crc;
}
