#ifdef ALCEDO_AVIF
#include "internal.h"

#include <stdlib.h>
#include <string.h>

int alcedo_avif_is_transparent(const alcedo_avif_decoder *d) {
    const avifImage *image = d->decoder->image;
    if (!image->alphaPlane || d->ignores_alpha) return 0;
    const uint16_t maximum = (uint16_t)((1u << image->depth) - 1);
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = image->alphaPlane + (size_t)y * image->alphaRowBytes;
        // One result for the row, because a loop without exits is vectorized.
        uint32_t is_below = 0;
        if (image->depth > 8) {
            const uint16_t *samples = (const uint16_t *)row;
            for (uint32_t x = 0; x < image->width; x++) is_below |= samples[x] < maximum;
        } else {
            for (uint32_t x = 0; x < image->width; x++) is_below |= row[x] < maximum;
        }
        if (is_below) return 1;
    }
    return 0;
}

/// The output sample for each sample of a plane.
typedef struct {
    uint16_t values[1 << 12];
} sample_table;

/// Fills a table for samples of `depth` bits from `black` to `white`, and output samples up to `maximum`.
static void fill_table(sample_table *table, uint32_t depth, int is_full_range, uint32_t maximum) {
    const uint32_t scale = depth - 8;
    const uint32_t black = is_full_range ? 0 : 16u << scale;
    const uint32_t white = is_full_range ? (1u << depth) - 1 : 235u << scale;
    for (uint32_t value = 0; value < 1u << depth; value++) {
        const uint32_t inside = value < black ? 0 : value > white ? white - black : value - black;
        table->values[value] = (uint16_t)((inside * maximum + (white - black) / 2) / (white - black));
    }
}

/// Returns a sample, limited to the bits of the plane.
static uint32_t sample(const uint8_t *row, uint32_t x, uint32_t depth) {
    if (depth <= 8) return row[x];
    const uint32_t value = ((const uint16_t *)row)[x];
    const uint32_t maximum = (1u << depth) - 1;
    return value < maximum ? value : maximum;
}

/// Converts rows of a monochrome frame. libavif 0.11 draws the limited range as the full range.
static alcedo_avif_status convert_monochrome(
    const alcedo_avif_decoder *d, alcedo_avif_format format, uint32_t first, uint32_t count, uint8_t *out,
    size_t stride) {
    const avifImage *image = d->decoder->image;
    const uint8_t *plane = d->ignores_alpha ? NULL : image->alphaPlane;
    sample_table *tables = malloc(2 * sizeof *tables);
    if (!tables) return ALCEDO_AVIF_OUT_OF_MEMORY;
    const uint32_t depth = image->depth;
    const uint32_t maximum = format == ALCEDO_AVIF_RGBA16 || format == ALCEDO_AVIF_GRAY16 ? 65535 : 255;
    fill_table(&tables[0], depth, image->yuvRange == AVIF_RANGE_FULL, maximum);
    fill_table(&tables[1], depth, 1, maximum);
    const uint16_t *lights = tables[0].values;
    const uint16_t *alphas = tables[1].values;
    for (uint32_t y = first; y < first + count; y++, out += stride) {
        const uint8_t *row = image->yuvPlanes[AVIF_CHAN_Y] + (size_t)y * image->yuvRowBytes[AVIF_CHAN_Y];
        const uint8_t *alpha = plane ? plane + (size_t)y * image->alphaRowBytes : NULL;
        for (uint32_t x = 0; x < image->width; x++) {
            const uint16_t light = lights[sample(row, x, depth)];
            const uint16_t cover = alpha ? alphas[sample(alpha, x, depth)] : (uint16_t)maximum;
            if (format == ALCEDO_AVIF_GRAY8) {
                out[x] = (uint8_t)light;
            } else if (format == ALCEDO_AVIF_GRAY16) {
                memcpy(out + 2 * (size_t)x, &light, sizeof light);
            } else if (format == ALCEDO_AVIF_RGBA8) {
                const uint8_t pixel[4] = {(uint8_t)light, (uint8_t)light, (uint8_t)light, (uint8_t)cover};
                memcpy(out + 4 * (size_t)x, pixel, sizeof pixel);
            } else {
                const uint16_t pixel[4] = {light, light, light, cover};
                memcpy(out + 8 * (size_t)x, pixel, sizeof pixel);
            }
        }
    }
    free(tables);
    return ALCEDO_AVIF_OK;
}

/// Converts the rows from `start`, which must be even, up to `end`.
static avifResult convert_part(
    const alcedo_avif_decoder *d, uint32_t start, uint32_t end, alcedo_avif_format format, uint8_t *out,
    size_t stride) {
    const avifImage *image = d->decoder->image;
    avifImage *view = avifImageCreateEmpty();
    if (!view) return AVIF_RESULT_OUT_OF_MEMORY;
    const avifCropRect rect = {0, start, image->width, end - start};
    avifResult result = avifImageSetViewRect(view, image, &rect);
    if (result == AVIF_RESULT_OK) {
        view->alphaPremultiplied = image->alphaPremultiplied;
        // The view does not own the plane. Without it, all pixels are opaque.
        if (d->ignores_alpha) view->alphaPlane = NULL;
        avifRGBImage rgb;
        avifRGBImageSetDefaults(&rgb, view);
        rgb.depth = format == ALCEDO_AVIF_RGBA16 ? 16 : 8;
        rgb.format = AVIF_RGB_FORMAT_RGBA;
        // The caller divides premultiplied color by alpha, so the rounding is the same as elsewhere.
        rgb.alphaPremultiplied = view->alphaPremultiplied;
        rgb.pixels = out;
        rgb.rowBytes = (uint32_t)stride;
        result = avifImageYUVToRGB(view, &rgb);
    }
    avifImageDestroy(view);
    return result;
}

/// Returns memory for `size` bytes, which the decoder keeps, or NULL.
static uint8_t *row_memory(alcedo_avif_decoder *d, size_t size) {
    if (d->rows_size < size) {
        free(d->rows);
        d->rows = malloc(size);
        d->rows_size = d->rows ? size : 0;
    }
    return d->rows;
}

/// Keeps the message for a result, and returns its status.
static alcedo_avif_status status(alcedo_avif_decoder *d, avifResult result) {
    if (result != AVIF_RESULT_OK) d->message = avifResultToString(result);
    return alcedo_avif_status_of(result);
}

alcedo_avif_status alcedo_avif_convert(
    alcedo_avif_decoder *d, alcedo_avif_format format, uint32_t first, uint32_t count, void *out, size_t stride) {
    const avifImage *image = d->decoder->image;
    // Otherwise, an error below would have the message of an earlier one.
    d->message = "";
    if (image->depth < 8 || image->depth > 12 || !image->yuvPlanes[AVIF_CHAN_Y]) return ALCEDO_AVIF_UNSUPPORTED;
    static const size_t pixel_sizes[] = {
        [ALCEDO_AVIF_GRAY8] = 1, [ALCEDO_AVIF_RGBA8] = 4, [ALCEDO_AVIF_RGBA16] = 8, [ALCEDO_AVIF_GRAY16] = 2};
    const size_t pixel_size = pixel_sizes[format];
    if (first > image->height || count > image->height - first) return ALCEDO_AVIF_CORRUPT;
    if (stride < image->width * pixel_size || stride > UINT32_MAX) return ALCEDO_AVIF_CORRUPT;
    if (count == 0) return ALCEDO_AVIF_OK;
    if (image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400) {
        return convert_monochrome(d, format, first, count, out, stride);
    }
    if (format == ALCEDO_AVIF_GRAY8 || format == ALCEDO_AVIF_GRAY16) return ALCEDO_AVIF_UNSUPPORTED;
    if (count == image->height) return status(d, convert_part(d, 0, count, format, out, stride));

    // Two more rows at each end, whose chroma is needed to interpolate, make the result the same as that of all rows.
    uint32_t start = first & ~1u;
    start = start >= 2 ? start - 2 : 0;
    const uint32_t last = (first + count + 1) & ~1u;
    const uint32_t end = image->height - last > 2 && last < image->height ? last + 2 : image->height;
    const size_t row_size = image->width * pixel_size;
    uint8_t *rows = row_memory(d, (end - start) * row_size);
    if (!rows) return ALCEDO_AVIF_OUT_OF_MEMORY;
    const avifResult result = convert_part(d, start, end, format, rows, row_size);
    if (result != AVIF_RESULT_OK) return status(d, result);
    for (uint32_t y = 0; y < count; y++) {
        memcpy((uint8_t *)out + y * stride, rows + (first - start + y) * row_size, row_size);
    }
    return ALCEDO_AVIF_OK;
}
#endif
