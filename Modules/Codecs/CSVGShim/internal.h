#ifndef ALCEDO_CSVGSHIM_INTERNAL_H
#define ALCEDO_CSVGSHIM_INTERNAL_H

#include "CSVGShim.h"

#if !__has_include(<librsvg/rsvg.h>)
#error "librsvg is missing: install Debian's package librsvg2-dev, or build without the package trait SVG"
#endif
#include <librsvg/rsvg.h>

#include <pthread.h>

/// One drawing. The thread that draws and the caller each hold a reference.
struct alcedo_svg_drawing {
    pthread_mutex_t lock;
    /// Signaled when the thread has ended its work.
    pthread_cond_t done;
    // The following three fields are protected by the lock.
    int references;
    int is_done;
    int is_overdue;
    /// The turn that the drawing holds while it is overdue and its thread runs.
    alcedo_svg_turn turn;
    /// Whether the document was not drawn, because its caller was canceled before. Set by the caller alone.
    int is_canceled;
    /// Interrupts the thread.
    GCancellable *cancellable;
    // The following fields belong to the thread until it has ended its work, and then to the caller.
    alcedo_svg_settings settings;
    uint8_t *bytes;
    size_t count;
    cairo_surface_t *surface;
    alcedo_svg_status status;
    char message[256];
};

/// Makes a condition wait by the clock that no one sets.
void alcedo_svg_init_condition(pthread_cond_t *condition);
/// Returns the time in some nanoseconds by that clock.
struct timespec alcedo_svg_time_after(uint64_t nanoseconds);

/// Draws the document on the surface, which it creates. Sets the status and the message.
void alcedo_svg_render(alcedo_svg_drawing *drawing);

/// Calls the function, and returns 0 when it panicked in Rust, otherwise 1.
///
/// A panic unwinds the stack to this function, so that the objects of Rust are released, where librsvg is built with
/// unwinding and its functions for C let it pass: up to Rust 1.80, as in Debian 12 and Ubuntu 24.04. Otherwise it ends
/// the process. After a panic, a second one on the same thread ends the process, so the thread must end.
int alcedo_svg_guard(void (*work)(void *), void *context);

#endif
