#include "CHTTPServerShim.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    struct connection *next, *previous;
    int socket;
    int is_busy;  // has a request in progress
};

struct alcedo_http_server {
    struct MHD_Daemon *daemon;
    alcedo_http_callbacks callbacks;
    pthread_mutex_t lock;  // guards the fields below
    struct connection *connections;
    int ends_idle;
};

struct alcedo_http_request {
    struct MHD_Connection *connection;
    char *target;
    const char *method;
    void *token;
    int has_begun;  // the head has arrived
    int has_body;
    int is_known;  // on_request has been called
};

static struct connection *connection_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static int socket_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

// Requires the lock. The library detects the shutdown of the socket while it polls, and then closes the socket.
static void end_if_idle(const alcedo_http_server *server, const struct connection *c) {
    if (server->ends_idle && !c->is_busy) shutdown(c->socket, SHUT_RDWR);
}

static void set_busy(alcedo_http_server *server, struct MHD_Connection *connection, int is_busy) {
    struct connection *c = connection_of(connection);
    if (!c) return;
    pthread_mutex_lock(&server->lock);
    c->is_busy = is_busy;
    end_if_idle(server, c);
    pthread_mutex_unlock(&server->lock);
}

// The library reports the end of a connection before it closes the socket, so every socket in the list is open.
static void on_connection(
    void *data, struct MHD_Connection *connection, void **state, enum MHD_ConnectionNotificationCode what) {
    alcedo_http_server *server = data;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        struct connection *c = calloc(1, sizeof *c);
        if (!c) return;
        *state = c;
        c->socket = socket_of(connection);
        pthread_mutex_lock(&server->lock);
        c->next = server->connections;
        if (c->next) c->next->previous = c;
        server->connections = c;
        end_if_idle(server, c);
        pthread_mutex_unlock(&server->lock);
        server->callbacks.on_connection(server->callbacks.context, 1);
    } else if (*state) {
        struct connection *c = *state;
        *state = NULL;
        pthread_mutex_lock(&server->lock);
        if (c->next) c->next->previous = c->previous;
        if (c->previous)
            c->previous->next = c->next;
        else
            server->connections = c->next;
        pthread_mutex_unlock(&server->lock);
        free(c);
        server->callbacks.on_connection(server->callbacks.context, 0);
    }
}

// The first callback of a request. Its result becomes the state of the request.
static void *on_target(void *data, const char *target, struct MHD_Connection *connection) {
    alcedo_http_server *server = data;
    // A connection has no state if no memory was available when it began. Its requests are then rejected.
    if (!connection_of(connection)) return NULL;
    alcedo_http_request *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->connection = connection;
    r->target = strdup(target);
    if (!r->target) {
        free(r);
        return NULL;
    }
    set_busy(server, connection, 1);
    return r;
}

static int announces_body(struct MHD_Connection *connection) {
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return (length && strcmp(length, "0")) ||
           MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static enum MHD_Result on_access(
    void *data, struct MHD_Connection *connection, const char *path, const char *method, const char *version,
    const char *upload, size_t *upload_count, void **state) {
    (void)path, (void)version, (void)upload;
    alcedo_http_server *server = data;
    alcedo_http_request *r = *state;
    if (!r) return MHD_NO;
    if (!r->has_begun) {
        r->has_begun = 1;
        r->method = method;
        r->has_body = announces_body(connection);
        // The library closes the connection after a response that is queued in this first call, so only a request with
        // a body receives its response here.
        if (!r->has_body) return MHD_YES;
    }
    if (*upload_count) return MHD_NO;
    const int is_resumed = r->is_known;
    r->is_known = 1;
    const alcedo_http_step step = is_resumed ? server->callbacks.on_resumed(server->callbacks.context, r)
                                             : server->callbacks.on_request(server->callbacks.context, r);
    return step == ALCEDO_HTTP_CLOSE ? MHD_NO : MHD_YES;
}

static void on_completed(
    void *data, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode how) {
    alcedo_http_server *server = data;
    alcedo_http_request *r = *state;
    if (!r) return;
    *state = NULL;
    set_busy(server, connection, 0);
    if (r->is_known)
        server->callbacks.on_end(server->callbacks.context, r, how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    free(r->target);
    free(r);
}

alcedo_http_server *alcedo_http_server_start(
    const alcedo_http_settings *settings, alcedo_http_callbacks callbacks, int *error) {
    *error = 0;
    const struct addrinfo wanted = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    char port[8];
    snprintf(port, sizeof port, "%u", settings->port);
    struct addrinfo *address = NULL;
    if (getaddrinfo(settings->host, port, &wanted, &address)) {
        *error = EINVAL;
        return NULL;
    }
    alcedo_http_server *server = calloc(1, sizeof *server);
    if (server) {
        server->callbacks = callbacks;
        pthread_mutex_init(&server->lock, NULL);
        unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
        if (address->ai_family == AF_INET6) flags |= MHD_USE_IPv6;
        errno = 0;
        server->daemon = MHD_start_daemon(
            flags, settings->port, NULL, NULL, on_access, server,            //
            MHD_OPTION_SOCK_ADDR, address->ai_addr,                          //
            MHD_OPTION_URI_LOG_CALLBACK, on_target, server,                  //
            MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,               //
            MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,             //
            MHD_OPTION_CONNECTION_LIMIT, settings->connections,              //
            MHD_OPTION_CONNECTION_TIMEOUT, settings->timeout,                //
            MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->memory,            //
            MHD_OPTION_STRICT_FOR_CLIENT, 1,                                 //
            MHD_OPTION_END);
        if (!server->daemon) {
            *error = errno;
            pthread_mutex_destroy(&server->lock);
            free(server);
            server = NULL;
        }
    }
    freeaddrinfo(address);
    return server;
}

uint16_t alcedo_http_server_port(alcedo_http_server *server) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

void alcedo_http_server_quiesce(alcedo_http_server *server) {
    const MHD_socket listener = MHD_quiesce_daemon(server->daemon);
    if (listener != MHD_INVALID_SOCKET) close(listener);
}

void alcedo_http_server_end_idle(alcedo_http_server *server) {
    pthread_mutex_lock(&server->lock);
    server->ends_idle = 1;
    for (const struct connection *c = server->connections; c; c = c->next) end_if_idle(server, c);
    pthread_mutex_unlock(&server->lock);
}

void alcedo_http_server_stop(alcedo_http_server *server) {
    MHD_stop_daemon(server->daemon);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

const char *alcedo_http_method(const alcedo_http_request *r) { return r->method; }

const char *alcedo_http_target(const alcedo_http_request *r) { return r->target; }

int alcedo_http_has_body(const alcedo_http_request *r) { return r->has_body; }

int alcedo_http_socket(alcedo_http_request *r) { return socket_of(r->connection); }

struct wanted_values {
    const char *name;
    void *context;
    void (*take)(void *context, const char *value);
};

static enum MHD_Result on_value(void *data, enum MHD_ValueKind kind, const char *name, const char *value) {
    (void)kind;
    const struct wanted_values *wanted = data;
    if (value && !strcasecmp(name, wanted->name)) wanted->take(wanted->context, value);
    return MHD_YES;
}

void alcedo_http_each_value(
    alcedo_http_request *r, const char *name, void *context, void (*take)(void *context, const char *value)) {
    struct wanted_values wanted = {name, context, take};
    MHD_get_connection_values(r->connection, MHD_HEADER_KIND, on_value, &wanted);
}

void *alcedo_http_token(const alcedo_http_request *r) { return r->token; }

void alcedo_http_set_token(alcedo_http_request *r, void *token) { r->token = token; }

int alcedo_http_reply(
    alcedo_http_request *r, unsigned int status, const char *const *names, const char *const *values,
    size_t field_count, const void *bytes, size_t byte_count, void (*release)(void *context), void *context) {
    // The library only reads the bytes, although its parameter is not const.
    void *buffer = (void *)(uintptr_t)bytes;
    struct MHD_Response *response =
        release ? MHD_create_response_from_buffer_with_free_callback_cls(byte_count, buffer, release, context)
                : MHD_create_response_from_buffer(byte_count, buffer, MHD_RESPMEM_MUST_COPY);
    if (!response) {
        if (release) release(context);
        return 0;
    }
    enum MHD_Result result = MHD_YES;
    for (size_t i = 0; i < field_count && result == MHD_YES; i++)
        result = MHD_add_response_header(response, names[i], values[i]);
    if (result == MHD_YES) result = MHD_queue_response(r->connection, status, response);
    MHD_destroy_response(response);
    return result == MHD_YES;
}

void alcedo_http_suspend(alcedo_http_request *r) { MHD_suspend_connection(r->connection); }

void alcedo_http_resume(alcedo_http_request *r) { MHD_resume_connection(r->connection); }
