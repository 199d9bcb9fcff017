// A plain loop in C over libcurl's multi interface that fetches many URLs. The downloads are compared with it.
#ifndef ALCEDO_CMULTILOOP_H
#define ALCEDO_CMULTILOOP_H

#include <stddef.h>

typedef struct alcedo_multi_loop alcedo_multi_loop;

typedef struct {
    /// The prefix of the URLs. The number of a request completes it.
    const char *_Nonnull base;
    /// The number of concurrent transfers.
    size_t width;
    /// The expected number of bytes of each body; 0 for any number except 0.
    size_t body_size;
    /// Whether to use HTTP/2, with all transfers on one connection.
    int speaks_http2;
    /// The PEM file of the certificates to trust; NULL for those of the system.
    const char *_Nullable ca_file;
} alcedo_multi_loop_options;

/// Creates a loop. The strings are copied. Returns NULL when out of memory.
alcedo_multi_loop *_Nullable alcedo_multi_loop_create(const alcedo_multi_loop_options *_Nonnull options);
/// Fetches `count` URLs into memory, beginning with the number `first`. Connections stay open for the next call.
/// Returns the number of responses that are not as expected.
size_t alcedo_multi_loop_run(alcedo_multi_loop *_Nonnull loop, size_t first, size_t count);
void alcedo_multi_loop_destroy(alcedo_multi_loop *_Nonnull loop);

#endif
