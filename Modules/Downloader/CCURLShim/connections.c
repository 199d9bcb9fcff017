#define _GNU_SOURCE  // RTLD_DEFAULT
#include "internal.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The connections of a loop. libcurl does not say which socket a request is about to use, so every socket is recorded
// when it is opened, and found by the addresses of its connection when a request is sent.

static const void *address_of(const struct sockaddr *address, size_t *count, int *port) {
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;
        *count = sizeof v4->sin_addr;
        *port = ntohs(v4->sin_port);
        return &v4->sin_addr;
    }
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)address;
        *count = sizeof v6->sin6_addr;
        *port = ntohs(v6->sin6_port);
        return &v6->sin6_addr;
    }
    return NULL;
}

static void forget(alcedo_curl_loop *loop, curl_socket_t socket) {
    for (size_t i = 0; i < loop->connection_count; i++) {
        if (loop->connections[i].socket != socket) continue;
        loop->connections[i] = loop->connections[--loop->connection_count];
        return;
    }
}

curl_socket_t alcedo_curl_on_open(void *data, curlsocktype purpose, struct curl_sockaddr *to) {
    (void)purpose;
    alcedo_curl_transfer *t = data;
    alcedo_curl_loop *loop = t->loop;
    if (t->callbacks.on_connect) {
        size_t count = 0;
        int port = 0;
        const void *bytes = address_of(&to->addr, &count, &port);
        if (!bytes || !t->callbacks.on_connect(t->callbacks.context, bytes, count)) return CURL_SOCKET_BAD;
    }
    const int opened = socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    if (opened < 0) {
        if (errno == EMFILE || errno == ENFILE) t->lacks_descriptors = 1;
        return CURL_SOCKET_BAD;
    }
    // libcurl does not report the end of a connection that was never established, so its record is still there.
    forget(loop, opened);
    if (loop->connection_count == loop->connection_capacity) {
        const size_t capacity = loop->connection_capacity ? loop->connection_capacity * 2 : 16;
        void *grown = reallocarray(loop->connections, capacity, sizeof *loop->connections);
        if (!grown) {
            close(opened);
            return CURL_SOCKET_BAD;
        }
        loop->connections = grown;
        loop->connection_capacity = capacity;
    }
    loop->connections[loop->connection_count++] = (alcedo_curl_connection){.socket = opened};
    return opened;
}

int alcedo_curl_on_close(void *data, curl_socket_t socket) {
    forget(data, socket);
    return close(socket);
}

static int has_address(const struct sockaddr_storage *found, const char *text, int port) {
    char buffer[INET6_ADDRSTRLEN];
    size_t count = 0;
    int found_port = 0;
    const void *bytes = address_of((const struct sockaddr *)found, &count, &found_port);
    return bytes && found_port == port && inet_ntop(found->ss_family, bytes, buffer, sizeof buffer) &&
           !strcmp(buffer, text);
}

alcedo_curl_connection *alcedo_curl_find_connection(
    alcedo_curl_loop *loop, const char *remote, const char *local, int remote_port, int local_port) {
    if (!remote || !local) return NULL;
    for (size_t i = 0; i < loop->connection_count; i++) {
        alcedo_curl_connection *c = &loop->connections[i];
        if (c->local_port) {
            if (c->local_port == local_port && c->remote_port == remote_port && !strcmp(c->local, local) &&
                !strcmp(c->remote, remote))
                return c;
            continue;
        }
        // A connection that carries its first request.
        struct sockaddr_storage here = {0}, there = {0};
        socklen_t size = sizeof here;
        if (getsockname(c->socket, (struct sockaddr *)&here, &size) || !has_address(&here, local, local_port)) continue;
        size = sizeof there;
        if (getpeername(c->socket, (struct sockaddr *)&there, &size) || !has_address(&there, remote, remote_port) ||
            strlen(local) >= sizeof c->local || strlen(remote) >= sizeof c->remote)
            continue;
        c->local_port = local_port;
        c->remote_port = remote_port;
        strcpy(c->local, local);
        strcpy(c->remote, remote);
        return c;
    }
    return NULL;
}

alcedo_curl_connection *alcedo_curl_connection_of(alcedo_curl_loop *loop, curl_socket_t socket) {
    for (size_t i = 0; i < loop->connection_count; i++)
        if (loop->connections[i].socket == socket) return &loop->connections[i];
    return NULL;
}

// Returns whether the TLS library holds received bytes that libcurl has not read. The functions are looked up at run
// time, because libcurl may use either library.
static int has_unread_plaintext(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session || !session->internals)
        return 0;
    if (session->backend == CURLSSLBACKEND_OPENSSL) {
        int (*pending)(const void *) = NULL;
        *(void **)&pending = dlsym(RTLD_DEFAULT, "SSL_has_pending");
        return pending && pending(session->internals);
    }
    if (session->backend == CURLSSLBACKEND_GNUTLS) {
        size_t (*pending)(void *) = NULL;
        *(void **)&pending = dlsym(RTLD_DEFAULT, "gnutls_record_check_pending");
        return pending && pending(session->internals) > 0;
    }
    return 0;
}

int alcedo_curl_is_clean(const alcedo_curl_connection *connection, CURL *easy) {
    char byte;
    // Neither bytes nor the end of the connection may have arrived.
    const ssize_t count = recv(connection->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return 0;
    return !has_unread_plaintext(easy);
}
