#include "internal.h"

#include <string.h>

// A scaled transform leaves out the details of each block on its own, and what is beyond black and white is clipped
// only after that. Text, line art and narrow stripes thus become lighter, or show patterns that the image does not
// have. Such details stand out in the reduced rows: samples that differ from both neighbors by far, and less, but
// clipped, samples at edges. In photos, they are rare. An image in which there are too many is decoded again at full
// size, and a filter reduces its rows to those that the scaled transform would have given.

// Of each group of rows, three are examined. Their place changes from group to group, so that they are not always
// between the lines of text.
enum { GROUP = 8 };

// The difference of a sample from the mean of two neighbors that counts, and that of a clipped sample, which counts
// several times. At an eighth, fewer samples of text are clipped.
enum { STRONG = 64, CLIPPED = 16, WEIGHT = 4, WEIGHT_AT_AN_EIGHTH = 16 };

// How many details, in thousandths of the samples, photos can have, and how many more, in thousandths of all samples of
// the image, a part of it can have.
enum { BASE = 30, EXCESS = 8 };

// A half of the size is made of 16 of the 64 coefficients of a block, and a quarter of four. One of so many blocks is
// examined. It counts if the samples of the other coefficients have more than this standard deviation, as in stripes of
// black and white. How many such blocks photos can have, and how many more there can be, is in thousandths, as above.
enum { BLOCKS = 16, DEVIATION_AT_A_HALF = 30, DEVIATION = 50, BLOCK_BASE = 100, BLOCK_EXCESS = 20 };

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint8_t bytes4 __attribute__((vector_size(4)));
typedef int16_t shorts4 __attribute__((vector_size(8)));
typedef float float4 __attribute__((vector_size(16)));

static bytes16 load(const uint8_t *bytes) {
    bytes16 result;
    memcpy(&result, bytes, sizeof result);
    return result;
}

/// Counts the bytes of `row` that differ from those in `before` and `after`, except for a few at its end.
static unsigned int count_details(
    const uint8_t *before, const uint8_t *row, const uint8_t *after, size_t size, uint8_t weight) {
    // Bytes are counted in lanes of a vector, and the lanes are added before they overflow.
    enum { LANES = sizeof(bytes16), ROUNDS = UINT8_MAX / (1 + WEIGHT_AT_AN_EIGHTH) };
    unsigned int count = 0;
    size_t start = 0;
    while (start + LANES <= size) {
        bytes16 counts = {0};
        for (int round = 0; round < ROUNDS && start + LANES <= size; round++, start += LANES) {
            const bytes16 value = load(row + start), left = load(before + start), right = load(after + start);
            const bytes16 mean = (left & right) + ((left ^ right) >> 1);
            const bytes16 is_above = (bytes16)(value > mean);
            const bytes16 difference = ((value - mean) & is_above) | ((mean - value) & ~is_above);
            const bytes16 is_clipped = (bytes16)((value == 0) | (value == UINT8_MAX));
            counts -= (bytes16)(difference > STRONG);
            counts += (bytes16)(difference > CLIPPED) & is_clipped & weight;
        }
        for (size_t lane = 0; lane < LANES; lane++) count += counts[lane];
    }
    return count;
}

void alcedo_jpeg_watch_details(alcedo_jpeg_decoder *d) {
    d->details.is_watched = d->cinfo.scale_num < d->cinfo.scale_denom;
}

int alcedo_jpeg_lost_details(const alcedo_jpeg_decoder *d) { return d->details.are_lost; }

void alcedo_jpeg_examine(alcedo_jpeg_decoder *d, const uint8_t *row, JDIMENSION index) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    alcedo_jpeg_details *details = &d->details;
    const size_t channels = (size_t)c->output_components, size = (size_t)c->output_width * channels;
    const JDIMENSION place = index % GROUP - index / GROUP * 5 % (GROUP - 2);
    if (size <= 2 * channels || place > 2) return;
    if (!details->above[0]) {
        for (int i = 0; i < 2; i++) details->above[i] = c->mem->alloc_large((j_common_ptr)c, JPOOL_IMAGE, size);
    }
    if (place < 2) {
        memcpy(details->above[place], row, size);
        return;
    }
    const uint8_t *middle = details->above[1];
    const uint8_t weight = c->scale_num == 1 ? WEIGHT_AT_AN_EIGHTH : WEIGHT;
    const unsigned int horizontal =
        count_details(middle, middle + channels, middle + 2 * channels, size - 2 * channels, weight);
    const unsigned int vertical = count_details(details->above[0], middle, row, size, weight);
    // Alpha is no sample.
    const int64_t samples = (int64_t)c->output_width * (channels == 4 ? 3 : (int64_t)channels);
    // The edge of a frame, and stripes, have details in one direction only.
    const int64_t fewer = horizontal < vertical ? horizontal : vertical;
    const int64_t more = horizontal < vertical ? vertical : horizontal;
    details->excess += (more < weight * fewer ? more : weight * fewer) * 1000 - samples * BASE;
    if (details->excess < 0) details->excess = 0;
    if (details->excess * GROUP > samples * c->output_height * EXCESS) details->are_lost = 1;
}

void alcedo_jpeg_examine_block(
    j_decompress_ptr cinfo, jpeg_component_info *component, JCOEFPTR block, JSAMPARRAY output, JDIMENSION column) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    alcedo_jpeg_details *details = &d->details;
    details->transform(cinfo, component, block, output, column);
    const int side = details->side;
    if (column & (JDIMENSION)(BLOCKS * side - 1)) return;
    // An eighth of each coefficient, so that the sum of all squares fits.
    int16_t values[DCTSIZE2];
    int32_t sum = 0;
    for (int i = 0; i < DCTSIZE2; i++) {
        values[i] = (int16_t)((int16_t)(block[i] * component->quant_table->quantval[i]) / 8);
    }
    for (int y = 0; y < side; y++) memset(values + y * DCTSIZE, 0, (size_t)side * sizeof *values);
    for (int i = 0; i < DCTSIZE2; i++) sum += values[i] * values[i];
    const int64_t columns = (component->width_in_blocks + BLOCKS - 1) / BLOCKS;
    const int deviation = side == 4 ? DEVIATION_AT_A_HALF : DEVIATION;
    details->block_excess += (sum > deviation * deviation ? 1000 : 0) - BLOCK_BASE;
    if (details->block_excess < 0) details->block_excess = 0;
    if (details->block_excess > columns * component->height_in_blocks * BLOCK_EXCESS) details->are_lost = 1;
}

/// Returns the number of bytes for the sums of one reduced row, with the columns that the filter needs beside them.
static size_t sums_size(const alcedo_jpeg_decoder *d) {
    const size_t columns = ((size_t)d->details.width + 2) * (size_t)d->details.factor;
    return columns * (size_t)d->cinfo.output_components * sizeof(int16_t);
}

/// Allocates memory for one full row, as libjpeg needs it, and for the sums of three reduced rows.
static void allocate(alcedo_jpeg_decoder *d) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    alcedo_jpeg_details *details = &d->details;
    const size_t size = sums_size(d);
    for (int i = 0; i < 2; i++) details->rows[i] = alcedo_jpeg_make_row(d);
    for (int i = 0; i < 3; i++) {
        details->sums[i] = memset(c->mem->alloc_large((j_common_ptr)c, JPOOL_IMAGE, size), 0, size);
    }
}

alcedo_jpeg_status alcedo_jpeg_begin_full_size(alcedo_jpeg_decoder *d, JDIMENSION row) {
    const struct jpeg_decompress_struct *c = &d->cinfo;
    const JDIMENSION width = c->output_width, height = c->output_height;
    const int factor = (int)(c->scale_denom / c->scale_num);
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    // This also frees the memory of the first decode.
    alcedo_jpeg_rewind(d);
    d->details = (alcedo_jpeg_details){.factor = factor, .next = row, .width = width, .height = height};
    alcedo_jpeg_status status = alcedo_jpeg_read_header(d);
    if (status == ALCEDO_JPEG_OK) status = alcedo_jpeg_start(d, d->kind);
    if (status != ALCEDO_JPEG_OK) return status;
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    allocate(d);
    return ALCEDO_JPEG_OK;
}

/// Reads the next full row. Above the first row, and below the last one that was decoded from data, that row is
/// repeated.
static void read_full_row(alcedo_jpeg_decoder *d) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    alcedo_jpeg_details *details = &d->details;
    const uint64_t position = details->position++, margin = (uint64_t)details->factor;
    if (details->row_count > 0 && position < margin + details->row_count) return;
    if (details->is_at_end || c->output_scanline >= c->output_height) return;
    JSAMPROW row = details->rows[1];
    if (jpeg_read_scanlines(c, &row, 1) == 0) ERREXIT(c, JERR_CANT_SUSPEND);
    if (alcedo_jpeg_real_count(d, 1) == 0) {
        details->is_at_end = 1;
        return;
    }
    alcedo_jpeg_convert_row(d, row);
    details->rows[1] = details->rows[0];
    details->rows[0] = row;
    details->row_count++;
}

/// Returns the weight of a full row or column at `index` on one side of the center of a reduced sample. The weights of
/// both sides have a sum of `total_weight`. Few are negative, because what they add beyond black and white is clipped.
static int weight(int factor, int index) {
    static const int half[] = {46, 9, -4};
    if (factor == 2) return half[index];
    return index < factor ? 2 * (factor - index) - 1 : 0;
}

static int total_weight(int factor) { return factor == 2 ? 102 : 2 * factor * factor; }

static void add_row(int16_t *restrict sums, const uint8_t *restrict row, size_t size, int weight) {
    if (weight == 0) return;
    for (size_t i = 0; i < size; i++) sums[i] = (int16_t)(sums[i] + (int16_t)weight * row[i]);
}

/// Filters the sums of full rows horizontally. `channels` is a constant, for which the compiler makes its own loop.
static inline __attribute__((always_inline)) void filter(
    const alcedo_jpeg_decoder *d, const int16_t *sums, uint8_t *out, const size_t channels) {
    const int factor = d->details.factor, total = total_weight(factor) * total_weight(factor);
    const size_t side = (size_t)factor * 3 / 2;
    float weights[DCTSIZE * 3 / 2];
    for (size_t i = 0; i < side; i++) weights[i] = (float)weight(factor, (int)i) / (float)total;
    for (size_t x = 0; x < d->details.width; x++) {
        const int16_t *const center = sums + (x * (size_t)factor + side) * channels;
        float4 sample = {0.5f, 0.5f, 0.5f, 0.5f};
        for (size_t i = 0; i < side; i++) {
            shorts4 left = {0}, right = {0};
            memcpy(&left, center - (i + 1) * channels, channels * sizeof *sums);
            memcpy(&right, center + i * channels, channels * sizeof *sums);
            sample += weights[i] * (__builtin_convertvector(left, float4) + __builtin_convertvector(right, float4));
        }
        const float4 darkest = {0}, lightest = darkest + MAXJSAMPLE;
        sample = __builtin_elementwise_min(__builtin_elementwise_max(sample, darkest), lightest);
        const bytes4 result = __builtin_convertvector(sample, bytes4);
        memcpy(out + x * channels, &result, channels);
    }
}

/// Makes a reduced row of the sums of full rows. Left and right of the image, its columns are repeated.
static void reduce(const alcedo_jpeg_decoder *d, int16_t *sums, uint8_t *out) {
    const size_t channels = (size_t)d->cinfo.output_components, width = d->cinfo.output_width;
    const size_t margin = (size_t)d->details.factor, size = channels * sizeof *sums;
    for (size_t x = 0; x < margin; x++) memcpy(sums + x * channels, sums + margin * channels, size);
    for (size_t x = margin + width; x < ((size_t)d->details.width + 2) * margin; x++) {
        memcpy(sums + x * channels, sums + (margin + width - 1) * channels, size);
    }
    if (channels == 4) {
        filter(d, sums, out, 4);
    } else {
        filter(d, sums, out, 1);
    }
}

/// Reads the full rows up to those that the next reduced row needs. Returns whether that row can be made of data, and
/// writes it to `out` if so.
static int read_reduced_row(alcedo_jpeg_decoder *d, uint8_t *out) {
    alcedo_jpeg_details *details = &d->details;
    const struct jpeg_decompress_struct *c = &d->cinfo;
    const size_t channels = (size_t)c->output_components, size = (size_t)c->output_width * channels;
    const size_t margin = (size_t)details->factor * channels;
    const int factor = details->factor, side = factor * 3 / 2;
    const uint64_t next = details->next, end = (next + 1) * (uint64_t)factor;
    for (;;) {
        // The reduced row `step` needs these rows and those of the next two steps.
        const uint64_t step = details->position / (uint64_t)factor;
        for (int i = 0; i < factor; i++) {
            read_full_row(d);
            if (details->row_count == 0) return 0;
            if (step < next) continue;
            for (int row = 0; row < 3; row++) {
                // The place of the full row among those of the reduced row step - 2 + row.
                const int place = (2 - row) * factor + i, index = place < side ? side - 1 - place : place - side;
                add_row(details->sums[row] + margin, details->rows[0], size, weight(factor, index));
            }
        }
        if (step < next) continue;
        int16_t *const sums = details->sums[0];
        const int is_complete = step >= next + 2;
        const int is_real = details->row_count >= (end < c->output_height ? end : c->output_height);
        if (is_complete && is_real) reduce(d, sums, out);
        memset(sums, 0, sums_size(d));
        details->sums[0] = details->sums[1];
        details->sums[1] = details->sums[2];
        details->sums[2] = sums;
        if (!is_complete) continue;
        details->next++;
        return is_real;
    }
}

alcedo_jpeg_status alcedo_jpeg_read_reduced_rows(
    alcedo_jpeg_decoder *d, uint8_t *out, size_t stride, size_t first, size_t end, size_t *count) {
    if (setjmp(d->escape)) return alcedo_jpeg_failure(d);
    while (first + *count < end && d->details.next < d->details.height) {
        if (!read_reduced_row(d, out + (first + *count) * stride)) break;
        ++*count;
    }
    return alcedo_jpeg_verdict(d);
}
