#include "CHTTPServerShim.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct alcedo_http_server {
    struct MHD_Daemon *daemon;
    alcedo_http_callbacks callbacks;
};

struct alcedo_http_request {
    struct MHD_Connection *connection;
    char *target;
    const char *method;
    void *token;
    int has_begun;  // its head has come
    int has_body;
    int is_known;  // to the caller
};

// The first that is heard of a request. What is returned becomes its state.
static void *on_target(void *data, const char *target, struct MHD_Connection *connection) {
    (void)data;
    alcedo_http_request *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->connection = connection;
    r->target = strdup(target);
    if (!r->target) {
        free(r);
        return NULL;
    }
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
        // An answer now has the connection closed after it, which is right only before a body.
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
    (void)connection;
    alcedo_http_server *server = data;
    alcedo_http_request *r = *state;
    if (!r) return;
    *state = NULL;
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
        unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
        if (address->ai_family == AF_INET6) flags |= MHD_USE_IPv6;
        errno = 0;
        server->daemon = MHD_start_daemon(
            flags, settings->port, NULL, NULL, on_access, server,            //
            MHD_OPTION_SOCK_ADDR, address->ai_addr,                          //
            MHD_OPTION_URI_LOG_CALLBACK, on_target, server,                  //
            MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,               //
            MHD_OPTION_CONNECTION_LIMIT, settings->connections,              //
            MHD_OPTION_CONNECTION_TIMEOUT, settings->timeout,                //
            MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->memory,            //
            MHD_OPTION_STRICT_FOR_CLIENT, 1,                                 //
            MHD_OPTION_END);
        if (!server->daemon) {
            *error = errno;
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

void alcedo_http_server_stop(alcedo_http_server *server) {
    MHD_stop_daemon(server->daemon);
    free(server);
}

const char *alcedo_http_method(const alcedo_http_request *r) { return r->method; }

const char *alcedo_http_target(const alcedo_http_request *r) { return r->target; }

int alcedo_http_has_body(const alcedo_http_request *r) { return r->has_body; }

int alcedo_http_socket(alcedo_http_request *r) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

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
    size_t field_count, const void *bytes, size_t byte_count) {
    // It only reads what it copies, for all that it takes it as one that may be written.
    struct MHD_Response *response =
        MHD_create_response_from_buffer(byte_count, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
    if (!response) return 0;
    enum MHD_Result result = MHD_YES;
    for (size_t i = 0; i < field_count && result == MHD_YES; i++)
        result = MHD_add_response_header(response, names[i], values[i]);
    if (result == MHD_YES) result = MHD_queue_response(r->connection, status, response);
    MHD_destroy_response(response);
    return result == MHD_YES;
}

void alcedo_http_suspend(alcedo_http_request *r) { MHD_suspend_connection(r->connection); }

void alcedo_http_resume(alcedo_http_request *r) { MHD_resume_connection(r->connection); }
