// Functions over libcurl's multi interface, whose variadic functions Swift cannot call.
#ifndef ALCEDO_CCURLSHIM_H
#define ALCEDO_CCURLSHIM_H

#include <stddef.h>
#include <stdint.h>

/// The callbacks of one transfer. All run on the thread that calls alcedo_curl_perform or alcedo_curl_resume.
typedef struct {
    void *_Nullable context;
    /// Receives one line of a head or of the trailers, including its line end. Returning 0 ends the transfer.
    int (*_Nonnull on_header)(void *_Nullable context, const char *_Nonnull bytes, size_t count);
    /// Receives a piece of the body. Returns 1 to accept the piece, 0 to pause the transfer, and -1 to end the
    /// transfer. After a pause, alcedo_curl_resume passes the refused bytes again.
    int (*_Nonnull on_body)(void *_Nullable context, const char *_Nonnull bytes, size_t count);
    /// Called before a connection to an address of 4 or 16 bytes in network byte order. Returning 0 refuses the
    /// address. NULL allows all addresses. All transfers of a loop must have the same value here.
    int (*_Nullable on_connect)(void *_Nullable context, const uint8_t *_Nonnull bytes, size_t count);
    /// Called before the request is sent on a connection to an address, which may be a reused one. Returning 0 ends the
    /// transfer, and the request is not sent. NULL allows all addresses.
    int (*_Nullable on_send)(void *_Nullable context, const uint8_t *_Nonnull bytes, size_t count);
} alcedo_curl_callbacks;

/// A request; all strings and bytes are copied.
typedef struct {
    const char *_Nonnull method;
    const char *_Nonnull url;  // sent unchanged; the caller has removed dot segments
    /// Whether the request has a body, which may be empty.
    int has_body;
    const uint8_t *_Nullable body;
    size_t body_count;
    /// Whether the request may be sent once more when a reused connection ends without a response.
    int is_repeatable;
    /// The maximum time to connect in milliseconds, including TLS.
    long connect_timeout_ms;
    /// Whether the request must use a new connection.
    int wants_fresh_connection;
    /// Whether the request sets its own cookies. The cookie jar then neither adds cookies nor stores those of the
    /// response.
    int has_cookies;
    /// Whether all cookies in the jar are deleted before the request.
    int deletes_cookies;
    /// Whether the server's certificate is checked.
    int verifies;
    /// The public keys that the server may have, in libcurl's format; NULL allows any key.
    const char *_Nullable pinned_keys;
} alcedo_curl_request;

typedef enum {
    /// HTTP/2 if a TLS server offers it, otherwise HTTP/1.1.
    ALCEDO_CURL_HTTP_AUTOMATIC = 0,
    ALCEDO_CURL_HTTP_1,
    /// HTTP/2 without negotiation, with or without TLS.
    ALCEDO_CURL_HTTP_2,
} alcedo_curl_version;

/// The settings for all transfers of a loop; all strings and bytes are copied.
typedef struct {
    /// The number of open connections up to which idle ones are kept for later transfers; 0 keeps none.
    long connections;
    /// The maximum time for which an idle connection is kept, in seconds; 0 uses libcurl's.
    long maximum_idle_s;
    alcedo_curl_version version;
    /// Whether an `https` transfer waits for a connection that is being established and that it may be able to share.
    int shares_connections;
    /// Whether cookies are kept in memory, for all transfers of the loop.
    int keeps_cookies;
    /// The proxy. NULL uses the environment's; an empty string uses none.
    const char *_Nullable proxy;
    /// A file of certificates in PEM to trust instead of the system's.
    const char *_Nullable ca_file;
    /// Certificates in PEM to trust instead of the system's.
    const uint8_t *_Nullable ca_bytes;
    size_t ca_count;
} alcedo_curl_settings;

/// The metrics of a transfer so far. Times are in microseconds from its start. An event that has not occurred has the
/// time 0 or the time of the preceding event.
typedef struct {
    int64_t name_looked_up, connected, secured, first_byte, total;
    /// The number of received bytes of the response before decoding, and of sent bytes of the request's body.
    int64_t bytes_received, bytes_sent;
    int is_reused;
    /// The HTTP version: 10, 11, 20 or 30; 0 if unknown.
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
    /// No file descriptor is free.
    ALCEDO_CURL_NO_DESCRIPTORS,
    /// The proxy's name could not be resolved.
    ALCEDO_CURL_PROXY_UNREACHABLE,
    /// The proxy refused the connection to the server.
    ALCEDO_CURL_PROXY_REFUSED,
    ALCEDO_CURL_FAILED,
} alcedo_curl_status;

typedef struct alcedo_curl_loop alcedo_curl_loop;
typedef struct alcedo_curl_transfer alcedo_curl_transfer;

/// Creates a loop. Returns NULL if memory or file descriptors are exhausted; `status` says which.
alcedo_curl_loop *_Nullable alcedo_curl_loop_create(
    const alcedo_curl_settings *_Nonnull settings, alcedo_curl_status *_Nonnull status);
/// Destroys a loop. Every transfer must have been removed before.
void alcedo_curl_loop_destroy(alcedo_curl_loop *_Nonnull loop);
/// Ends a wait in alcedo_curl_wait. May be called from any thread. All other functions with a loop or a transfer may be
/// called only from the loop's thread.
void alcedo_curl_loop_wake(alcedo_curl_loop *_Nonnull loop);
/// Waits until there is work to do, for at most `timeout_ms` milliseconds.
void alcedo_curl_wait(alcedo_curl_loop *_Nonnull loop, int timeout_ms);
/// Performs the work that is ready, without waiting.
void alcedo_curl_perform(alcedo_curl_loop *_Nonnull loop);

/// Begins a transfer. Header lines are in libcurl's format and may have any bytes except NUL. Returns NULL if there is
/// no memory or libcurl refuses the request.
alcedo_curl_transfer *_Nullable alcedo_curl_transfer_start(
    alcedo_curl_loop *_Nonnull loop, const alcedo_curl_request *_Nonnull request,
    const char *_Nonnull const *_Nonnull header_lines, size_t header_count, alcedo_curl_callbacks callbacks);
/// Prevents later transfers on the connection of a transfer. The connection closes when no transfer uses it any more.
void alcedo_curl_transfer_abandon_connection(alcedo_curl_transfer *_Nonnull transfer);
/// Ends a transfer in any state. The pointer is invalid afterwards.
void alcedo_curl_transfer_remove(alcedo_curl_transfer *_Nonnull transfer);
/// Returns the metrics of a transfer so far. Must be called before the transfer is removed.
alcedo_curl_metrics alcedo_curl_transfer_metrics(alcedo_curl_transfer *_Nonnull transfer);
/// Resumes a transfer after a pause. May call `on_body`. Returns 0 if the transfer cannot continue. The caller must
/// then remove it, because it does not end by itself.
int alcedo_curl_resume(alcedo_curl_transfer *_Nonnull transfer);

/// Returns how often the request has been sent.
int alcedo_curl_send_count(const alcedo_curl_transfer *_Nonnull transfer);
/// Returns whether libcurl decodes `chunked` at the end of a list of transfer codings.
int alcedo_curl_undoes_lists_of_codings(void);

/// Returns the next transfer that has ended by itself, or NULL. `context` is that of its callbacks; `status` and
/// `message` describe its result.
alcedo_curl_transfer *_Nullable alcedo_curl_next_finished(
    alcedo_curl_loop *_Nonnull loop, void *_Nullable *_Nonnull context, alcedo_curl_status *_Nonnull status,
    const char *_Nullable *_Nonnull message);

/// The content codings that can be decoded.
typedef enum {
    ALCEDO_CURL_GZIP,
    ALCEDO_CURL_DEFLATE,
    ALCEDO_CURL_BROTLI,
    ALCEDO_CURL_ZSTD,
} alcedo_curl_coding;

typedef enum {
    /// Without decoded bytes: more input is needed.
    ALCEDO_CURL_CODING_MORE = 0,
    /// Used only inside of the decoder.
    ALCEDO_CURL_CODING_END,
    ALCEDO_CURL_CODING_INVALID,
    ALCEDO_CURL_CODING_NO_MEMORY,
} alcedo_curl_coding_status;

/// A decoder of a body. Its memory does not depend on the size of the body. One thread uses it at a time.
typedef struct alcedo_curl_decoder alcedo_curl_decoder;

/// Returns whether a coding can be decoded. br and zstd need the library that libcurl uses for them.
int alcedo_curl_decodes(alcedo_curl_coding coding);
/// Creates a decoder of at most 4 codings, in the order in which they are decoded. Returns NULL if there are more, if
/// one cannot be decoded or if no memory is available.
alcedo_curl_decoder *_Nullable alcedo_curl_decoder_create(const alcedo_curl_coding *_Nonnull codings, size_t count);
void alcedo_curl_decoder_destroy(alcedo_curl_decoder *_Nonnull decoder);
/// Sets the encoded bytes. They must stay valid while decoded bytes are read. Bytes behind the end of the encoded
/// stream are dropped.
void alcedo_curl_decoder_feed(alcedo_curl_decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count);
/// Returns the number of encoded bytes that the decoder has not read.
size_t alcedo_curl_decoder_unread(const alcedo_curl_decoder *_Nonnull decoder);
/// Returns decoded bytes, at most 64 KiB. The same bytes are returned until `alcedo_curl_decoder_advance` is called. No
/// bytes mean that more input is needed, or that the stream has ended.
alcedo_curl_coding_status alcedo_curl_decoder_read(
    alcedo_curl_decoder *_Nonnull decoder, const uint8_t *_Nullable *_Nonnull bytes, size_t *_Nonnull count);
/// Drops the decoded bytes that were read.
void alcedo_curl_decoder_advance(alcedo_curl_decoder *_Nonnull decoder);

#endif
