// Without the trait SVG, the package builds without librsvg.
#ifdef ALCEDO_SVG
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// The stack of a drawing thread. librsvg draws nested elements recursively. glibc keeps stacks of this size for the
/// next thread.
#define STACK_SIZE ((size_t)16 << 20)
/// The maximum number of drawings over their time limit that still run.
#define OVERDUE_LIMIT 2
/// The maximum time of waiting for a turn, as a multiple of the time limit.
#define TURN_FACTOR 10

static pthread_mutex_t overdue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t overdue_changed;
static pthread_once_t overdue_once = PTHREAD_ONCE_INIT;
static int overdue_count;

/// Makes a condition wait by the clock that no one sets.
static void init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void init_overdue(void) { init_condition(&overdue_changed); }

static struct timespec deadline_after(uint64_t nanoseconds) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    // About 30 years: longer limits would overflow on systems with 32-bit seconds.
    const uint64_t seconds = nanoseconds / 1000000000;
    time.tv_sec += (time_t)(seconds < 1000000000 ? seconds : 1000000000);
    time.tv_nsec += (long)(nanoseconds % 1000000000);
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec += 1;
    }
    return time;
}

/// Waits until few drawings are overdue. Returns 0 after 10 times the time limit.
static int wait_for_turn(uint64_t time_limit) {
    const struct timespec limit =
        deadline_after(time_limit < UINT64_MAX / TURN_FACTOR ? time_limit * TURN_FACTOR : UINT64_MAX);
    pthread_once(&overdue_once, init_overdue);
    pthread_mutex_lock(&overdue_lock);
    int result = 0;
    while (overdue_count >= OVERDUE_LIMIT && result != ETIMEDOUT) {
        result = pthread_cond_timedwait(&overdue_changed, &overdue_lock, &limit);
    }
    const int is_turn = overdue_count < OVERDUE_LIMIT;
    pthread_mutex_unlock(&overdue_lock);
    return is_turn;
}

static void count_overdue(int change) {
    pthread_mutex_lock(&overdue_lock);
    overdue_count += change;
    pthread_cond_broadcast(&overdue_changed);
    pthread_mutex_unlock(&overdue_lock);
}

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
    const int was_overdue = d->is_overdue;
    pthread_cond_signal(&d->done);
    pthread_mutex_unlock(&d->lock);
    alcedo_svg_release(d);
    if (was_overdue) count_overdue(-1);
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

/// Waits for the thread. At the deadline, interrupts it and leaves it alone.
static void wait_for_end(alcedo_svg_drawing *d, const struct timespec *deadline) {
    int result = 0;
    pthread_mutex_lock(&d->lock);
    while (!d->is_done && result != ETIMEDOUT) result = pthread_cond_timedwait(&d->done, &d->lock, deadline);
    d->is_overdue = !d->is_done;
    if (d->is_overdue) count_overdue(1);
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
    init_condition(&d->done);
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
    if (!settings->is_light && !wait_for_turn(settings->time_limit)) {
        d->is_refused = 1;
        return d;
    }
    // The time limit begins here, because the time of waiting for others is not that of the document.
    const struct timespec deadline = deadline_after(settings->time_limit);
    d->references = 2;
    if (start(d) != 0) {
        destroy(d);
        return NULL;
    }
    wait_for_end(d, &deadline);
    return d;
}

// The caller alone sets `is_overdue` and `is_refused`, so it reads them without the lock. The thread uses its other
// fields until it ends.

alcedo_svg_status alcedo_svg_result(const alcedo_svg_drawing *d) {
    if (d->is_refused) return ALCEDO_SVG_BUSY;
    return d->is_overdue ? ALCEDO_SVG_TIMEOUT : d->status;
}

const char *alcedo_svg_message(const alcedo_svg_drawing *d) {
    return d->is_overdue || d->is_refused ? "" : d->message;
}
#else
typedef int alcedo_svg_no_drawing;
#endif
