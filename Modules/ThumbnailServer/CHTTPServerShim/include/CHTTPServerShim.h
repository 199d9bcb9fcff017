// A small HTTP/1.1 server over libmicrohttpd, whose options are variadic and so out of Swift's reach.
#ifndef ALCEDO_CHTTPSERVERSHIM_H
#define ALCEDO_CHTTPSERVERSHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct alcedo_http_server alcedo_http_server;
/// One request, from its head to the end of its answer.
typedef struct alcedo_http_request alcedo_http_request;

/// What becomes of a request.
typedef enum {
    /// The connection is closed.
    ALCEDO_HTTP_CLOSE = 0,
    /// alcedo_http_reply has been called.
    ALCEDO_HTTP_REPLIED,
    /// alcedo_http_suspend has been called: the answer comes later, and no thread waits for it.
    ALCEDO_HTTP_WAIT,
} alcedo_http_step;

/// All run on the server's one thread, or in alcedo_http_server_stop, and must not block.
typedef struct {
    void *_Nullable context;
    /// The head of a request has come. One with a body must be answered at once; the body is not read.
    alcedo_http_step (*_Nonnull on_request)(void *_Nullable context, alcedo_http_request *_Nonnull request);
    /// It was resumed, and is to be answered or closed.
    alcedo_http_step (*_Nonnull on_resumed)(void *_Nullable context, alcedo_http_request *_Nonnull request);
    /// It is over, and the request gone afterwards. Once for each that on_request was called for. `is_sent`: the answer has
    /// gone out whole.
    void (*_Nonnull on_end)(void *_Nullable context, alcedo_http_request *_Nonnull request, int is_sent);
    /// A connection has begun, or ended: its requests are over then.
    void (*_Nonnull on_connection)(void *_Nullable context, int is_open);
} alcedo_http_callbacks;

typedef struct {
    /// An address as a number, of version 4 or 6.
    const char *_Nonnull host;
    /// 0: one that is free.
    uint16_t port;
    /// Most connections at once; more wait to be accepted.
    unsigned int connections;
    /// How long a connection may be without a byte, in seconds, while it is not suspended.
    unsigned int timeout;
    /// Most bytes of a head, and of what is sent at once; more are refused.
    size_t memory;
} alcedo_http_settings;

/// NULL: it cannot listen; `error` is the system's number of the reason, or 0.
alcedo_http_server *_Nullable alcedo_http_server_start(
    const alcedo_http_settings *_Nonnull settings, alcedo_http_callbacks callbacks, int *_Nonnull error);
uint16_t alcedo_http_server_port(alcedo_http_server *_Nonnull server);
/// Accepts no more connections. To be called once.
void alcedo_http_server_quiesce(alcedo_http_server *_Nonnull server);
/// Ends connections without a request, now and as they come to have none. From any thread, before alcedo_http_server_stop.
void alcedo_http_server_end_idle(alcedo_http_server *_Nonnull server);
/// Ends every connection and the thread, and then returns. No request may be suspended.
void alcedo_http_server_stop(alcedo_http_server *_Nonnull server);

/// Valid until on_end. The target is as it was sent, not decoded.
const char *_Nonnull alcedo_http_method(const alcedo_http_request *_Nonnull request);
const char *_Nonnull alcedo_http_target(const alcedo_http_request *_Nonnull request);
int alcedo_http_has_body(const alcedo_http_request *_Nonnull request);
int alcedo_http_socket(alcedo_http_request *_Nonnull request);
/// Calls `take` with each value of a field, in order.
void alcedo_http_each_value(
    alcedo_http_request *_Nonnull request, const char *_Nonnull name, void *_Nullable context,
    void (*_Nonnull take)(void *_Nullable context, const char *_Nonnull value));

/// What the caller keeps with a request; NULL at first.
void *_Nullable alcedo_http_token(const alcedo_http_request *_Nonnull request);
void alcedo_http_set_token(alcedo_http_request *_Nonnull request, void *_Nullable token);

/// Queues the answer; a HEAD and a 304 get the length of the bytes alone. 0: out of memory, or a field that is none.
///
/// The bytes are sent from where they are, until `release` is called with `context`: once in any case, and on any thread.
/// Without `release` they are copied.
int alcedo_http_reply(
    alcedo_http_request *_Nonnull request, unsigned int status, const char *_Nonnull const *_Nonnull names,
    const char *_Nonnull const *_Nonnull values, size_t field_count, const void *_Nullable bytes, size_t byte_count,
    void (*_Nullable release)(void *_Nullable context), void *_Nullable context);
/// In on_request only, which then returns ALCEDO_HTTP_WAIT.
void alcedo_http_suspend(alcedo_http_request *_Nonnull request);
/// Once for each suspension, from any thread. The request may be gone when it returns.
void alcedo_http_resume(alcedo_http_request *_Nonnull request);

/// Notices clients that go away while their requests are suspended: the server does not look at their sockets then.
typedef struct alcedo_http_disconnects alcedo_http_disconnects;

/// NULL: the system has no descriptor for it.
alcedo_http_disconnects *_Nullable alcedo_http_disconnects_create(void);
/// Watches a socket. The number is not 0. 0: it is not watched.
int alcedo_http_disconnects_watch(alcedo_http_disconnects *_Nonnull disconnects, int socket, uint64_t number);
/// From any thread, before the request is resumed.
void alcedo_http_disconnects_unwatch(alcedo_http_disconnects *_Nonnull disconnects, int socket);
/// Waits for a client to go, and gives the number of its socket, which is reported once; 0: the end has come. For one
/// thread.
uint64_t alcedo_http_disconnects_next(alcedo_http_disconnects *_Nonnull disconnects);
/// Ends the waiting, for good.
void alcedo_http_disconnects_end(alcedo_http_disconnects *_Nonnull disconnects);
void alcedo_http_disconnects_destroy(alcedo_http_disconnects *_Nonnull disconnects);

#endif
