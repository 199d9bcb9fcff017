#if !__has_include(<gtk/gtk.h>)
#error "GTK 4 is missing: install Debian's package libgtk-4-dev, or build without the package trait GTK"
#else

// What GTK 4.10 deprecates is all that GTK 4.6 has.
#define GDK_DISABLE_DEPRECATION_WARNINGS
#include <gtk/gtk.h>
#include <glib-unix.h>

// What an event loop of its own needs of libdispatch's main queue. The symbols are exported for CoreFoundation, which
// does the same, but stand in no public header.

/// A descriptor that is readable while the main queue has work.
int _dispatch_get_main_queue_port_4CF(void);
/// Runs what is in the main queue. On the main thread only.
void _dispatch_main_queue_callback_4CF(void *_Nullable message);

#endif
