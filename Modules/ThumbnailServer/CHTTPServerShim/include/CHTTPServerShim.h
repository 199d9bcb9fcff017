// The sockets and the epoll instance of an HTTP server. Glibc's module for Swift does not contain epoll and eventfd.
#ifndef ALCEDO_CHTTPSERVERSHIM_H
#define ALCEDO_CHTTPSERVERSHIM_H

#include <stddef.h>
#include <stdint.h>

enum {
    /// Bytes or a new connection have arrived, or the other side has ended its part.
    ALCEDO_HTTP_READ = 1,
    /// Bytes can be sent.
    ALCEDO_HTTP_WRITE = 2,
    /// The other side has ended its part of the connection, or the connection has failed. A failure is always reported.
    ALCEDO_HTTP_HANGUP = 4,
};

typedef struct {
    uint64_t number;
    int events;
} alcedo_http_event;

/// Opens a nonblocking socket that listens on a numeric address. Returns its descriptor, or the negative errno value.
int alcedo_http_listen(const char *_Nonnull host, uint16_t port);
/// Returns the port of a listening socket.
uint16_t alcedo_http_port(int listener);
/// Accepts a connection. Returns its nonblocking socket, or the negative errno value. `client` receives a number for
/// the client: that of its IPv4 address, or of its IPv6 network, the first 64 bits. The system takes at most about
/// 64 KiB more than it can send.
int alcedo_http_accept(int listener, uint64_t *_Nonnull client);
/// Sends bytes, first those of the head. Returns their number, or the negative errno value.
ptrdiff_t alcedo_http_send(
    int socket, const void *_Nullable head, size_t head_count, const void *_Nullable body, size_t body_count);

/// Returns the number of sent bytes that the other side has not acknowledged; 0 if the system does not know it.
size_t alcedo_http_unreceived(int socket);

/// Creates an epoll instance. Returns its descriptor, or the negative errno value.
int alcedo_http_poll_create(void);
/// Creates an event counter, which alcedo_http_wake makes readable. Returns its descriptor, or the negative errno
/// value.
int alcedo_http_wakeup_create(void);
/// Makes an event counter readable, from any thread.
void alcedo_http_wake(int wakeup);
/// Makes an event counter unreadable.
void alcedo_http_sleep(int wakeup);
/// Sets the events that are reported for a descriptor, under a number. Returns 0 if the system refuses it.
int alcedo_http_poll_set(int poll, int descriptor, uint64_t number, int events);
/// Waits for events. Returns their number, at most `limit`.
int alcedo_http_poll_wait(int poll, alcedo_http_event *_Nonnull events, int limit);

#endif
