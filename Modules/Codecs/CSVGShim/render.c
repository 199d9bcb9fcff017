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

/// The objects of a drawing, which are released after a panic as well.
typedef struct {
    alcedo_svg_drawing *drawing;
    GInputStream *stream;
    RsvgHandle *handle;
    cairo_t *cr;
} job;

static void draw(const job *job) {
    alcedo_svg_drawing *d = job->drawing;
    const alcedo_svg_settings *s = &d->settings;
    // The document is drawn in its own size, so that relative units have their meaning, and cairo scales the outlines.
    cairo_scale(job->cr, s->width / s->document_width, s->height / s->document_height);
    const RsvgRectangle viewport = {0, 0, s->document_width, s->document_height};
    GError *error = NULL;
#if LIBRSVG_CHECK_VERSION(2, 59, 0)
    // librsvg 2.59 and later checks the cancellable at each element.
    rsvg_handle_set_cancellable_for_rendering(job->handle, d->cancellable);
#endif
    if (!rsvg_handle_render_document(job->handle, job->cr, &viewport, &error)) {
        fail_with(d, error);
        g_clear_error(&error);
    } else if (cairo_status(job->cr) != CAIRO_STATUS_SUCCESS) {
        const cairo_status_t status = cairo_status(job->cr);
        fail(
            d, status == CAIRO_STATUS_NO_MEMORY ? ALCEDO_SVG_OUT_OF_MEMORY : ALCEDO_SVG_CORRUPT,
            cairo_status_to_string(status));
    }
}

static void load_and_draw(void *context) {
    job *job = context;
    alcedo_svg_drawing *d = job->drawing;
    GError *error = NULL;
    // Without a base file, librsvg loads nothing but data URLs. With its default limits, libxml2 rejects attributes of
    // more than 10 MB, such as embedded images. The caller limits the document.
    job->handle = rsvg_handle_new_from_stream_sync(
        job->stream, NULL, RSVG_HANDLE_FLAG_UNLIMITED, d->cancellable, &error);
    if (!job->handle) {
        fail_with(d, error);
        g_clear_error(&error);
        return;
    }
    // The resolution of CSS. librsvg's default is 90.
    rsvg_handle_set_dpi(job->handle, 96);
    job->cr = cairo_create(d->surface);
    draw(job);
}

void alcedo_svg_render(alcedo_svg_drawing *d) {
    d->surface =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)d->settings.width, (int)d->settings.height);
    if (cairo_surface_status(d->surface) != CAIRO_STATUS_SUCCESS) {
        return fail(d, ALCEDO_SVG_OUT_OF_MEMORY, "cannot allocate the pixels");
    }
    job job = {d, g_memory_input_stream_new_from_data(d->bytes, (gssize)d->count, NULL), NULL, NULL};
    if (!alcedo_svg_guard(load_and_draw, &job)) fail(d, ALCEDO_SVG_PANIC, "librsvg panicked");
    if (job.cr) cairo_destroy(job.cr);
    if (job.handle) g_object_unref(job.handle);
    g_object_unref(job.stream);
    cairo_surface_flush(d->surface);
}
#else
typedef int alcedo_svg_no_render;
#endif
