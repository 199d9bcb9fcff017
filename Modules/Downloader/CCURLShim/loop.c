#define _GNU_SOURCE  // RTLD_DEFAULT
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

// Keeps OpenSSL from freeing its data at exit. All threads share the data, and the thread of a loop uses it until the
// thread has ended. Only the first initialization of OpenSSL can set this option. The function is looked up at run
// time, because libcurl may use another TLS library.
static void keep_openssl_at_exit(void) {
    enum { NO_ATEXIT = 0x00080000 };  // OPENSSL_INIT_NO_ATEXIT of openssl/crypto.h
    int (*init)(uint64_t, const void *) = NULL;
    *(void **)&init = dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    if (init) init(NO_ATEXIT, NULL);
}

// Initialization is not thread-safe in the supported versions of libcurl, so it runs once, before the first handle is
// created.
static void init_library(void) {
    keep_openssl_at_exit();
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// libcurl reports a socket and the events that it waits for. The kernel watches the sockets, so that the cost of an
// iteration depends on the sockets that are ready and not on all that are open.
static int on_socket(CURL *easy, curl_socket_t socket, int what, void *data, void *known) {
    alcedo_curl_loop *loop = data;
    alcedo_curl_transfer *transfer = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer) == CURLE_OK && transfer) {
        // From here on, the socket is watched for the events that libcurl requests.
        transfer->is_held = 0;
        transfer->socket = what == CURL_POLL_REMOVE ? CURL_SOCKET_BAD : socket;
    }
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(loop->watch, EPOLL_CTL_DEL, socket, NULL);
        curl_multi_assign(loop->multi, socket, NULL);
        return 0;
    }
    struct epoll_event wanted = {.data.fd = socket};
    if (what & CURL_POLL_IN) wanted.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) wanted.events |= EPOLLOUT;
    int result = epoll_ctl(loop->watch, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &wanted);
    // The descriptor number may have been reused after a socket was closed, or may still be registered.
    if (result && errno == ENOENT) result = epoll_ctl(loop->watch, EPOLL_CTL_ADD, socket, &wanted);
    if (result && errno == EEXIST) result = epoll_ctl(loop->watch, EPOLL_CTL_MOD, socket, &wanted);
    curl_multi_assign(loop->multi, socket, loop);
    return result;
}

static int on_timer(CURLM *multi, long timeout_ms, void *data) {
    (void)multi;
    alcedo_curl_loop *loop = data;
    loop->timer = timeout_ms < 0 ? -1 : timeout_ms == 0 ? 0 : now_ms() + timeout_ms;
    return 0;
}

static void free_loop(alcedo_curl_loop *loop) {
    if (loop->multi) curl_multi_cleanup(loop->multi);
    if (loop->jar) curl_share_cleanup(loop->jar);
    if (loop->watch >= 0) close(loop->watch);
    if (loop->wakeup >= 0) close(loop->wakeup);
    free(loop->connections);
    free(loop->proxy);
    free(loop->ca_file);
    free(loop->ca.data);
    free(loop);
}

/// Copies the settings into the loop. Returns 0 if no memory is available.
static int copy_settings(alcedo_curl_loop *loop, const alcedo_curl_settings *s) {
    loop->version = s->version;
    loop->shares_connections = s->shares_connections;
    loop->reuses_connections = s->connections > 0;
    loop->maximum_idle_s = s->maximum_idle_s;
    if (s->proxy && !(loop->proxy = strdup(s->proxy))) return 0;
    if (s->ca_file && !(loop->ca_file = strdup(s->ca_file))) return 0;
    if (s->ca_bytes) {
        // One additional byte keeps the blob from being empty, which would select the system's certificates.
        loop->ca.data = calloc(1, s->ca_count + 1);
        if (!loop->ca.data) return 0;
        memcpy(loop->ca.data, s->ca_bytes, s->ca_count);
        loop->ca.len = s->ca_count + 1;
        loop->ca.flags = CURL_BLOB_NOCOPY;
    }
    return 1;
}

/// Creates the cookie jar. Returns 0 if no memory is available.
static int make_jar(alcedo_curl_loop *loop) {
    loop->jar = curl_share_init();
    return loop->jar && curl_share_setopt(loop->jar, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE) == CURLSHE_OK;
}

/// Returns whether the process or the system has no free file descriptor.
static int lacks_descriptors(void) {
    const int probe = eventfd(0, EFD_CLOEXEC);
    if (probe < 0) return errno == EMFILE || errno == ENFILE;
    close(probe);
    return 0;
}

alcedo_curl_loop *alcedo_curl_loop_create(const alcedo_curl_settings *settings, alcedo_curl_status *status) {
    pthread_once(&once, init_library);
    alcedo_curl_loop *loop = calloc(1, sizeof *loop);
    *status = ALCEDO_CURL_OUT_OF_MEMORY;
    if (!loop) return NULL;
    loop->timer = -1;
    loop->watch = epoll_create1(EPOLL_CLOEXEC);
    loop->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->multi = curl_multi_init();
    struct epoll_event wakeup = {.events = EPOLLIN, .data.fd = loop->wakeup};
    if (!loop->multi || epoll_ctl(loop->watch, EPOLL_CTL_ADD, loop->wakeup, &wakeup) ||
        !copy_settings(loop, settings) || (settings->keeps_cookies && !make_jar(loop))) {
        if (lacks_descriptors()) *status = ALCEDO_CURL_NO_DESCRIPTORS;
        free_loop(loop);
        return NULL;
    }
    *status = ALCEDO_CURL_OK;
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, settings->connections > 0 ? settings->connections : 1);
    curl_multi_setopt(loop->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    return loop;
}

void alcedo_curl_loop_destroy(alcedo_curl_loop *loop) {
    while (loop->free_transfers) {
        alcedo_curl_transfer *transfer = loop->free_transfers;
        loop->free_transfers = transfer->next_free;
        curl_easy_cleanup(transfer->easy);
        free(transfer);
    }
    free_loop(loop);
}

void alcedo_curl_loop_wake(alcedo_curl_loop *loop) {
    const uint64_t one = 1;
    // The write fails only if the counter is full, and then the loop is woken already.
    if (write(loop->wakeup, &one, sizeof one) < 0) return;
}

void alcedo_curl_wait(alcedo_curl_loop *loop, int timeout_ms) {
    if (loop->timer >= 0 && timeout_ms > 0) {
        const int64_t left = loop->timer == 0 ? 0 : loop->timer - now_ms();
        if (left < timeout_ms) timeout_ms = left < 0 ? 0 : (int)left;
    }
    const int count = epoll_wait(loop->watch, loop->ready, ALCEDO_MAXIMUM_READY, timeout_ms);
    loop->ready_count = count < 0 ? 0 : count;
}

/// Lets transfers that wait for a connection with HTTP/1 open their own connections. Without this function, libcurl
/// 8.14 and later reconsider them only when a handle is removed, which may be the end of a long response. The function
/// therefore adds and removes an empty handle.
static void start_waiting(alcedo_curl_loop *loop) {
    loop->has_unshareable = 0;
    CURL *none = curl_easy_init();
    if (none && curl_multi_add_handle(loop->multi, none) == CURLM_OK) curl_multi_remove_handle(loop->multi, none);
    curl_easy_cleanup(none);
}

void alcedo_curl_perform(alcedo_curl_loop *loop) {
    int running = 0;
    for (int i = 0; i < loop->ready_count; i++) {
        const struct epoll_event *found = &loop->ready[i];
        if (found->data.fd == loop->wakeup) {
            uint64_t count;
            if (read(loop->wakeup, &count, sizeof count) < 0) continue;
        } else {
            int what = 0;
            if (found->events & EPOLLIN) what |= CURL_CSELECT_IN;
            if (found->events & EPOLLOUT) what |= CURL_CSELECT_OUT;
            // After an error or a hang-up, libcurl reads or writes, and so finds the error.
            if (found->events & (EPOLLERR | EPOLLHUP)) what |= CURL_CSELECT_IN | CURL_CSELECT_OUT;
            curl_multi_socket_action(loop->multi, found->data.fd, what, &running);
        }
    }
    loop->ready_count = 0;
    if (loop->timer == 0 || (loop->timer > 0 && loop->timer <= now_ms())) {
        // libcurl sets the timer again if it needs one.
        loop->timer = -1;
        curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    if (loop->has_unshareable) start_waiting(loop);
}

/// Returns whether the transfer used HTTP/1 without TLS. A lost connection of such a transfer has an `errno`.
static int is_plain(const alcedo_curl_transfer *transfer) {
    const char *scheme = NULL;
    long version = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version);
    // The scheme is in uppercase before libcurl 8.6.
    return version <= CURL_HTTP_VERSION_1_1 &&
           curl_easy_getinfo(transfer->easy, CURLINFO_SCHEME, &scheme) == CURLE_OK && scheme &&
           strcasecmp(scheme, "http") == 0;
}

/// Returns the status with which the proxy refused a tunnel; 0 if it did not.
static long refusal_of(const alcedo_curl_transfer *transfer) {
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 300 && !transfer->send_count ? status : 0;
}

static alcedo_curl_status status_of(CURLcode code, const alcedo_curl_transfer *transfer) {
    long number = 0;
    // CURLE_TOO_LARGE, which is new in libcurl 8.6.0. The library may be newer than the header.
    if ((int)code == 100) return ALCEDO_CURL_OUT_OF_MEMORY;
    if (code != CURLE_OK && refusal_of(transfer)) return ALCEDO_CURL_PROXY_REFUSED;
    switch (code) {
    case CURLE_OK:
        return ALCEDO_CURL_OK;
    case CURLE_URL_MALFORMAT:
        return ALCEDO_CURL_INVALID_REQUEST;
    case CURLE_UNSUPPORTED_PROTOCOL:
        // After the request was sent, the response has no valid version: it is not HTTP, or is HTTP/0.9.
        return transfer->send_count ? ALCEDO_CURL_INVALID_RESPONSE : ALCEDO_CURL_FAILED;
    case CURLE_COULDNT_RESOLVE_PROXY:
        return lacks_descriptors() ? ALCEDO_CURL_NO_DESCRIPTORS : ALCEDO_CURL_PROXY_UNREACHABLE;
    case CURLE_PROXY:
        return ALCEDO_CURL_PROXY_REFUSED;
    case CURLE_COULDNT_RESOLVE_HOST:
        if (lacks_descriptors()) return ALCEDO_CURL_NO_DESCRIPTORS;
        return alcedo_curl_is_offline() ? ALCEDO_CURL_OFFLINE : ALCEDO_CURL_RESOLVE;
    case CURLE_COULDNT_CONNECT:
        if (transfer->lacks_descriptors) return ALCEDO_CURL_NO_DESCRIPTORS;
        curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &number);
        return number == ENETUNREACH || number == ENETDOWN ? ALCEDO_CURL_OFFLINE : ALCEDO_CURL_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return ALCEDO_CURL_SECURE;
    case CURLE_OPERATION_TIMEDOUT:
        return ALCEDO_CURL_TIMEOUT;
    case CURLE_RECV_ERROR:
        // A malformed chunk has no error code of its own. Without TLS it has no system error, unlike a lost connection.
        // With TLS, or after an earlier attempt to connect left a system error, it is reported as a lost connection.
        curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &number);
        return number == 0 && is_plain(transfer) ? ALCEDO_CURL_INVALID_RESPONSE : ALCEDO_CURL_LOST;
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return ALCEDO_CURL_LOST;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        return ALCEDO_CURL_INVALID_RESPONSE;
    case CURLE_OUT_OF_MEMORY:
        return ALCEDO_CURL_OUT_OF_MEMORY;
    default:
        return ALCEDO_CURL_FAILED;
    }
}

/// Returns whether a transfer that has ended is to be started again on a new connection: the connection that libcurl
/// had chosen was unusable, or a reused connection ended without a response.
static int needs_restart(CURLcode code, const alcedo_curl_transfer *transfer) {
    if (transfer->has_response || transfer->restart_count > 1) return 0;
    if (transfer->is_stale) return 1;
    if (transfer->send_count != 1 || !transfer->is_on_reused || !transfer->is_repeatable) return 0;
    switch (code) {
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    // What has arrived is not a response, so it may belong to an earlier request.
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return 1;
    default:
        return 0;
    }
}

alcedo_curl_transfer *alcedo_curl_next_finished(
    alcedo_curl_loop *loop, void **context, alcedo_curl_status *status, const char **message) {
    int left = 0;
    CURLMsg *found;
    while ((found = curl_multi_info_read(loop->multi, &left))) {
        if (found->msg != CURLMSG_DONE) continue;
        const CURLcode code = found->data.result;
        alcedo_curl_transfer *transfer = NULL;
        curl_easy_getinfo(found->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        transfer->is_reusable = code == CURLE_OK;
        // The message is invalid once the handle has been removed.
        if (needs_restart(code, transfer) && alcedo_curl_restart(transfer)) continue;
        *context = transfer->callbacks.context;
        if (transfer->is_refused) {
            *status = ALCEDO_CURL_LOST;
            *message = "the connection ended without a response, and the request is not retried";
            return transfer;
        }
        *status = status_of(code, transfer);
        *message = transfer->error[0] ? transfer->error : curl_easy_strerror(code);
        return transfer;
    }
    return NULL;
}
