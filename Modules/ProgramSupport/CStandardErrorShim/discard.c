#define _GNU_SOURCE  // fopencookie, memmem
#include "CStandardErrorShim.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A header of the library defines it.
#ifdef __GLIBC__
/// Parts of messages after which a process ends or may be wrong: those of Swift, of `assert` and of the library of C++.
static const char *const last_words[] = {"Fatal", "SWIFT TASK", "Assertion", "terminate called"};

static ssize_t filter(void *cookie, const char *bytes, size_t count) {
    (void)cookie;
    for (size_t i = 0; i < sizeof last_words / sizeof *last_words; i++)
        if (memmem(bytes, count, last_words[i], strlen(last_words[i]))) {
            const ssize_t written = write(STDERR_FILENO, bytes, count);
            return written < 0 ? 0 : written;
        }
    return (ssize_t)count;
}

void alcedo_discard_library_messages(void) {
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = filter});
    if (!stream) return;
    // Each message reaches the filter at once and as a whole.
    setvbuf(stream, NULL, _IONBF, 0);
    // Glibc documents the streams as variables that a program may set.
    stderr = stream;
}
#else
void alcedo_discard_library_messages(void) {}
#endif
