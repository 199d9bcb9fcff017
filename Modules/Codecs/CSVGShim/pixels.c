// Without the trait SVG, the package builds without librsvg.
#ifdef ALCEDO_SVG
#include "internal.h"

#include <endian.h>
#include <string.h>

/// Returns a pixel of cairo: 0xAARRGGBB, with color multiplied by alpha.
static uint32_t pixel_at(const uint8_t *row, uint32_t x) {
    uint32_t pixel;
    memcpy(&pixel, row + 4 * (size_t)x, sizeof pixel);
    return pixel;
}

int alcedo_svg_is_opaque(const alcedo_svg_drawing *d) {
    const uint8_t *row = cairo_image_surface_get_data(d->surface);
    const size_t stride = (size_t)cairo_image_surface_get_stride(d->surface);
    for (uint32_t y = 0; y < d->settings.height; y++, row += stride) {
        uint32_t all = UINT32_MAX;
        for (uint32_t x = 0; x < d->settings.width; x++) all &= pixel_at(row, x);
        if (all >> 24 != 255) return 0;
    }
    return 1;
}

/// Writes a row as premultiplied RGBA. cairo leaves no color where alpha is 0.
static void copy_row(const uint8_t *row, uint32_t width, uint8_t *out) {
    for (uint32_t x = 0; x < width; x++) {
        const uint32_t pixel = pixel_at(row, x);
        const uint32_t rgba = htole32((pixel & 0xFF00FF00) | (pixel >> 16 & 255) | (pixel & 255) << 16);
        memcpy(out + 4 * (size_t)x, &rgba, sizeof rgba);
    }
}

/// Divides the colors of a row by alpha, rounded to nearest.
static void divide_row(uint32_t width, uint8_t *row) {
    uint32_t alpha = 0, inverse = 0;
    for (uint8_t *pixel = row, *end = row + 4 * (size_t)width; pixel < end; pixel += 4) {
        if (pixel[3] == 0 || pixel[3] == 255) continue;
        if (pixel[3] != alpha) {
            alpha = pixel[3];
            // Rounded up, so that the product below gives the exact quotient of every numerator below 2^16.
            inverse = (1 << 24) / alpha + 1;
        }
        for (int channel = 0; channel < 3; channel++) {
            const uint64_t value = (pixel[channel] * 255U + alpha / 2) * (uint64_t)inverse >> 24;
            pixel[channel] = (uint8_t)(value < 255 ? value : 255);
        }
    }
}

void alcedo_svg_copy(const alcedo_svg_drawing *d, int is_premultiplied, uint8_t *out, size_t stride) {
    const uint8_t *row = cairo_image_surface_get_data(d->surface);
    const size_t source_stride = (size_t)cairo_image_surface_get_stride(d->surface);
    for (uint32_t y = 0; y < d->settings.height; y++, row += source_stride, out += stride) {
        copy_row(row, d->settings.width, out);
        if (!is_premultiplied) divide_row(d->settings.width, out);
    }
}
#else
typedef int alcedo_svg_no_pixels;
#endif
