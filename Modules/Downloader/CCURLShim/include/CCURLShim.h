// Plain functions over libcurl's multi interface, whose options are variadic and so out of Swift's reach.
#ifndef ALCEDO_CCURLSHIM_H
#define ALCEDO_CCURLSHIM_H

#include <stddef.h>
#include <stdint.h>

/// Callbacks of one transfer. All run on the thread that calls alcedo_curl_perform or alcedo_curl_resume.
typedef struct {
    void *_Nullable context;
    /// One line of the head, with its line end. 0 ends the transfer.
    int (*_Nonnull on_header)(void *_Nullable context, const char *_Nonnull bytes, size_t count);
    /// Some of the body. 1: taken. 0: not taken, pause until alcedo_curl_resume. -1: end the transfer.
    int (*_Nonnull on_body)(void *_Nullable context, const char *_Nonnull bytes, size_t count);
    /// Before a connection to an address, 4 or 16 bytes in network order. 0: not to this one. NULL: to any. The same for all
    /// transfers of a loop.
    int (*_Nullable on_address)(void *_Nullable context, const uint8_t *_Nonnull bytes, size_t count);
} alcedo_curl_callbacks;

/// A request; all strings and bytes are copied.
typedef struct {
    const char *_Nonnull method;
    const char *_Nonnull url;  // sent unchanged; the caller has removed dot segments
    /// Whether there is a body, be it one of no bytes.
    int has_body;
    const uint8_t *_Nullable body;
    size_t body_count;
    /// Whether it may be sent once more, when a connection that was used before ends without an answer.
    int is_repeatable;
    /// Whether to ask for content codings, and to undo them. If not, bodies come as they were sent.
    int decodes_content;
    /// Longest time to connect, TLS included, in milliseconds.
    long connect_timeout_ms;
    /// Whether no connection that there is already is used.
    int wants_fresh_connection;
    /// Whether the request names its cookies itself: the jar then gives it none, and takes none from its answer.
    int has_cookies;
    /// Whether the server's certificate is checked.
    int verifies;
    /// The keys that the server may have, in libcurl's spelling; NULL: any.
    const char *_Nullable pinned_keys;
} alcedo_curl_request;

typedef enum {
    /// HTTP/2 where a TLS server offers it, else HTTP/1.1.
    ALCEDO_CURL_HTTP_AUTOMATIC = 0,
    ALCEDO_CURL_HTTP_1,
    /// HTTP/2 without asking, be it over TLS or not.
    ALCEDO_CURL_HTTP_2,
} alcedo_curl_version;

/// What holds for all transfers of a loop; all strings and bytes are copied.
typedef struct {
    /// Most connections kept open for later transfers.
    long connections;
    alcedo_curl_version version;
    /// Whether a transfer waits for a connection that is being made, if it may be able to share it.
    int shares_connections;
    /// Whether cookies are kept in memory, for all transfers of the loop.
    int keeps_cookies;
    /// NULL: as the environment says. Empty: none.
    const char *_Nullable proxy;
    /// A file of certificates in PEM to trust instead of the system's.
    const char *_Nullable ca_file;
    /// Certificates in PEM to trust instead of the system's.
    const uint8_t *_Nullable ca_bytes;
    size_t ca_count;
} alcedo_curl_settings;

/// What a transfer took and moved so far; times in microseconds from its start, 0 for what has not happened.
typedef struct {
    int64_t name_looked_up, connected, secured, first_byte, total;
    /// Of the whole answer before content codings are undone, and of the request's body.
    int64_t bytes_received, bytes_sent;
    int is_reused;
    /// 10, 11, 20 or 30; 0: not known.
    int version;
} alcedo_curl_metrics;

typedef enum {
    ALCEDO_CURL_OK = 0,
    ALCEDO_CURL_INVALID_REQUEST,
    ALCEDO_CURL_OFFLINE,
    ALCEDO_CURL_RESOLVE,
    ALCEDO_CURL_CONNECT,
    ALCEDO_CURL_SECURE,
    ALCEDO_CURL_TIMEOUT,
    ALCEDO_CURL_LOST,
    ALCEDO_CURL_INVALID_RESPONSE,
    ALCEDO_CURL_OUT_OF_MEMORY,
    ALCEDO_CURL_FAILED,
} alcedo_curl_status;

typedef struct alcedo_curl_loop alcedo_curl_loop;
typedef struct alcedo_curl_transfer alcedo_curl_transfer;

/// NULL: out of memory or of descriptors.
alcedo_curl_loop *_Nullable alcedo_curl_loop_create(const alcedo_curl_settings *_Nonnull settings);
/// Every transfer must have been removed.
void alcedo_curl_loop_destroy(alcedo_curl_loop *_Nonnull loop);
/// Ends a wait in alcedo_curl_wait. The only function that any thread may call.
void alcedo_curl_loop_wake(alcedo_curl_loop *_Nonnull loop);
/// Looks what there is to do, and waits for it at most `timeout_ms`.
void alcedo_curl_wait(alcedo_curl_loop *_Nonnull loop, int timeout_ms);
/// Does what there is to do, without waiting.
void alcedo_curl_perform(alcedo_curl_loop *_Nonnull loop);

/// Begins a transfer on a handle from the pool. Header lines are in libcurl's spelling, in any bytes. NULL: out of memory, or a request that libcurl refuses.
alcedo_curl_transfer *_Nullable alcedo_curl_transfer_start(
    alcedo_curl_loop *_Nonnull loop, const alcedo_curl_request *_Nonnull request,
    const char *_Nonnull const *_Nonnull header_lines, size_t header_count, alcedo_curl_callbacks callbacks);
/// Has the connection of a transfer closed when it is the last on it.
void alcedo_curl_transfer_abandon_connection(alcedo_curl_transfer *_Nonnull transfer);
/// Ends a transfer, at any point, and gives its handle back. The transfer is gone afterwards.
void alcedo_curl_transfer_remove(alcedo_curl_transfer *_Nonnull transfer);
/// What it took so far. To be asked before it is removed.
alcedo_curl_metrics alcedo_curl_transfer_metrics(alcedo_curl_transfer *_Nonnull transfer);
/// Goes on after a pause. May call `on_body`. 0: the transfer cannot go on, and does not end by itself.
int alcedo_curl_resume(alcedo_curl_transfer *_Nonnull transfer);
/// Whether libcurl undoes `chunked` at the end of a list of transfer codings.
int alcedo_curl_undoes_lists_of_codings(void);

/// The next transfer that has ended by itself, or NULL. `status` and `message` say how.
alcedo_curl_transfer *_Nullable alcedo_curl_next_finished(
    alcedo_curl_loop *_Nonnull loop, void *_Nullable *_Nonnull context, alcedo_curl_status *_Nonnull status,
    const char *_Nullable *_Nonnull message);

#endif
