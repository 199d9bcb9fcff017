#include "pack.h"

#include <libdeflate.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

enum {
    /// The largest number of bytes per pixel, which is the distance to the sample on the left.
    LARGEST_PIXEL = 8,
    /// The bytes for which filters are compared at a time. They stay in the first-level cache, and the sum of their
    /// magnitudes fits in 32 bits.
    BLOCK_BYTES = 1024,
    /// The maximum length of a chunk. Source: W3C PNG specification, third edition, section 5.3.
    LARGEST_CHUNK = 0x7FFFFFFF,
    /// The length, the name and the checksum of a chunk, and the sequence number of a frame.
    CHUNK_OVERHEAD = 16,
    FILTER_COUNT = 5,
    PASS_COUNT = 7,
};

struct alcedo_png_packer {
    struct libdeflate_compressor *compressor;
    uint32_t width;
    uint32_t height;
    int bit_depth;
    int color_type;
    int drops_alpha;
    int is_interlaced;
    /// The current pass of an interlaced image, the number of its next row, and the size of its rows. An image that is
    /// not interlaced has one pass.
    int pass;
    uint32_t y;
    uint32_t pass_width;
    size_t row_bytes;
    size_t pixel_bytes;  // at least 1
    /// The current row and the one above. Each is preceded by LARGEST_PIXEL zeros, the samples outside of the image.
    uint8_t *row;
    uint8_t *above;
    /// The pixels of a pass in one row, in the form in which rows are passed.
    uint8_t *selected;
    uint8_t *memory;
    size_t count;
    size_t capacity;
    uint8_t filtered[];
};

static size_t channels_of(int color_type) {
    return color_type == 2 ? 3 : color_type == 4 ? 2 : color_type == 6 ? 4 : 1;
}

/// Returns the number of bytes of a row with `width` pixels.
static uint64_t row_bytes_of(const alcedo_png_settings *s, uint32_t width) {
    return ((uint64_t)width * channels_of(s->color_type) * (uint64_t)s->bit_depth + 7) / 8;
}

/// Returns the number of bytes of the filtered rows of all passes, or 0 when they exceed the limit.
static size_t filtered_bytes_of(const alcedo_png_settings *s) {
    const uint64_t limit = s->pack_limit < LARGEST_CHUNK / 2 ? s->pack_limit : LARGEST_CHUNK / 2;
    if (!s->width || !s->height || row_bytes_of(s, s->width) + 1 > limit / s->height) return 0;
    if (!s->is_interlaced) return (size_t)(row_bytes_of(s, s->width) + 1) * s->height;
    uint64_t sum = 0;
    for (int pass = 0; pass < PASS_COUNT; pass++) {
        const uint32_t width = PNG_PASS_COLS(s->width, pass);
        if (width) sum += (row_bytes_of(s, width) + 1) * PNG_PASS_ROWS(s->height, pass);
    }
    return (size_t)sum;
}

/// Begins a pass. Its first row has no row above.
static void begin_pass(alcedo_png_packer *p, int pass) {
    p->pass = pass;
    p->y = 0;
    p->pass_width = p->is_interlaced ? PNG_PASS_COLS(p->width, pass) : p->width;
    const uint64_t bits = (uint64_t)p->pass_width * channels_of(p->color_type) * (uint64_t)p->bit_depth;
    p->row_bytes = (size_t)((bits + 7) / 8);
    memset(p->above, 0, p->row_bytes);
}

alcedo_png_packer *alcedo_png_packer_create(const alcedo_png_settings *s) {
    const size_t capacity = filtered_bytes_of(s);
    if (!capacity) return NULL;
    alcedo_png_packer *p = malloc(sizeof *p + capacity);
    if (!p) return NULL;
    *p = (alcedo_png_packer){
        .width = s->width,
        .height = s->height,
        .bit_depth = s->bit_depth,
        .color_type = s->color_type,
        .drops_alpha = s->drops_alpha,
        .is_interlaced = s->is_interlaced,
        .pixel_bytes = s->bit_depth < 8 ? 1 : channels_of(s->color_type) * (size_t)s->bit_depth / 8,
        .capacity = capacity,
    };
    const size_t row_bytes = (size_t)row_bytes_of(s, s->width);
    p->compressor = libdeflate_alloc_compressor(s->level);
    p->memory = calloc(2, LARGEST_PIXEL + row_bytes);
    p->selected = s->is_interlaced ? malloc((size_t)s->width * LARGEST_PIXEL) : NULL;
    if (!p->compressor || !p->memory || (s->is_interlaced && !p->selected)) {
        alcedo_png_packer_destroy(p);
        return NULL;
    }
    p->row = p->memory + LARGEST_PIXEL;
    p->above = p->row + row_bytes + LARGEST_PIXEL;
    begin_pass(p, 0);
    return p;
}

void alcedo_png_packer_destroy(alcedo_png_packer *p) {
    if (!p) return;
    libdeflate_free_compressor(p->compressor);
    free(p->memory);
    free(p->selected);
    free(p);
}

/// Copies 16-bit samples in big-endian order. Of each four samples, the first `channels` are copied.
static void copy_words(uint8_t *out, const uint8_t *row, size_t width, size_t stored, size_t channels) {
    for (size_t x = 0; x < width; x++) {
        for (size_t i = 0; i < channels; i++) {
            uint16_t sample;
            memcpy(&sample, row + 2 * (x * stored + i), 2);
            *out++ = (uint8_t)(sample >> 8);
            *out++ = (uint8_t)sample;
        }
    }
}

static void copy_bits(uint8_t *out, const uint8_t *row, size_t width, int depth) {
    const size_t per_byte = 8 / (size_t)depth;
    for (size_t x = 0; x < width; x += per_byte) {
        unsigned int byte = 0;
        for (size_t i = 0; i < per_byte; i++) byte = byte << depth | (x + i < width ? row[x + i] : 0);
        *out++ = (uint8_t)byte;
    }
}

/// Converts a row to the samples that are stored.
static void copy_samples(alcedo_png_packer *p, const uint8_t *row) {
    const size_t channels = channels_of(p->color_type);
    if (p->bit_depth < 8) {
        copy_bits(p->row, row, p->pass_width, p->bit_depth);
    } else if (p->bit_depth == 16) {
        copy_words(p->row, row, p->pass_width, p->drops_alpha ? channels + 1 : channels, channels);
    } else if (p->drops_alpha) {
        uint8_t *out = p->row;
        for (size_t x = 0; x < p->pass_width; x++, out += 3, row += 4) memcpy(out, row, 3);
    } else {
        memcpy(p->row, row, p->row_bytes);
    }
}

/// Filters `count` bytes at `row`. `size` bytes before both rows are read. The loops have no branches, so that the
/// compiler can use vectors. Source: W3C PNG specification, third edition, section 9.
static void filter_bytes(
    uint8_t *restrict out, int filter, const uint8_t *restrict row, const uint8_t *restrict above, size_t count,
    size_t size) {
    const uint8_t *left = row - size;
    const uint8_t *corner = above - size;
    switch (filter) {
    case 0:
        memcpy(out, row, count);
        break;
    case 1:
        for (size_t x = 0; x < count; x++) out[x] = (uint8_t)(row[x] - left[x]);
        break;
    case 2:
        for (size_t x = 0; x < count; x++) out[x] = (uint8_t)(row[x] - above[x]);
        break;
    case 3:
        for (size_t x = 0; x < count; x++) out[x] = (uint8_t)(row[x] - (left[x] + above[x]) / 2);
        break;
    default:
        for (size_t x = 0; x < count; x++) {
            const int16_t from_left = (int16_t)(above[x] - corner[x]);
            const int16_t from_above = (int16_t)(left[x] - corner[x]);
            const int16_t from_corner = (int16_t)(from_left + from_above);
            const int16_t a = (int16_t)(from_left < 0 ? -from_left : from_left);
            const int16_t b = (int16_t)(from_above < 0 ? -from_above : from_above);
            const int16_t c = (int16_t)(from_corner < 0 ? -from_corner : from_corner);
            const uint8_t other = b <= c ? above[x] : corner[x];
            const int is_left = (a <= b) & (a <= c);
            out[x] = (uint8_t)(row[x] - (is_left ? left[x] : other));
        }
        break;
    }
}

/// Returns the sum of the magnitudes of at most BLOCK_BYTES signed bytes.
static uint32_t magnitude(const uint8_t *bytes, size_t count) {
    uint32_t sum = 0;
    for (size_t x = 0; x < count; x++) {
        const uint8_t negative = (uint8_t)-bytes[x];
        sum += bytes[x] < negative ? bytes[x] : negative;
    }
    return sum;
}

/// Returns the filter with the smallest sum of magnitudes, the heuristic of section 12.7 of the specification.
static int best_filter(const alcedo_png_packer *p) {
    // Differences between indices of a palette mean nothing, and samples of less than a byte are not separate.
    if (p->color_type == 3 || p->bit_depth < 8) return 0;
    uint64_t sums[FILTER_COUNT] = {0};
    uint8_t block[BLOCK_BYTES];
    for (size_t x = 0; x < p->row_bytes; x += BLOCK_BYTES) {
        const size_t count = p->row_bytes - x < BLOCK_BYTES ? p->row_bytes - x : BLOCK_BYTES;
        for (int filter = 0; filter < FILTER_COUNT; filter++) {
            filter_bytes(block, filter, p->row + x, p->above + x, count, p->pixel_bytes);
            sums[filter] += magnitude(block, count);
        }
    }
    int best = 0;
    for (int filter = 1; filter < FILTER_COUNT; filter++) {
        if (sums[filter] < sums[best]) best = filter;
    }
    return best;
}

/// Returns the pixels of the current pass in a row.
static const uint8_t *select_pixels(alcedo_png_packer *p, const uint8_t *row) {
    const size_t step = (size_t)1 << PNG_PASS_COL_SHIFT(p->pass);
    if (!p->is_interlaced || step == 1) return row;
    const size_t samples = channels_of(p->color_type) + (p->drops_alpha ? 1 : 0);
    const size_t size = samples * (p->bit_depth == 16 ? 2 : 1);
    const uint8_t *pixel = row + PNG_PASS_START_COL(p->pass) * size;
    for (size_t x = 0; x < p->pass_width; x++) memcpy(p->selected + x * size, pixel + x * step * size, size);
    return p->selected;
}

int alcedo_png_packer_add(alcedo_png_packer *p, const uint8_t *row) {
    const int pass_count = p->is_interlaced ? PASS_COUNT : 1;
    if (p->pass == pass_count) return 0;
    const uint32_t y = p->y++;
    if (!p->is_interlaced || (p->pass_width && PNG_ROW_IN_INTERLACE_PASS(y, p->pass))) {
        copy_samples(p, select_pixels(p, row));
        const int filter = best_filter(p);
        uint8_t *out = p->filtered + p->count;
        *out = (uint8_t)filter;
        filter_bytes(out + 1, filter, p->row, p->above, p->row_bytes, p->pixel_bytes);
        p->count += 1 + p->row_bytes;
        uint8_t *above = p->above;
        p->above = p->row;
        p->row = above;
    }
    if (p->y == p->height) {
        if (p->pass + 1 < pass_count) {
            begin_pass(p, p->pass + 1);
        } else {
            p->pass = pass_count;
        }
    }
    return 1;
}

int alcedo_png_packer_is_full(const alcedo_png_packer *p) { return p->count == p->capacity; }

size_t alcedo_png_packer_bound(const alcedo_png_packer *p) {
    return libdeflate_zlib_compress_bound(p->compressor, p->count) + CHUNK_OVERHEAD;
}

static void write_number(uint8_t *out, size_t number) {
    for (int i = 0; i < 4; i++) out[i] = (uint8_t)(number >> (24 - 8 * i));
}

size_t alcedo_png_packer_write(const alcedo_png_packer *p, int64_t sequence, uint8_t *out, size_t capacity) {
    if (capacity < CHUNK_OVERHEAD) return 0;
    const size_t prefix = sequence < 0 ? 0 : 4;
    const size_t count = libdeflate_zlib_compress(
        p->compressor, p->filtered, p->count, out + 8 + prefix, capacity - CHUNK_OVERHEAD);
    if (!count || count > LARGEST_CHUNK - prefix) return 0;
    const size_t length = prefix + count;
    write_number(out, length);
    memcpy(out + 4, prefix ? "fdAT" : "IDAT", 4);
    if (prefix) write_number(out + 8, (size_t)sequence);
    write_number(out + 8 + length, libdeflate_crc32(0, out + 4, 4 + length));
    return length + 12;
}
