#include "internal.h"

static void on_info(png_structp png, png_infop info) {
    alcedo_png_decoder *d = png_get_progressive_ptr(png);
    const size_t bits = (size_t)png_get_channels(png, info) * png_get_bit_depth(png, info);
    d->filtered_row_bytes = (png_get_image_width(png, info) * bits + 7) / 8 + 1;
    alcedo_png_transform(d);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (d->out) alcedo_png_check_room(d, d->stride, 0, d->capacity);
    // Where the other reader gives up, this one takes damaged pixel data for the end of the picture.
    png_set_benign_errors(png, 0);
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
        // In a pass that does not have the row, there are no new samples.
        png_progressive_combine_row(png, d->out + (y - d->first_row) * d->stride, row);
    }
    d->progress.rows = y + 1;
    d->progress.pass = (uint32_t)pass;
    d->progress.has_pixels = 1;
    if (has_all_rows(d)) png_set_benign_errors(png, 1);
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

/// Returns how many of the next `count` bytes libpng may get at once.
///
/// Chunks have checksums of their own, so the checksum of the compressed stream is ignored (see `alcedo_png_new`). Since
/// libpng 1.6.45 that option is gone in most builds: a wrong checksum then is an error when zlib sees it before libpng has
/// the last row, and nothing but a warning otherwise. Here zlib never sees all four bytes of it before: no piece can
/// expand to the end of the last row, until single bytes are left to give.
static size_t piece_size(const alcedo_png_decoder *d, size_t count) {
#ifdef PNG_IGNORE_ADLER32
    (void)d;
    return count;
#else
    // The head of the first chunk with pixels comes alone, so that pixels never come before the row is known.
    if (!d->filtered_row_bytes || has_all_rows(d)) return count;
    // What deflate expands to at most, and the bytes whose rows zlib may still hold back.
    enum { MOST_EXPANSION = 1032, HELD_BYTES = 8 };
    const size_t height = png_get_image_height(d->png, d->info);
    size_t rows = height - d->progress.rows;
    if (png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE) {
        // The last pass has every second row.
        rows = (d->progress.pass < PNG_INTERLACE_ADAM7_PASSES - 1 ? height : rows) / 2;
    }
    const size_t piece = rows * d->filtered_row_bytes / MOST_EXPANSION;
    const size_t most = piece > HELD_BYTES + 1 ? piece - HELD_BYTES : 1;
    return count < most ? count : most;
#endif
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
        // libpng reads only: it has no const here.
        png_process_data(d->png, d->info, (png_bytep)(uintptr_t)bytes, piece);
        bytes += piece;
        count -= piece;
    }
    return ALCEDO_PNG_OK;
}
