#ifdef ALCEDO_HEIF
#include "internal.h"

#include <stdlib.h>
#include <string.h>

// Fused operations would round differently from one processor to another.
#pragma STDC FP_CONTRACT OFF

static void copy_plane(
    const uint8_t *from, size_t from_stride, uint8_t *to, size_t to_stride, size_t row_size, uint32_t count) {
    for (uint32_t y = 0; y < count; y++) memcpy(to + y * to_stride, from + y * from_stride, row_size);
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

alcedo_heif_status alcedo_heif_copy_tile(
    const alcedo_heif_planes *tile, const alcedo_heif_planes *target, uint32_t x, uint32_t y) {
    if (tile->depth != target->depth || tile->chroma != target->chroma) return ALCEDO_HEIF_UNSUPPORTED;
    if (x >= target->width || y >= target->height) return ALCEDO_HEIF_OK;
    const size_t bytes = tile->depth > 8 ? 2 : 1;
    const uint32_t width = smaller(tile->width, target->width - x);
    const uint32_t height = smaller(tile->height, target->height - y);
    copy_plane(
        tile->luma, tile->luma_stride, target->luma + y * target->luma_stride + x * bytes, target->luma_stride,
        width * bytes, height);
    if (tile->chroma == ALCEDO_HEIF_MONOCHROME) return ALCEDO_HEIF_OK;
    const uint32_t across = tile->chroma != ALCEDO_HEIF_444;
    const uint32_t down = tile->chroma == ALCEDO_HEIF_420;
    const size_t start = (y >> down) * target->color_stride + (x >> across) * bytes;
    const size_t row_size = ((width + across) >> across) * bytes;
    const uint32_t rows = (height + down) >> down;
    copy_plane(tile->blue, tile->color_stride, target->blue + start, target->color_stride, row_size, rows);
    copy_plane(tile->red, tile->color_stride, target->red + start, target->color_stride, row_size, rows);
    return ALCEDO_HEIF_OK;
}

/// The conversion of scaled samples to red, green and blue: the factors of the three planes for each channel.
typedef struct {
    float red[3];
    float green[3];
    float blue[3];
    /// Whether the second and third plane hold blue and red.
    int is_rgb;
} color_matrix;

/// Sets the weights of red and blue in luminance. Returns 0 for an unknown matrix. Source: ITU-T H.273, section 8.3.
static int luma_weights(const alcedo_heif_planes *planes, double *red, double *blue) {
    uint16_t matrix = planes->matrix;
    // A matrix that is derived from the primaries.
    if (matrix == 12) {
        switch (planes->primaries) {
            case 1: matrix = 1; break;
            case 9: matrix = 9; break;
            case 11:
            case 12: *red = 0.22897; *blue = 0.07929; return 1;
            default: return 0;
        }
    }
    switch (matrix) {
        case 1: *red = 0.2126; *blue = 0.0722; return 1;
        case 4: *red = 0.30; *blue = 0.11; return 1;
        // Without a specified matrix, the usual one is that of BT.601.
        case 2:
        case 5:
        case 6: *red = 0.299; *blue = 0.114; return 1;
        case 7: *red = 0.212; *blue = 0.087; return 1;
        case 9: *red = 0.2627; *blue = 0.0593; return 1;
        default: return 0;
    }
}

static int find_matrix(const alcedo_heif_planes *planes, color_matrix *m) {
    *m = (color_matrix){{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, 0};
    if (planes->chroma == ALCEDO_HEIF_MONOCHROME) return 1;
    if (planes->matrix == 0) {
        *m = (color_matrix){{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, 1};
        return planes->chroma == ALCEDO_HEIF_444;
    }
    if (planes->matrix == 8) {
        *m = (color_matrix){{1, -1, 1}, {1, 1, 0}, {1, -1, -1}, 0};
        return 1;
    }
    double red = 0, blue = 0;
    if (!luma_weights(planes, &red, &blue)) return 0;
    const double green = 1 - red - blue;
    m->red[2] = (float)(2 * (1 - red));
    m->blue[1] = (float)(2 * (1 - blue));
    m->green[1] = (float)(-2 * blue * (1 - blue) / green);
    m->green[2] = (float)(-2 * red * (1 - red) / green);
    return 1;
}

int alcedo_heif_can_convert(const alcedo_heif_planes *planes) {
    color_matrix m;
    return planes->depth >= 8 && planes->depth <= 12 && planes->luma && find_matrix(planes, &m);
}

/// A sample after `(sample - black) * factor`.
typedef struct {
    float black;
    float factor;
} scale;

static scale luma_scale(uint32_t depth, int is_full_range, float maximum) {
    const float unit = (float)(1u << (depth - 8));
    if (is_full_range) return (scale){0, maximum / (float)((1u << depth) - 1)};
    return (scale){16 * unit, maximum / (219 * unit)};
}

/// The scale of color differences, whose samples are multiplied by 16 before.
static scale color_scale(uint32_t depth, int is_full_range, float maximum) {
    const float unit = (float)(1u << (depth - 8));
    const float range = is_full_range ? (float)((1u << depth) - 1) : 224 * unit;
    return (scale){16 * 128 * unit, maximum / (16 * range)};
}

/// Scales `count` samples of a plane of bytes or of 16-bit numbers.
static void scale_samples(const uint8_t *row, uint32_t depth, uint32_t count, scale s, float *out) {
    if (depth > 8) {
        const uint16_t *samples = (const uint16_t *)(const void *)row;
        for (uint32_t x = 0; x < count; x++) out[x] = ((float)samples[x] - s.black) * s.factor;
    } else {
        for (uint32_t x = 0; x < count; x++) out[x] = ((float)row[x] - s.black) * s.factor;
    }
}

/// Adds two rows of color samples with the weights `a` and `b`.
static void mix_rows(
    const uint8_t *near, const uint8_t *far, uint32_t depth, uint32_t count, uint32_t a, uint32_t b, uint16_t *out) {
    if (depth > 8) {
        const uint16_t *n = (const uint16_t *)(const void *)near;
        const uint16_t *f = (const uint16_t *)(const void *)far;
        const uint16_t maximum = (uint16_t)((1u << depth) - 1);
        // Larger samples would overflow.
        for (uint32_t x = 0; x < count; x++) {
            out[x] = (uint16_t)(a * (n[x] < maximum ? n[x] : maximum) + b * (f[x] < maximum ? f[x] : maximum));
        }
    } else {
        for (uint32_t x = 0; x < count; x++) out[x] = (uint16_t)(a * near[x] + b * far[x]);
    }
}

/// Interpolates a row of `count` samples to `width` samples, with the weights 3/4 and 1/4, multiplied by 4.
static void widen(const uint16_t *in, uint32_t count, uint16_t *out, uint32_t width) {
    for (uint32_t x = 0; x + 1 < count; x++) {
        if (2 * x + 1 < width) out[2 * x + 1] = (uint16_t)(3 * in[x] + in[x + 1]);
        if (2 * x + 2 < width) out[2 * x + 2] = (uint16_t)(in[x] + 3 * in[x + 1]);
    }
    out[0] = (uint16_t)(4 * in[0]);
    if (width == 2 * count) out[width - 1] = (uint16_t)(4 * in[count - 1]);
}

/// The memory of one row.
typedef struct {
    float *samples[3];
    uint16_t *mixed;
    uint16_t *wide;
} row_memory;

/// Interpolates and scales a row of a color plane.
static void color_row(
    const alcedo_heif_planes *planes, const uint8_t *plane, uint32_t y, scale s, row_memory *memory, float *out) {
    const alcedo_heif_size size = alcedo_heif_color_size(planes);
    const uint32_t depth = planes->depth;
    if (planes->chroma == ALCEDO_HEIF_420) {
        const uint32_t row = y >> 1;
        const uint32_t other = y & 1 ? smaller(row + 1, size.height - 1) : row ? row - 1 : 0;
        mix_rows(
            plane + row * planes->color_stride, plane + other * planes->color_stride, depth, size.width, 3, 1,
            memory->mixed);
    } else {
        const uint8_t *row = plane + y * planes->color_stride;
        const uint32_t weight = planes->chroma == ALCEDO_HEIF_422 ? 4 : 16;
        mix_rows(row, row, depth, size.width, weight, 0, memory->mixed);
    }
    const uint16_t *samples = memory->mixed;
    if (planes->chroma != ALCEDO_HEIF_444) {
        widen(memory->mixed, size.width, memory->wide, planes->width);
        samples = memory->wide;
    }
    for (uint32_t x = 0; x < planes->width; x++) out[x] = ((float)samples[x] - s.black) * s.factor;
}

static float clamped(float value, float maximum) {
    const float positive = value > 0 ? value : 0;
    return (positive < maximum ? positive : maximum) + 0.5f;
}

static void write_pixels(
    const row_memory *memory, const color_matrix *m, uint32_t width, alcedo_heif_format format, uint8_t *out) {
    const float *y = memory->samples[0];
    const float *u = memory->samples[1];
    const float *v = memory->samples[2];
    if (format == ALCEDO_HEIF_RGBA8) {
        for (uint32_t x = 0; x < width; x++) {
            out[4 * x] = (uint8_t)(int)clamped(m->red[0] * y[x] + m->red[1] * u[x] + m->red[2] * v[x], 255);
            out[4 * x + 1] = (uint8_t)(int)clamped(m->green[0] * y[x] + m->green[1] * u[x] + m->green[2] * v[x], 255);
            out[4 * x + 2] = (uint8_t)(int)clamped(m->blue[0] * y[x] + m->blue[1] * u[x] + m->blue[2] * v[x], 255);
            out[4 * x + 3] = 255;
        }
        return;
    }
    uint16_t *samples = (uint16_t *)(void *)out;
    for (uint32_t x = 0; x < width; x++) {
        samples[4 * x] = (uint16_t)(int)clamped(m->red[0] * y[x] + m->red[1] * u[x] + m->red[2] * v[x], 65535);
        samples[4 * x + 1] =
            (uint16_t)(int)clamped(m->green[0] * y[x] + m->green[1] * u[x] + m->green[2] * v[x], 65535);
        samples[4 * x + 2] = (uint16_t)(int)clamped(m->blue[0] * y[x] + m->blue[1] * u[x] + m->blue[2] * v[x], 65535);
        samples[4 * x + 3] = 65535;
    }
}

static size_t pixel_size(alcedo_heif_format format) {
    switch (format) {
        case ALCEDO_HEIF_GRAY8: return 1;
        case ALCEDO_HEIF_GRAY16: return 2;
        case ALCEDO_HEIF_RGBA8: return 4;
        default: return 8;
    }
}

/// Whether the rows are in the planes, and fit into the memory.
static int is_valid(
    const alcedo_heif_planes *planes, alcedo_heif_format format, uint32_t first, uint32_t count, size_t stride) {
    return first <= planes->height && count <= planes->height - first && stride >= planes->width * pixel_size(format);
}

alcedo_heif_status alcedo_heif_convert_color(
    const alcedo_heif_planes *planes, alcedo_heif_format format, uint32_t first, uint32_t count, void *out,
    size_t stride) {
    color_matrix m;
    if (!alcedo_heif_can_convert(planes) || !find_matrix(planes, &m)) return ALCEDO_HEIF_UNSUPPORTED;
    if (!is_valid(planes, format, first, count, stride)) return ALCEDO_HEIF_CORRUPT;
    const size_t width = planes->width;
    float *floats = malloc(width * (3 * sizeof(float) + 2 * sizeof(uint16_t)));
    if (!floats) return ALCEDO_HEIF_OUT_OF_MEMORY;
    row_memory memory = {{floats, floats + width, floats + 2 * width}, NULL, NULL};
    memory.mixed = (uint16_t *)(void *)(floats + 3 * width);
    memory.wide = memory.mixed + width;
    const float maximum = format == ALCEDO_HEIF_RGBA16 || format == ALCEDO_HEIF_GRAY16 ? 65535 : 255;
    const scale luma = luma_scale(planes->depth, planes->is_full_range, maximum);
    scale color = color_scale(planes->depth, planes->is_full_range, maximum);
    if (m.is_rgb) color = (scale){16 * luma.black, luma.factor / 16};
    const int is_gray = planes->chroma == ALCEDO_HEIF_MONOCHROME;
    if (is_gray) memset(memory.samples[1], 0, 2 * width * sizeof(float));
    for (uint32_t y = first; y < first + count; y++) {
        uint8_t *row = (uint8_t *)out + (y - first) * stride;
        scale_samples(planes->luma + y * planes->luma_stride, planes->depth, planes->width, luma, memory.samples[0]);
        if (format == ALCEDO_HEIF_GRAY8) {
            for (size_t x = 0; x < width; x++) row[x] = (uint8_t)(int)clamped(memory.samples[0][x], 255);
            continue;
        }
        if (format == ALCEDO_HEIF_GRAY16) {
            uint16_t *deep = (uint16_t *)(void *)row;
            for (size_t x = 0; x < width; x++) deep[x] = (uint16_t)(int)clamped(memory.samples[0][x], 65535);
            continue;
        }
        if (!is_gray) {
            color_row(planes, planes->blue, y, color, &memory, memory.samples[1]);
            color_row(planes, planes->red, y, color, &memory, memory.samples[2]);
        }
        write_pixels(&memory, &m, planes->width, format, row);
    }
    free(floats);
    return ALCEDO_HEIF_OK;
}

alcedo_heif_status alcedo_heif_convert_alpha(
    const alcedo_heif_planes *planes, alcedo_heif_format format, uint32_t first, uint32_t count, void *out,
    size_t stride) {
    if (planes->depth < 8 || planes->depth > 12) return ALCEDO_HEIF_UNSUPPORTED;
    if (format == ALCEDO_HEIF_GRAY8 || format == ALCEDO_HEIF_GRAY16) return ALCEDO_HEIF_UNSUPPORTED;
    if (!is_valid(planes, format, first, count, stride)) return ALCEDO_HEIF_CORRUPT;
    float *samples = malloc(planes->width * sizeof(float));
    if (!samples) return ALCEDO_HEIF_OUT_OF_MEMORY;
    const float maximum = format == ALCEDO_HEIF_RGBA16 ? 65535 : 255;
    const scale s = luma_scale(planes->depth, 1, maximum);
    for (uint32_t y = first; y < first + count; y++) {
        uint8_t *row = (uint8_t *)out + (y - first) * stride;
        uint16_t *deep = (uint16_t *)(void *)row;
        scale_samples(planes->luma + y * planes->luma_stride, planes->depth, planes->width, s, samples);
        for (uint32_t x = 0; x < planes->width; x++) {
            const int value = (int)clamped(samples[x], maximum);
            if (format == ALCEDO_HEIF_RGBA16) {
                deep[4 * x + 3] = (uint16_t)value;
            } else {
                row[4 * x + 3] = (uint8_t)value;
            }
        }
    }
    free(samples);
    return ALCEDO_HEIF_OK;
}
#endif
