#include "pack.h"

#include <libdeflate.h>
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
    /// The length, the name and the checksum of a chunk.
    CHUNK_OVERHEAD = 12,
    FILTER_COUNT = 5,
};

struct alcedo_png_packer {
    struct libdeflate_compressor *compressor;
    uint32_t width;
    int bit_depth;
    int color_type;
    int drops_alpha;
    size_t pixel_bytes;  // at least 1
    size_t row_bytes;
    /// The current row and the one above. Each is preceded by LARGEST_PIXEL zeros, the samples outside of the image.
    uint8_t *row;
    uint8_t *above;
    uint8_t *memory;
    size_t count;
    size_t capacity;
    uint8_t filtered[];
};

static size_t channels_of(int color_type) {
    return color_type == 2 ? 3 : color_type == 4 ? 2 : color_type == 6 ? 4 : 1;
}

alcedo_png_packer *alcedo_png_packer_create(const alcedo_png_settings *s) {
    const uint64_t bits = (uint64_t)s->width * channels_of(s->color_type) * (uint64_t)s->bit_depth;
    const uint64_t row_bytes = (bits + 7) / 8;
    const uint64_t limit = s->pack_limit < LARGEST_CHUNK / 2 ? s->pack_limit : LARGEST_CHUNK / 2;
    if (!s->height || !row_bytes || row_bytes + 1 > limit / s->height) return NULL;
    const size_t capacity = (size_t)(row_bytes + 1) * s->height;
    alcedo_png_packer *p = malloc(sizeof *p + capacity);
    if (!p) return NULL;
    *p = (alcedo_png_packer){
        .width = s->width,
        .bit_depth = s->bit_depth,
        .color_type = s->color_type,
        .drops_alpha = s->drops_alpha,
        .pixel_bytes = s->bit_depth < 8 ? 1 : channels_of(s->color_type) * (size_t)s->bit_depth / 8,
        .row_bytes = (size_t)row_bytes,
        .capacity = capacity,
    };
    p->compressor = libdeflate_alloc_compressor(s->level);
    p->memory = calloc(2, LARGEST_PIXEL + p->row_bytes);
    if (!p->compressor || !p->memory) {
        alcedo_png_packer_destroy(p);
        return NULL;
    }
    p->row = p->memory + LARGEST_PIXEL;
    p->above = p->row + p->row_bytes + LARGEST_PIXEL;
    return p;
}

void alcedo_png_packer_destroy(alcedo_png_packer *p) {
    if (!p) return;
    libdeflate_free_compressor(p->compressor);
    free(p->memory);
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
        copy_bits(p->row, row, p->width, p->bit_depth);
    } else if (p->bit_depth == 16) {
        copy_words(p->row, row, p->width, p->drops_alpha ? channels + 1 : channels, channels);
    } else if (p->drops_alpha) {
        uint8_t *out = p->row;
        for (size_t x = 0; x < p->width; x++, out += 3, row += 4) memcpy(out, row, 3);
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

int alcedo_png_packer_add(alcedo_png_packer *p, const uint8_t *row) {
    if (alcedo_png_packer_is_full(p)) return 0;
    copy_samples(p, row);
    const int filter = best_filter(p);
    uint8_t *out = p->filtered + p->count;
    *out = (uint8_t)filter;
    filter_bytes(out + 1, filter, p->row, p->above, p->row_bytes, p->pixel_bytes);
    p->count += 1 + p->row_bytes;
    uint8_t *above = p->above;
    p->above = p->row;
    p->row = above;
    return 1;
}

int alcedo_png_packer_is_full(const alcedo_png_packer *p) { return p->count == p->capacity; }

size_t alcedo_png_packer_bound(const alcedo_png_packer *p) {
    return libdeflate_zlib_compress_bound(p->compressor, p->count) + CHUNK_OVERHEAD;
}

static void write_number(uint8_t *out, size_t number) {
    for (int i = 0; i < 4; i++) out[i] = (uint8_t)(number >> (24 - 8 * i));
}

size_t alcedo_png_packer_write(const alcedo_png_packer *p, uint8_t *out, size_t capacity) {
    if (capacity < CHUNK_OVERHEAD) return 0;
    const size_t count =
        libdeflate_zlib_compress(p->compressor, p->filtered, p->count, out + 8, capacity - CHUNK_OVERHEAD);
    if (!count || count > LARGEST_CHUNK) return 0;
    write_number(out, count);
    memcpy(out + 4, "IDAT", 4);
    write_number(out + 8 + count, libdeflate_crc32(0, out + 4, 4 + count));
    return count + CHUNK_OVERHEAD;
}
