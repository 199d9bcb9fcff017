#if !__has_include(<gtk/gtk.h>)
#error "GTK 4 is missing: install Debian's package libgtk-4-dev, or build without the package trait GTK"
#else

// GTK 4.10 deprecates functions that have no replacement in GTK 4.6.
#define GDK_DISABLE_DEPRECATION_WARNINGS
#include <gtk/gtk.h>
#include <glib-unix.h>

// These functions connect libdispatch's main queue to another event loop. The symbols are exported for CoreFoundation,
// which uses them in the same way, but no public header declares them.

/// Returns a file descriptor that becomes readable when the main queue receives work, and stays so until it is read.
int _dispatch_get_main_queue_port_4CF(void);
/// Runs the work in the main queue. Call it on the main thread only.
void _dispatch_main_queue_callback_4CF(void *_Nullable message);

#endif
