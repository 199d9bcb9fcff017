// Without the trait SVG, the package builds without librsvg.
#ifdef ALCEDO_SVG
#include "CReferenceDecoders.h"

#include <librsvg/rsvg.h>
#include <math.h>
#include <stdlib.h>

/// Writes a row as red, green, blue and straight alpha.
static void convert_row(const uint32_t *row, uint8_t *out, int width) {
    for (int x = 0; x < width; x++, out += 4) {
        const uint32_t alpha = row[x] >> 24;
        out[0] = (uint8_t)(row[x] >> 16);
        out[1] = (uint8_t)(row[x] >> 8);
        out[2] = (uint8_t)row[x];
        out[3] = (uint8_t)alpha;
        if (alpha == 0 || alpha == 255) continue;
        for (int i = 0; i < 3; i++) out[i] = (uint8_t)((out[i] * 255 + alpha / 2) / alpha);
    }
}

/// Draws the document, and returns its number of pixels, or 0 on any error.
static size_t draw(RsvgHandle *handle, cairo_surface_t *surface, const RsvgRectangle *viewport) {
    cairo_t *cr = cairo_create(surface);
    int is_drawn = rsvg_handle_render_document(handle, cr, viewport, NULL) && cairo_status(cr) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(cr);
    if (!is_drawn) return 0;
    cairo_surface_flush(surface);
    const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
    const uint8_t *rows = cairo_image_surface_get_data(surface);
    uint8_t *pixels = malloc((size_t)width * height * 4);
    if (!pixels) return 0;
    for (int y = 0; y < height; y++) {
        const void *row = rows + (size_t)y * cairo_image_surface_get_stride(surface);
        convert_row(row, pixels + (size_t)y * width * 4, width);
    }
    free(pixels);
    return (size_t)width * height;
}

size_t alcedo_reference_draw_svg(const uint8_t *bytes, size_t count, size_t side) {
    RsvgHandle *handle = rsvg_handle_new_from_data(bytes, count, NULL);
    if (!handle) return 0;
    rsvg_handle_set_dpi(handle, 96);
    RsvgRectangle viewport = {0, 0, 0, 0};
    size_t result = 0;
    gboolean has_box = FALSE;
    RsvgRectangle box;
    rsvg_handle_get_intrinsic_dimensions(handle, NULL, NULL, NULL, NULL, &has_box, &box);
    // Without a size in pixels, the view box has the size.
    if (!rsvg_handle_get_intrinsic_size_in_pixels(handle, &viewport.width, &viewport.height) && has_box) {
        viewport.width = box.width;
        viewport.height = box.height;
    }
    if (side && viewport.width > 0 && viewport.height > 0) {
        const double factor = (double)side / fmax(viewport.width, viewport.height);
        viewport.width = fmax(1, round(viewport.width * factor));
        viewport.height = fmax(1, round(viewport.height * factor));
    }
    if (viewport.width >= 1 && viewport.height >= 1) {
        cairo_surface_t *surface = cairo_image_surface_create(
            CAIRO_FORMAT_ARGB32, (int)lround(viewport.width), (int)lround(viewport.height));
        result = draw(handle, surface, &viewport);
        cairo_surface_destroy(surface);
    }
    g_object_unref(handle);
    return result;
}

size_t alcedo_reference_decode_svg(const uint8_t *bytes, size_t count) {
    return alcedo_reference_draw_svg(bytes, count, 0);
}
#endif
