// The loop over libcurl's multi interface that one would write in C to fetch many URLs: what downloads are measured
// against.
#ifndef ALCEDO_CMULTILOOP_H
#define ALCEDO_CMULTILOOP_H

#include <stddef.h>

typedef struct alcedo_multi_loop alcedo_multi_loop;

typedef struct {
    /// A number is put behind it to make the URL of each request.
    const char *_Nonnull base;
    /// Transfers at once.
    size_t width;
    /// Bytes that each body must have.
    size_t body_size;
    /// Whether to speak HTTP/2, all transfers on one connection.
    int speaks_http2;
    /// A file of the certificates to trust in PEM; NULL: the system's.
    const char *_Nullable ca_file;
} alcedo_multi_loop_options;

/// Strings are copied. NULL: out of memory.
alcedo_multi_loop *_Nullable alcedo_multi_loop_create(const alcedo_multi_loop_options *_Nonnull options);
/// Fetches the bodies of so many URLs into memory, from number `first` on. Connections stay open for the next call.
/// Returns how many answers were not as they should be.
size_t alcedo_multi_loop_run(alcedo_multi_loop *_Nonnull loop, size_t first, size_t count);
void alcedo_multi_loop_destroy(alcedo_multi_loop *_Nonnull loop);

#endif
