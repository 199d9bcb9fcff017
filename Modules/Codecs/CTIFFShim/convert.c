#ifdef ALCEDO_TIFF
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_deep(alcedo_tiff_format format) { return format == ALCEDO_TIFF_RGBA16 || format == ALCEDO_TIFF_GRAY16; }

size_t alcedo_tiff_pixel_size(alcedo_tiff_format format) {
    switch (format) {
    case ALCEDO_TIFF_GRAY8:
        return 1;
    case ALCEDO_TIFF_GRAY16:
        return 2;
    case ALCEDO_TIFF_RGBA16:
        return 8;
    default:
        return 4;
    }
}

/// The bytes before the tables of libtiff, which begin at an address that is aligned for numbers of all types.
static size_t aligned(size_t size) { return (size + 15) / 16 * 16; }

/// Creates libtiff's tables for the conversion of luminance and color differences.
static alcedo_tiff_status prepare_ycbcr(alcedo_tiff_decoder *d) {
    float *luma = NULL, *reference = NULL;
    TIFFGetFieldDefaulted(d->files[0], TIFFTAG_YCBCRCOEFFICIENTS, &luma);
    TIFFGetFieldDefaulted(d->files[0], TIFFTAG_REFERENCEBLACKWHITE, &reference);
    int is_valid = luma && reference;
    for (int i = 0; is_valid && i < 3; i++) is_valid = isfinite(luma[i]);
    for (int i = 0; is_valid && i < 6; i++) is_valid = isfinite(reference[i]);
    if (!is_valid || luma[1] == 0) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_CORRUPT, "the coefficients of the color are invalid");
    }
    // Source of the sizes: tif_color.c of libtiff.
    const size_t tables = 4 * 256 * sizeof(TIFFRGBValue) + 2 * 256 * sizeof(int) + 3 * 256 * sizeof(int32_t);
    d->ycbcr = calloc(1, aligned(sizeof *d->ycbcr) + tables);
    if (!d->ycbcr) return alcedo_tiff_fail(d, ALCEDO_TIFF_OUT_OF_MEMORY, "out of memory");
    if (TIFFYCbCrToRGBInit(d->ycbcr, luma, reference) < 0) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_CORRUPT, "the coefficients of the color are invalid");
    }
    return ALCEDO_TIFF_OK;
}

/// Reads the color table. Some writers store 8 bits instead of 16.
static alcedo_tiff_status prepare_palette(alcedo_tiff_decoder *d) {
    uint16_t *red = NULL, *green = NULL, *blue = NULL;
    if (!TIFFGetField(d->files[0], TIFFTAG_COLORMAP, &red, &green, &blue) || !red || !green || !blue) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_CORRUPT, "the color table is missing");
    }
    const uint32_t count = 1u << d->info.depth;
    uint32_t maximum = 0;
    for (uint32_t i = 0; i < count; i++) maximum |= (uint32_t)red[i] | green[i] | blue[i];
    const uint32_t shift = maximum > 255 ? 8 : 0;
    for (uint32_t i = 0; i < count; i++) {
        d->palette[i][0] = (uint8_t)(red[i] >> shift);
        d->palette[i][1] = (uint8_t)(green[i] >> shift);
        d->palette[i][2] = (uint8_t)(blue[i] >> shift);
    }
    return ALCEDO_TIFF_OK;
}

alcedo_tiff_status alcedo_tiff_prepare_conversion(alcedo_tiff_decoder *d) {
    const uint32_t maximum = (1u << d->info.depth) - 1, output = is_deep(d->format) ? 65535 : 255;
    d->scale = malloc(((size_t)maximum + 1) * sizeof *d->scale);
    if (!d->scale) return alcedo_tiff_fail(d, ALCEDO_TIFF_OUT_OF_MEMORY, "out of memory");
    for (uint32_t value = 0; value <= maximum; value++) {
        const uint32_t level = d->is_inverted ? maximum - value : value;
        d->scale[value] =
            (uint16_t)(maximum == 65535 && output == 255 ? level >> 8 : (level * output + maximum / 2) / maximum);
    }
    if (d->info.model == ALCEDO_TIFF_MODEL_PALETTE) return prepare_palette(d);
    // With JPEG, libtiff passes RGB, unless the planes are separate.
    const int is_ycbcr = d->info.model == ALCEDO_TIFF_MODEL_YCBCR;
    const int is_converted = d->compression == COMPRESSION_JPEG && d->plane_count == 1;
    return is_ycbcr && !is_converted ? prepare_ycbcr(d) : ALCEDO_TIFF_OK;
}

/// Reads `count` samples of a row, whose first bit is the highest of the first byte.
static void unpack(const uint8_t *row, uint32_t depth, size_t count, uint16_t *out) {
    if (depth == 8) {
        for (size_t i = 0; i < count; i++) out[i] = row[i];
    } else if (depth == 16) {
        memcpy(out, row, count * sizeof *out);
    } else {
        const uint32_t mask = (1u << depth) - 1;
        size_t bit = 0;
        for (size_t i = 0; i < count; i++, bit += depth) {
            const uint8_t *p = row + bit / 8;
            const uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
            out[i] = (uint16_t)(bits >> (24 - bit % 8 - depth) & mask);
        }
    }
}

/// The color samples of a pixel and alpha, in the range of the output.
typedef struct {
    uint32_t color[4];
    uint32_t alpha;
} pixel_samples;

static inline void store(alcedo_tiff_format format, uint8_t *out, size_t i, const pixel_samples *pixel) {
    const uint32_t *c = pixel->color;
    switch (format) {
    case ALCEDO_TIFF_GRAY8:
        out[i] = (uint8_t)c[0];
        break;
    case ALCEDO_TIFF_GRAY16: {
        const uint16_t value = (uint16_t)c[0];
        memcpy(out + 2 * i, &value, sizeof value);
        break;
    }
    case ALCEDO_TIFF_RGBA16: {
        const uint16_t values[4] = {(uint16_t)c[0], (uint16_t)c[1], (uint16_t)c[2], (uint16_t)pixel->alpha};
        memcpy(out + 8 * i, values, sizeof values);
        break;
    }
    default: {
        const uint8_t values[4] = {(uint8_t)c[0], (uint8_t)c[1], (uint8_t)c[2], (uint8_t)pixel->alpha};
        memcpy(out + 4 * i, values, sizeof values);
    }
    }
}

/// The samples of a row: sample `k` of pixel `i` is `start[k][i * step]`.
typedef struct {
    const uint16_t *start[ALCEDO_TIFF_MAX_PLANES];
    size_t step;
    const uint16_t *alpha;
} row_samples;

/// Alpha is not inverted where color is.
static inline uint32_t alpha_of(const alcedo_tiff_decoder *d, const row_samples *row, size_t i, uint32_t maximum) {
    if (!row->alpha) return maximum;
    const uint32_t value = d->scale[row->alpha[i * row->step]];
    return d->is_inverted ? maximum - value : value;
}

static inline uint32_t color_of(const alcedo_tiff_decoder *d, const row_samples *row, size_t k, size_t i) {
    return d->scale[row->start[k][i * row->step]];
}

static void convert_gray(const alcedo_tiff_decoder *d, const row_samples *row, uint32_t count, uint8_t *out) {
    const uint32_t maximum = is_deep(d->format) ? 65535 : 255;
    for (size_t i = 0; i < count; i++) {
        const uint32_t level = color_of(d, row, 0, i);
        const pixel_samples pixel = {{level, level, level, 0}, alpha_of(d, row, i, maximum)};
        store(d->format, out, i, &pixel);
    }
}

static void convert_rgb(const alcedo_tiff_decoder *d, const row_samples *row, uint32_t count, uint8_t *out) {
    const uint32_t maximum = is_deep(d->format) ? 65535 : 255;
    for (size_t i = 0; i < count; i++) {
        const pixel_samples pixel = {
            {color_of(d, row, 0, i), color_of(d, row, 1, i), color_of(d, row, 2, i), 0},
            alpha_of(d, row, i, maximum)};
        store(d->format, out, i, &pixel);
    }
}

static void convert_palette(const alcedo_tiff_decoder *d, const row_samples *row, uint32_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        memcpy(out + 4 * i, d->palette[row->start[0][i * row->step]], 3);
        out[4 * i + 3] = (uint8_t)alpha_of(d, row, i, 255);
    }
}

/// Passes inks on, or converts them to RGB by the formula of other codecs. Of each ink, the maximum means none.
static void convert_inks(const alcedo_tiff_decoder *d, const row_samples *row, uint32_t count, uint8_t *out) {
    const uint32_t maximum = is_deep(d->format) ? 65535 : 255;
    const int keeps_inks = d->format == ALCEDO_TIFF_INKS;
    for (size_t i = 0; i < count; i++) {
        const uint32_t black = color_of(d, row, 3, i);
        pixel_samples pixel;
        pixel.alpha = keeps_inks ? black : alpha_of(d, row, i, maximum);
        for (size_t k = 0; k < 3; k++) {
            const uint64_t ink = color_of(d, row, k, i);
            pixel.color[k] = keeps_inks ? (uint32_t)ink : (uint32_t)((ink * black + maximum / 2) / maximum);
        }
        store(d->format, out, i, &pixel);
    }
}

static void convert_ycbcr(const alcedo_tiff_decoder *d, const row_samples *row, uint32_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        const size_t position = i * row->step;
        pixel_samples pixel;
        TIFFYCbCrtoRGB(
            d->ycbcr, row->start[0][position], row->start[1][position], row->start[2][position], &pixel.color[0],
            &pixel.color[1], &pixel.color[2]);
        pixel.alpha = alpha_of(d, row, i, 255);
        store(d->format, out, i, &pixel);
    }
}

/// Converts opaque or straight pixels of 8 bits, which are the most frequent.
static void convert_bytes(const uint8_t *row, uint32_t samples, int has_alpha, uint32_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++, row += samples, out += 4) {
        out[0] = row[0];
        out[1] = row[1];
        out[2] = row[2];
        out[3] = has_alpha ? row[3] : 255;
    }
}

void alcedo_tiff_convert(alcedo_tiff_decoder *d, const uint8_t *const *planes, uint32_t count, uint8_t *out) {
    const alcedo_tiff_info *info = &d->info;
    const int is_rgb = info->model == ALCEDO_TIFF_MODEL_RGB || (info->model == ALCEDO_TIFF_MODEL_YCBCR && !d->ycbcr);
    if (is_rgb && info->depth == 8 && d->plane_count == 1 && d->format == ALCEDO_TIFF_RGBA8 &&
        (!info->has_alpha || d->alpha_index == 3)) {
        convert_bytes(planes[0], d->samples_per_pixel, info->has_alpha, count, out);
        return;
    }
    row_samples row = {.step = d->plane_count > 1 ? 1 : d->samples_per_pixel};
    for (uint32_t plane = 0; plane < d->plane_count; plane++) {
        uint16_t *samples = d->samples + (size_t)plane * count;
        unpack(planes[plane], info->depth, (size_t)count * d->samples_per_plane, samples);
        if (d->plane_count > 1) row.start[plane] = samples;
    }
    if (d->plane_count == 1) {
        for (uint32_t k = 0; k < 4 && k < d->samples_per_pixel; k++) row.start[k] = d->samples + k;
        if (info->has_alpha) row.alpha = d->samples + d->alpha_index;
    } else if (info->has_alpha) {
        row.alpha = row.start[d->plane_count - 1];
    }
    switch (info->model) {
    case ALCEDO_TIFF_MODEL_GRAY:
        convert_gray(d, &row, count, out);
        break;
    case ALCEDO_TIFF_MODEL_PALETTE:
        convert_palette(d, &row, count, out);
        break;
    case ALCEDO_TIFF_MODEL_CMYK:
        convert_inks(d, &row, count, out);
        break;
    default:
        if (is_rgb) {
            convert_rgb(d, &row, count, out);
        } else {
            convert_ycbcr(d, &row, count, out);
        }
    }
}

/// A unit has the luminance of its pixels, row by row, and then the two color differences. Source: TIFF 6.0, section
/// 21.
void alcedo_tiff_convert_subsampled(
    const alcedo_tiff_decoder *d, const uint8_t *block, uint32_t y, uint32_t count, uint8_t *out) {
    const size_t across = d->horizontal_subsampling, down = d->vertical_subsampling, unit = across * down + 2;
    const uint8_t *units = block + y / down * d->row_size;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = units + i / across * unit;
        pixel_samples pixel = {.alpha = 255};
        TIFFYCbCrtoRGB(
            d->ycbcr, p[y % down * across + i % across], p[unit - 2], p[unit - 1], &pixel.color[0], &pixel.color[1],
            &pixel.color[2]);
        store(d->format, out, i, &pixel);
    }
}
#endif
