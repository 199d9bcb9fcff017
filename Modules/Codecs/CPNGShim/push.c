#include "internal.h"

static void on_info(png_structp png, png_infop info) {
    alcedo_png_decoder *d = png_get_progressive_ptr(png);
    const size_t bits = (size_t)png_get_channels(png, info) * png_get_bit_depth(png, info);
    d->filtered_row_bytes = (png_get_image_width(png, info) * bits + 7) / 8 + 1;
    alcedo_png_transform(d);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (d->out) alcedo_png_check_room(d, d->stride, 0, d->capacity);
    // By default, libpng's progressive reader treats damaged pixel data as the end of the image. It must fail instead,
    // like the other reader.
    png_set_benign_errors(png, 0);
    // The pixels may be right, or almost right, in spite of a wrong checksum. The checksums of the header and the
    // palette were verified before.
    png_set_crc_action(png, PNG_CRC_WARN_USE, PNG_CRC_DEFAULT);
}

static int has_all_rows(const alcedo_png_decoder *d) {
    const int is_interlaced = png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE;
    return d->progress.rows == png_get_image_height(d->png, d->info) &&
           d->progress.pass == (is_interlaced ? PNG_INTERLACE_ADAM7_PASSES - 1 : 0);
}

static void on_row(png_structp png, png_bytep row, png_uint_32 y, int pass) {
    alcedo_png_decoder *d = png_get_progressive_ptr(png);
    if (d->out) {
        if (y < d->first_row || y - d->first_row >= d->capacity / d->stride) {
            png_error(png, "the output buffer is too small for the image");
        }
        // In a pass without samples for this row, `row` is NULL and nothing changes.
        png_progressive_combine_row(png, d->out + (y - d->first_row) * d->stride, row);
    }
    d->progress.rows = y + 1;
    d->progress.pass = (uint32_t)pass;
    d->progress.has_pixels = 1;
    if (!has_all_rows(d)) return;
    d->progress.has_all_rows = d->reads_end = 1;
    png_set_benign_errors(png, 1);
}

static void on_end(png_structp png, png_infop info) {
    (void)info;
    alcedo_png_decoder *d = png_get_progressive_ptr(png);
    if (!has_all_rows(d)) png_error(png, "Not enough image data");
    d->progress.is_whole = 1;
}

alcedo_png_decoder *alcedo_png_create_push(size_t chunk_limit) {
    alcedo_png_decoder *d = alcedo_png_new(chunk_limit);
    if (!d) return NULL;
    if (setjmp(d->escape)) {
        alcedo_png_destroy(d);
        return NULL;
    }
    png_set_progressive_read_fn(d->png, d, on_info, on_row, on_end);
    return d;
}

/// Returns the number of bytes, at most `count`, that may be passed to libpng at once.
///
/// A wrong checksum of the compressed stream is an error when zlib reads it before libpng has the last row of the
/// image, and only a warning afterwards. To avoid the error, zlib must not receive all four bytes of the checksum
/// before the last row is complete. Each piece is therefore so short that it cannot expand to the end of the last row.
/// Near the end, each piece is a single byte.
static size_t piece_size(const alcedo_png_decoder *d, size_t count) {
    // The header of the first pixel chunk is passed separately, so that the size of a row is known before pixels
    // arrive.
    if (!d->filtered_row_bytes || has_all_rows(d)) return count;
    // The maximum expansion of Deflate, and the number of bytes whose rows zlib may hold back.
    enum { MAXIMUM_EXPANSION = 1032, HELD_BYTES = 8 };
    const size_t height = png_get_image_height(d->png, d->info);
    size_t rows = height - d->progress.rows;
    if (png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE) {
        // The last pass has every second row.
        rows = (d->progress.pass < PNG_INTERLACE_ADAM7_PASSES - 1 ? height : rows) / 2;
    }
    const size_t piece = rows * d->filtered_row_bytes / MAXIMUM_EXPANSION;
    const size_t limit = piece > HELD_BYTES + 1 ? piece - HELD_BYTES : 1;
    return count < limit ? count : limit;
}

alcedo_png_status alcedo_png_push(
    alcedo_png_decoder *d, const uint8_t *bytes, size_t count, uint8_t *out, size_t stride, size_t capacity,
    uint32_t first_row) {
    if (setjmp(d->escape)) return alcedo_png_failure(d);
    d->out = out;
    d->stride = stride;
    d->capacity = capacity;
    d->first_row = first_row;
    while (count) {
        const size_t piece = piece_size(d, count);
        // libpng only reads the bytes, although its parameter is not const.
        png_process_data(d->png, d->info, (png_bytep)(uintptr_t)bytes, piece);
        bytes += piece;
        count -= piece;
    }
    return ALCEDO_PNG_OK;
}
