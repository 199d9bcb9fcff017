// A small HTTP/1.1 server over libmicrohttpd. Swift cannot call the library directly, because its options are variadic.
#ifndef ALCEDO_CHTTPSERVERSHIM_H
#define ALCEDO_CHTTPSERVERSHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct alcedo_http_server alcedo_http_server;
/// A request, from the arrival of its head to the end of its response.
typedef struct alcedo_http_request alcedo_http_request;

/// The next step of a request.
typedef enum {
    /// Closes the connection.
    ALCEDO_HTTP_CLOSE = 0,
    /// Sends the response. alcedo_http_reply has been called.
    ALCEDO_HTTP_REPLIED,
    /// Waits for alcedo_http_resume without a thread. alcedo_http_suspend has been called.
    ALCEDO_HTTP_WAIT,
} alcedo_http_step;

/// The callbacks of a server. They run on the server's only thread, or in alcedo_http_server_stop, and must not block.
typedef struct {
    void *_Nullable context;
    /// The head of a request has arrived. If the request has a body, the callback must send the response or close the
    /// connection. The body is not read.
    alcedo_http_step (*_Nonnull on_request)(void *_Nullable context, alcedo_http_request *_Nonnull request);
    /// A request was resumed. The callback must send its response or close the connection.
    alcedo_http_step (*_Nonnull on_resumed)(void *_Nullable context, alcedo_http_request *_Nonnull request);
    /// A request has ended and is released after the callback. Called once for each call of on_request. `is_sent` is
    /// nonzero if the complete response was sent.
    void (*_Nonnull on_end)(void *_Nullable context, alcedo_http_request *_Nonnull request, int is_sent);
    /// A connection has begun or ended. When it ends, all of its requests have ended.
    void (*_Nonnull on_connection)(void *_Nullable context, int is_open);
} alcedo_http_callbacks;

typedef struct {
    /// The numeric address, IPv4 or IPv6.
    const char *_Nonnull host;
    /// The port; 0 for any free port.
    uint16_t port;
    /// The maximum number of open connections. Further ones wait to be accepted.
    unsigned int connections;
    /// The maximum time, in seconds, for which a connection may be idle while it is not suspended.
    unsigned int timeout;
    /// The maximum number of bytes of memory for a connection, in which a head and the parts of its response are
    /// buffered. A head that does not fit is rejected.
    size_t memory;
} alcedo_http_settings;

/// Starts a server. Returns NULL if it cannot listen. `error` is then the errno value of the reason, or 0 if it is
/// unknown.
alcedo_http_server *_Nullable alcedo_http_server_start(
    const alcedo_http_settings *_Nonnull settings, alcedo_http_callbacks callbacks, int *_Nonnull error);
uint16_t alcedo_http_server_port(alcedo_http_server *_Nonnull server);
/// Stops accepting connections. Call this function once.
void alcedo_http_server_quiesce(alcedo_http_server *_Nonnull server);
/// Closes all connections that have no request in progress, and later each other connection when its request ends. Call
/// this function from any thread before alcedo_http_server_stop.
void alcedo_http_server_end_idle(alcedo_http_server *_Nonnull server);
/// Closes all connections, ends the thread and releases the server. No request may be suspended.
void alcedo_http_server_stop(alcedo_http_server *_Nonnull server);

/// The method and target of a request, valid until on_end. The target is not decoded.
const char *_Nonnull alcedo_http_method(const alcedo_http_request *_Nonnull request);
const char *_Nonnull alcedo_http_target(const alcedo_http_request *_Nonnull request);
int alcedo_http_has_body(const alcedo_http_request *_Nonnull request);
int alcedo_http_socket(alcedo_http_request *_Nonnull request);
/// Calls `take` with each value of a header field, in order.
void alcedo_http_each_value(
    alcedo_http_request *_Nonnull request, const char *_Nonnull name, void *_Nullable context,
    void (*_Nonnull take)(void *_Nullable context, const char *_Nonnull value));

/// The caller's pointer for a request, initially NULL.
void *_Nullable alcedo_http_token(const alcedo_http_request *_Nonnull request);
void alcedo_http_set_token(alcedo_http_request *_Nonnull request, void *_Nullable token);

/// Queues the response to a request. A response to HEAD or with status 304 contains only the length of the bytes.
/// Returns 0 if no memory is available or a field is invalid.
///
/// The bytes are sent from their address and must stay valid until `release` is called with `context`. `release` is
/// called exactly once, also on failure, and on any thread. Without `release`, the bytes are copied.
int alcedo_http_reply(
    alcedo_http_request *_Nonnull request, unsigned int status, const char *_Nonnull const *_Nonnull names,
    const char *_Nonnull const *_Nonnull values, size_t field_count, const void *_Nullable bytes, size_t byte_count,
    void (*_Nullable release)(void *_Nullable context), void *_Nullable context);
/// Suspends a request. Call this function only in on_request, which must then return ALCEDO_HTTP_WAIT.
void alcedo_http_suspend(alcedo_http_request *_Nonnull request);
/// Resumes a suspended request. Call this function once for each suspension, from any thread. The request may be
/// released before the function returns.
void alcedo_http_resume(alcedo_http_request *_Nonnull request);

/// A monitor of clients that disconnect while their requests are suspended. The server does not poll their sockets in
/// this time.
typedef struct alcedo_http_disconnects alcedo_http_disconnects;

/// Creates a monitor. Returns NULL if no file descriptor or no memory is available.
alcedo_http_disconnects *_Nullable alcedo_http_disconnects_create(void);
/// Watches a socket under a number, which must not be 0. Returns 0 if the socket cannot be watched.
int alcedo_http_disconnects_watch(alcedo_http_disconnects *_Nonnull disconnects, int socket, uint64_t number);
/// Ends the watch of a socket. Call this function from any thread before the request is resumed.
void alcedo_http_disconnects_unwatch(alcedo_http_disconnects *_Nonnull disconnects, int socket);
/// Waits until a client disconnects. Returns the number of its socket, which is reported once, or 0 after
/// alcedo_http_disconnects_end and after an error. Only one thread may call this function.
uint64_t alcedo_http_disconnects_next(alcedo_http_disconnects *_Nonnull disconnects);
/// Ends the current wait and all later ones.
void alcedo_http_disconnects_end(alcedo_http_disconnects *_Nonnull disconnects);
void alcedo_http_disconnects_destroy(alcedo_http_disconnects *_Nonnull disconnects);

#endif
