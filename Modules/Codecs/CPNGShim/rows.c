#include "rows.h"

#include "filters.h"
#include "inflate.h"

#include <stdlib.h>
#include <zlib.h>

// zlib inflates rows in batches of about BATCH_BYTES, because it processes the last bytes of each call slowly and
// copies its window. Images wider than MAXIMUM_WIDTH are left to libpng, which needs fewer rows in memory.
enum {
    BATCH_BYTES = 96 << 10,
    MAXIMUM_WIDTH = 1 << 17,
    CHUNK_HEAD = 8,
    CHUNK_TAIL = 4,
    /// The maximum number of bytes by which the rest of a file can exceed the rows that are inflated at once.
    LONGEST_REST = 1 << 16,
};

struct alcedo_png_rows {
    z_stream stream;  // not used when all rows are inflated at once
    const uint8_t *next;  // the first byte of the file that has not been read
    size_t chunk_left;
    const uint8_t *end;  // the end of the file
    uint32_t crc;  // the checksum of the chunk so far
    int checks_crc;
    int has_ended;  // whether the compressed stream has ended
    size_t width;
    size_t height;
    size_t pixel_bytes;
    size_t row_bytes;  // without the filter byte
    size_t batch_rows;
    size_t read_rows;  // the number of rows read so far
    size_t left;  // the number of rows in memory that have not been read
    uint8_t *row;  // the next row in memory, which begins with its filter
    uint8_t *batch;  // the row above the batch or the image, and its rows; each begins with its filter
    int is_gray;  // whether the output is gray
    int color_type;
    uint32_t palette[256];
};

static uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Returns a pixel of four samples in memory order.
static uint32_t rgba(uint8_t red, uint8_t green, uint8_t blue, uint8_t alpha) {
    const uint8_t samples[4] = {red, green, blue, alpha};
    uint32_t pixel;
    memcpy(&pixel, samples, 4);
    return pixel;
}

/// Reads the palette. Returns 0 when it is missing or too long. Indices without a color are black, as in libpng.
static int read_palette(alcedo_png_rows *rows, const alcedo_png_decoder *d) {
    png_colorp colors = NULL;
    int count = 0;
    if (!png_get_PLTE(d->png, d->info, &colors, &count) || count > 256) return 0;
    png_bytep alphas = NULL;
    int alpha_count = 0;
    png_get_tRNS(d->png, d->info, &alphas, &alpha_count, NULL);
    for (int i = 0; i < 256; i++) {
        const uint8_t alpha = i < alpha_count ? alphas[i] : 255;
        rows->palette[i] = i < count ? rgba(colors[i].red, colors[i].green, colors[i].blue, alpha)
                                     : rgba(0, 0, 0, alpha);
    }
    return 1;
}

static size_t bytes_of_pixel(int color_type) {
    switch (color_type) {
    case PNG_COLOR_TYPE_GRAY_ALPHA:
        return 2;
    case PNG_COLOR_TYPE_RGB:
        return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA:
        return 4;
    default:
        return 1;
    }
}

/// Whether this reader supports the file.
static int is_readable(const alcedo_png_decoder *d, int color_type) {
    const alcedo_png_input *input = &d->input;
    if (input->count != 1 || input->index != 0 || input->offset < CHUNK_HEAD) return 0;
    if (memcmp(input->segments[0].bytes + input->offset - 4, "IDAT", 4) != 0) return 0;
    if (png_get_bit_depth(d->png, d->info) != 8) return 0;
    if (d->format == ALCEDO_PNG_RGBA16 || d->format == ALCEDO_PNG_GRAY16) return 0;
    if (png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE) return 0;
    if (png_get_image_width(d->png, d->info) > MAXIMUM_WIDTH) return 0;
    if (d->format == ALCEDO_PNG_GRAY8 && color_type != PNG_COLOR_TYPE_GRAY) return 0;
    // Images with a single transparent color are left to libpng.
    return color_type == PNG_COLOR_TYPE_PALETTE || !png_get_valid(d->png, d->info, PNG_INFO_tRNS);
}

/// Whether the length of the current chunk is valid and its remaining bytes, including the checksum, are in the file.
static int is_whole(const alcedo_png_rows *rows) {
    return rows->chunk_left <= PNG_UINT_31_MAX && (size_t)(rows->end - rows->next) >= rows->chunk_left + CHUNK_TAIL;
}

/// Skips the checksum of a chunk whose bytes have all been used. Returns 0 when it is verified and does not match.
static int end_chunk(alcedo_png_rows *rows) {
    const int is_good = !rows->checks_crc || rows->crc == big_endian(rows->next);
    rows->next += CHUNK_TAIL;
    return is_good;
}

/// Reads the header of the next chunk. Returns 0 when the chunk is incomplete or too long.
static int begin_chunk(alcedo_png_rows *rows) {
    if ((size_t)(rows->end - rows->next) < CHUNK_HEAD) return 0;
    rows->chunk_left = big_endian(rows->next);
    rows->next += CHUNK_HEAD;
    rows->crc = alcedo_png_crc_continued(0, rows->next - 4, 4);
    return is_whole(rows);
}

/// Inflates all rows at once. Returns 0 on failure, without any change, so that zlib can read the rows.
static int inflate_image(alcedo_png_rows *rows) {
    const size_t slot = rows->row_bytes + 1;
    const size_t size = rows->height * slot;
    const uint8_t *const first = rows->next;
    const size_t first_size = rows->chunk_left;
    const uint32_t first_crc = rows->crc;
    // No stream needs much more memory than its rows. A longer rest of the file has other chunks or is not valid.
    if ((size_t)(rows->end - first) > size + LONGEST_REST) return 0;

    uint8_t *copy = NULL;  // the stream, when it has several chunks
    size_t count = 0;
    int is_good = 1;
    for (;;) {
        if (rows->checks_crc) rows->crc = alcedo_png_crc_continued(rows->crc, rows->next, rows->chunk_left);
        if (copy) memcpy(copy + count, rows->next, rows->chunk_left);
        count += rows->chunk_left;
        rows->next += rows->chunk_left;
        rows->chunk_left = 0;
        const int has_more = (size_t)(rows->end - rows->next) >= CHUNK_TAIL + CHUNK_HEAD &&
                             memcmp(rows->next + CHUNK_TAIL + 4, "IDAT", 4) == 0;
        if (!has_more) break;
        is_good = end_chunk(rows) && begin_chunk(rows);
        if (is_good && !copy) {
            copy = malloc((size_t)(rows->end - first));
            if (copy) memcpy(copy, first, count);
            is_good = copy != NULL;
        }
        if (!is_good) break;
    }

    // Bytes after the last row are read.
    uint8_t *image = is_good ? malloc(slot + size + 4) : NULL;
    if (image) {
        memset(image, 0, slot);
        memset(image + slot + size, 0, 4);
        is_good = alcedo_png_inflate(copy ? copy : first, count, image + slot, size);
    }
    free(copy);
    if (!image || !is_good) {
        free(image);
        rows->next = first;
        rows->chunk_left = first_size;
        rows->crc = first_crc;
        return 0;
    }
    rows->batch = image;
    rows->row = image + slot;
    rows->left = rows->height;
    rows->has_ended = 1;
    return 1;
}

/// Prepares to inflate the rows in batches with zlib. Returns 0 on failure.
static int begin_batches(alcedo_png_rows *rows, int verifies) {
    rows->batch_rows = BATCH_BYTES / (rows->row_bytes + 1);
    if (rows->batch_rows == 0) rows->batch_rows = 1;
    if (rows->batch_rows > rows->height) rows->batch_rows = rows->height;
    // One row more than needed, because bytes after the last row of the batch are read.
    rows->batch = calloc(rows->batch_rows + 2, rows->row_bytes + 1);
    // Some writers declare a smaller window than they use, so zlib uses the largest one, as for libpng. The checksum of
    // a large stream is not verified, because the chunks have their own.
    return rows->batch && inflateInit2(&rows->stream, MAX_WBITS) == Z_OK &&
           (verifies || inflateValidate(&rows->stream, 0) == Z_OK);
}

alcedo_png_rows *alcedo_png_rows_create(alcedo_png_decoder *d, size_t whole_limit) {
    const int color_type = png_get_color_type(d->png, d->info);
    if (!is_readable(d, color_type)) return NULL;
    alcedo_png_rows *rows = calloc(1, sizeof *rows);
    if (!rows) return NULL;
    rows->color_type = color_type;
    rows->is_gray = d->format == ALCEDO_PNG_GRAY8;
    rows->checks_crc = d->checks_crc;
    rows->width = png_get_image_width(d->png, d->info);
    rows->height = png_get_image_height(d->png, d->info);
    rows->pixel_bytes = bytes_of_pixel(color_type);
    rows->row_bytes = rows->width * rows->pixel_bytes;
    const alcedo_png_segment *file = &d->input.segments[0];
    rows->next = file->bytes + d->input.offset;
    rows->end = file->bytes + file->count;
    rows->chunk_left = big_endian(rows->next - CHUNK_HEAD);
    rows->crc = alcedo_png_crc_continued(0, rows->next - 4, 4);
    const int has_colors = color_type != PNG_COLOR_TYPE_PALETTE || read_palette(rows, d);
    const int fits = rows->row_bytes + 1 <= whole_limit / rows->height;
    // A stream that fits was refused by libdeflate, possibly for its checksum, which is damage to report.
    const int verifies = fits && rows->checks_crc;
    if (!has_colors || !is_whole(rows) || !((fits && inflate_image(rows)) || begin_batches(rows, verifies))) {
        alcedo_png_rows_destroy(rows);
        return NULL;
    }
    return rows;
}

void alcedo_png_rows_destroy(alcedo_png_rows *rows) {
    if (!rows) return;
    inflateEnd(&rows->stream);
    free(rows->batch);
    free(rows);
}

/// Passes bytes to zlib when it has none. Returns 0 when no valid pixel data is left.
static int feed(alcedo_png_rows *rows) {
    if (rows->stream.avail_in) return 1;
    while (rows->chunk_left == 0) {
        if (!end_chunk(rows) || !begin_chunk(rows) || memcmp(rows->next - 4, "IDAT", 4) != 0) return 0;
    }
    if (!is_whole(rows)) return 0;
    // Pieces are small, so that the bytes are still in the caches when zlib reads them after the checksum.
    const size_t piece = rows->chunk_left < 16384 ? rows->chunk_left : 16384;
    rows->stream.next_in = (Bytef *)(uintptr_t)rows->next;
    rows->stream.avail_in = (uInt)piece;
    if (rows->checks_crc) rows->crc = alcedo_png_crc_continued(rows->crc, rows->next, piece);
    rows->next += piece;
    rows->chunk_left -= piece;
    return 1;
}

/// Inflates the next batch. Returns 0 on failure.
static int fill(alcedo_png_rows *rows) {
    const size_t slot = rows->row_bytes + 1;
    if (rows->read_rows > 0) memcpy(rows->batch, rows->batch + rows->batch_rows * slot, slot);
    const size_t missing = rows->height - rows->read_rows;
    rows->left = missing < rows->batch_rows ? missing : rows->batch_rows;
    rows->row = rows->batch + slot;
    uint8_t *out = rows->row;
    size_t remaining = rows->left * slot;
    while (remaining) {
        if (rows->has_ended || !feed(rows)) return 0;
        const uInt output_size = remaining < UINT32_MAX ? (uInt)remaining : UINT32_MAX;
        rows->stream.next_out = out;
        rows->stream.avail_out = output_size;
        const int status = inflate(&rows->stream, Z_NO_FLUSH);
        rows->has_ended = status == Z_STREAM_END;
        out += output_size - rows->stream.avail_out;
        remaining -= output_size - rows->stream.avail_out;
        // An error after the last byte of the row, such as a wrong checksum, is found again at the end of the file.
        if (remaining && status != Z_OK && status != Z_STREAM_END) return 0;
    }
    return 1;
}

static void expand(const alcedo_png_rows *rows, const uint8_t *row, uint8_t *out) {
    const size_t width = rows->width;
    const uint32_t opaque = rgba(0, 0, 0, 255);
    switch (rows->color_type) {
    case PNG_COLOR_TYPE_GRAY:
        if (rows->is_gray) {
            memcpy(out, row, width);
            return;
        }
        for (size_t x = 0; x < width; x++) {
            const uint32_t pixel = rgba(row[x], row[x], row[x], 255);
            memcpy(out + x * 4, &pixel, 4);
        }
        return;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
        for (size_t x = 0; x < width; x++) {
            const uint8_t gray = row[2 * x];
            const uint32_t pixel = rgba(gray, gray, gray, row[2 * x + 1]);
            memcpy(out + x * 4, &pixel, 4);
        }
        return;
    case PNG_COLOR_TYPE_RGB:
        // Copies four bytes at a time, including one byte of the next pixel. The last pixel is copied separately.
        for (size_t x = 0; x + 1 < width; x++) {
            uint32_t pixel;
            memcpy(&pixel, row + x * 3, 4);
            pixel = (pixel & ~opaque) | opaque;
            memcpy(out + x * 4, &pixel, 4);
        }
        memcpy(out + width * 4 - 4, row + width * 3 - 3, 3);
        out[width * 4 - 1] = 255;
        return;
    case PNG_COLOR_TYPE_PALETTE:
        for (size_t x = 0; x < width; x++) memcpy(out + x * 4, &rows->palette[row[x]], 4);
        return;
    default:
        memcpy(out, row, width * 4);
    }
}

int alcedo_png_rows_read(alcedo_png_rows *rows, uint8_t *out) {
    if (rows->read_rows == rows->height) return 0;
    if (rows->left == 0 && !fill(rows)) return 0;
    const size_t slot = rows->row_bytes + 1;
    uint8_t *row = rows->row + 1;
    if (!alcedo_png_unfilter(rows->row[0], row, row - slot, rows->row_bytes, rows->pixel_bytes)) return 0;
    expand(rows, row, out);
    rows->row += slot;
    rows->left--;
    rows->read_rows++;
    return 1;
}

// Whether a chunk name has four letters. libpng rejects other names.
static int is_name(const uint8_t *type) {
    for (int i = 0; i < 4; i++) {
        const uint8_t small = type[i] | 32;
        if (small < 'a' || small > 'z') return 0;
    }
    return 1;
}

int alcedo_png_rows_finish(alcedo_png_rows *rows) {
    uint8_t more;
    while (!rows->has_ended) {
        if (!feed(rows)) return 0;
        rows->stream.next_out = &more;
        rows->stream.avail_out = 1;
        const int status = inflate(&rows->stream, Z_NO_FLUSH);
        if ((status != Z_OK && status != Z_STREAM_END) || rows->stream.avail_out == 0) return 0;
        rows->has_ended = status == Z_STREAM_END;
    }
    if (rows->stream.avail_in || rows->chunk_left || !end_chunk(rows)) return 0;
    while (begin_chunk(rows)) {
        const uint8_t *type = rows->next - 4;
        const int is_end = memcmp(type, "IEND", 4) == 0;
        // The names of critical chunks begin with a capital letter.
        if (!is_end && ((type[0] & 32) == 0 || !is_name(type))) return 0;
        rows->crc = alcedo_png_crc_continued(rows->crc, rows->next, rows->chunk_left);
        rows->next += rows->chunk_left;
        if (!end_chunk(rows)) return 0;
        if (is_end) return rows->chunk_left == 0;
    }
    return 0;
}
