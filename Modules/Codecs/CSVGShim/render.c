// Without the trait SVG, the package builds without librsvg.
#ifdef ALCEDO_SVG
#include "internal.h"

#include <string.h>

static void fail(alcedo_svg_drawing *d, alcedo_svg_status status, const char *message) {
    d->status = status;
    const char *text = message ? message : "";
    const size_t length = strnlen(text, sizeof d->message - 1);
    memcpy(d->message, text, length);
    d->message[length] = 0;
}

static void fail_with(alcedo_svg_drawing *d, const GError *error) {
    alcedo_svg_status status = ALCEDO_SVG_CORRUPT;
    if (error && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) status = ALCEDO_SVG_TIMEOUT;
    // librsvg has one error code, so only its words tell that one of its limits is exceeded.
    if (error && (strstr(error->message, "exceeded") || strstr(error->message, "limit"))) status = ALCEDO_SVG_LIMIT;
    fail(d, status, error ? error->message : NULL);
}

static void draw(alcedo_svg_drawing *d, RsvgHandle *handle, cairo_t *cr) {
    const alcedo_svg_settings *s = &d->settings;
    // The document is drawn in its own size, so that relative units have their meaning, and cairo scales the outlines.
    cairo_scale(cr, s->width / s->document_width, s->height / s->document_height);
    const RsvgRectangle viewport = {0, 0, s->document_width, s->document_height};
    GError *error = NULL;
#if LIBRSVG_CHECK_VERSION(2, 59, 0)
    // librsvg 2.59 and later checks the cancellable at each element.
    rsvg_handle_set_cancellable_for_rendering(handle, d->cancellable);
#endif
    if (!rsvg_handle_render_document(handle, cr, &viewport, &error)) {
        fail_with(d, error);
        g_clear_error(&error);
    } else if (cairo_status(cr) != CAIRO_STATUS_SUCCESS) {
        const cairo_status_t status = cairo_status(cr);
        fail(
            d, status == CAIRO_STATUS_NO_MEMORY ? ALCEDO_SVG_OUT_OF_MEMORY : ALCEDO_SVG_CORRUPT,
            cairo_status_to_string(status));
    }
}

static void load_and_draw(alcedo_svg_drawing *d) {
    GInputStream *stream = g_memory_input_stream_new_from_data(d->bytes, (gssize)d->count, NULL);
    GError *error = NULL;
    // Without a base file, librsvg loads nothing but data URLs. With its default limits, libxml2 rejects attributes of
    // more than 10 MB, such as embedded images. The caller limits the document.
    RsvgHandle *handle =
        rsvg_handle_new_from_stream_sync(stream, NULL, RSVG_HANDLE_FLAG_UNLIMITED, d->cancellable, &error);
    g_object_unref(stream);
    if (!handle) {
        fail_with(d, error);
        g_clear_error(&error);
        return;
    }
    // The resolution of CSS. librsvg's default is 90.
    rsvg_handle_set_dpi(handle, 96);
    cairo_t *cr = cairo_create(d->surface);
    draw(d, handle, cr);
    cairo_destroy(cr);
    g_object_unref(handle);
    cairo_surface_flush(d->surface);
}

void alcedo_svg_render(alcedo_svg_drawing *d) {
    d->surface =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)d->settings.width, (int)d->settings.height);
    if (cairo_surface_status(d->surface) != CAIRO_STATUS_SUCCESS) {
        return fail(d, ALCEDO_SVG_OUT_OF_MEMORY, "cannot allocate the pixels");
    }
    load_and_draw(d);
}
#else
typedef int alcedo_svg_no_render;
#endif
