// Without the trait SVG, the package builds without librsvg.
#ifdef ALCEDO_SVG
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/// The stack of a drawing thread. librsvg draws nested elements recursively. glibc keeps stacks of this size for the
/// next thread.
#define STACK_SIZE ((size_t)16 << 20)
/// The end of a turn, as a multiple of the time limit. No drawing whose estimate is right takes longer.
#define TURN_FACTOR 10

static void destroy(alcedo_svg_drawing *d) {
    if (d->surface) cairo_surface_destroy(d->surface);
    g_object_unref(d->cancellable);
    pthread_cond_destroy(&d->done);
    pthread_mutex_destroy(&d->lock);
    free(d->bytes);
    free(d);
}

void alcedo_svg_release(alcedo_svg_drawing *d) {
    pthread_mutex_lock(&d->lock);
    const int rest = --d->references;
    pthread_mutex_unlock(&d->lock);
    if (rest == 0) destroy(d);
}

static void *run(void *context) {
    alcedo_svg_drawing *d = context;
    alcedo_svg_render(d);
    free(d->bytes);
    d->bytes = NULL;
    pthread_mutex_lock(&d->lock);
    d->is_done = 1;
    if (d->is_overdue) alcedo_svg_end_turn(&d->turn);
    pthread_cond_signal(&d->done);
    pthread_mutex_unlock(&d->lock);
    alcedo_svg_release(d);
    return NULL;
}

static int start(alcedo_svg_drawing *d) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return -1;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_t thread;
    const int result = pthread_create(&thread, &attributes, run, d);
    pthread_attr_destroy(&attributes);
    return result;
}

/// Waits for the thread. At the time limit, interrupts it and leaves it alone. It then holds a turn.
static void wait_for_end(alcedo_svg_drawing *d, const struct timespec *deadline, struct timespec turn_end) {
    int result = 0;
    pthread_mutex_lock(&d->lock);
    while (!d->is_done && result != ETIMEDOUT) result = pthread_cond_timedwait(&d->done, &d->lock, deadline);
    d->is_overdue = !d->is_done;
    if (d->is_overdue) alcedo_svg_hold_turn(&d->turn, turn_end);
    pthread_mutex_unlock(&d->lock);
    if (d->is_overdue) g_cancellable_cancel(d->cancellable);
}

static alcedo_svg_drawing *create(const uint8_t *bytes, size_t count, const alcedo_svg_settings *settings) {
    alcedo_svg_drawing *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->bytes = malloc(count ? count : 1);
    if (!d->bytes) {
        free(d);
        return NULL;
    }
    memcpy(d->bytes, bytes, count);
    d->count = count;
    d->settings = *settings;
    d->references = 1;
    d->cancellable = g_cancellable_new();
    pthread_mutex_init(&d->lock, NULL);
    alcedo_svg_init_condition(&d->done);
    return d;
}

/// Whether librsvg has panicked on this thread. A second panic would end the process.
static _Thread_local int has_panicked;

alcedo_svg_drawing *alcedo_svg_draw(const uint8_t *bytes, size_t count, const alcedo_svg_settings *settings) {
    alcedo_svg_drawing *d = create(bytes, count, settings);
    if (!d) return NULL;
    if (settings->is_light && !has_panicked) {
        alcedo_svg_render(d);
        has_panicked = d->status == ALCEDO_SVG_PANIC;
        return d;
    }
    if (!settings->is_light && !alcedo_svg_wait_for_turn(settings->is_canceled)) {
        d->is_canceled = 1;
        return d;
    }
    // The time limit begins here, because the time of waiting for others is not that of the document.
    const uint64_t limit = settings->time_limit;
    const struct timespec deadline = alcedo_svg_time_after(limit);
    const struct timespec turn_end =
        alcedo_svg_time_after(limit < UINT64_MAX / TURN_FACTOR ? limit * TURN_FACTOR : limit);
    d->references = 2;
    if (start(d) != 0) {
        destroy(d);
        return NULL;
    }
    wait_for_end(d, &deadline, turn_end);
    return d;
}

// The caller alone sets `is_overdue` and `is_canceled`, so it reads them without the lock. The thread uses its other
// fields until it ends.

alcedo_svg_status alcedo_svg_result(const alcedo_svg_drawing *d) {
    if (d->is_canceled) return ALCEDO_SVG_CANCELED;
    return d->is_overdue ? ALCEDO_SVG_TIMEOUT : d->status;
}

const char *alcedo_svg_message(const alcedo_svg_drawing *d) {
    return d->is_overdue || d->is_canceled ? "" : d->message;
}
#else
typedef int alcedo_svg_no_drawing;
#endif
