#ifndef ALCEDO_CCURLSHIM_INTERNAL_H
#define ALCEDO_CCURLSHIM_INTERNAL_H

#include "CCURLShim.h"

#include <curl/curl.h>
#include <stdint.h>
#include <sys/epoll.h>

#if LIBCURL_VERSION_NUM < 0x075100
#error "AlcedoCURL needs libcurl 7.81 or later"
#endif

enum { ALCEDO_MAXIMUM_READY = 64 };

/// A connection of a loop. Its addresses are empty until its first request is sent.
typedef struct {
    curl_socket_t socket;
    /// Whether a response with HTTP/1 has arrived on the connection. Only then, bytes that arrive between two responses
    /// are an error.
    int is_http1;
    int local_port, remote_port;
    char local[46], remote[46];  // as text, at most INET6_ADDRSTRLEN bytes
} alcedo_curl_connection;

struct alcedo_curl_loop {
    CURLM *multi;
    /// `watch` is the epoll descriptor that watches `wakeup` and the sockets of transfers. `wakeup` is an eventfd.
    int watch, wakeup;
    /// The time at which libcurl must be called even if no socket is ready, in milliseconds of the monotonic clock. 0
    /// means immediately, and a negative value never.
    int64_t timer;
    /// The events of the last wait.
    struct epoll_event ready[ALCEDO_MAXIMUM_READY];
    int ready_count;
    /// Whether a new connection with TLS turned out to be HTTP/1. Transfers that wait to share it must then be started.
    int has_unshareable;
    /// The idle easy handles.
    alcedo_curl_transfer *free_transfers;
    size_t free_count;
    /// The cookie jar of all transfers; NULL if there is none. The jar needs no lock, because only the loop's thread
    /// uses it.
    CURLSH *jar;
    /// An upper bound of the estimated size of the jar in bytes.
    size_t jar_size;
    /// The open connections, in no order, each with another socket. Connections that were never established may remain
    /// here until their sockets are opened again.
    alcedo_curl_connection *connections;
    size_t connection_count, connection_capacity;
    // The settings, owned by the loop.
    alcedo_curl_version version;
    int shares_connections;
    int reuses_connections;
    long maximum_idle_s;
    char *proxy;
    char *ca_file;
    struct curl_blob ca;  // empty without `ca_bytes`
};

/// Returns whether the machine is offline. It is online if a running interface other than the loopback has an IPv4
/// address, or has an IPv6 address that is not link-local. Returns 0 if the interfaces cannot be listed.
int alcedo_curl_is_offline(void);

/// libcurl's callback that opens the socket of a connection, and records it. The data is the transfer.
curl_socket_t alcedo_curl_on_open(void *data, curlsocktype purpose, struct curl_sockaddr *to);
/// libcurl's callback that closes a socket. The data is the loop.
int alcedo_curl_on_close(void *data, curl_socket_t socket);
/// Returns the connection with these addresses; NULL if it is not known. The pointer is valid until a socket is opened
/// or closed.
alcedo_curl_connection *alcedo_curl_find_connection(
    alcedo_curl_loop *loop, const char *remote, const char *local, int remote_port, int local_port);
/// Returns the connection of a socket; NULL if it is not known.
alcedo_curl_connection *alcedo_curl_connection_of(alcedo_curl_loop *loop, curl_socket_t socket);
/// Returns whether an idle HTTP/1 connection is open and nothing has arrived on it since the last response.
int alcedo_curl_is_clean(const alcedo_curl_connection *connection, CURL *easy);
/// Removes a transfer that has ended without a response, and starts it again on a new connection. Returns 0 if libcurl
/// does not accept it.
int alcedo_curl_restart(alcedo_curl_transfer *t);

struct alcedo_curl_transfer {
    CURL *easy;
    alcedo_curl_loop *loop;
    struct curl_slist *headers;
    alcedo_curl_callbacks callbacks;
    alcedo_curl_transfer *next_free;
    int is_reusable;  // the transfer has ended without an error
    int is_plain;     // the handle is configured for a plain request
    int has_jar;      // the transfer uses the loop's cookie jar
    int is_repeatable;
    int send_count;    // how often the request has been sent
    int is_on_reused;  // the request was last sent on a reused connection
    int is_stale;      // the chosen connection was unusable, and the request was not sent on it
    int restart_count;
    int lacks_descriptors;  // no socket could be opened, because none was free
    curl_socket_t sent_on;  // the socket on which the request was last sent; CURL_SOCKET_BAD: unknown
    int has_response;       // a byte of the response has arrived
    int may_wait;      // the transfer may wait for a connection that is being established, to share it
    int is_refused;  // repeating the request was refused
    curl_socket_t socket;  // the socket that libcurl watches for the transfer; CURL_SOCKET_BAD: none
    int is_held;           // the socket is not watched during a pause
    char error[CURL_ERROR_SIZE];
};

#endif
