#include "internal.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// The maximum number of idle handles.
enum { MAXIMUM_FREE = 64 };

// The limit for the estimated size of a jar in bytes, and the estimated overhead of each cookie in bytes.
enum { MAXIMUM_JAR = 4 << 20, COOKIE_OVERHEAD = 256 };

static const char cookie_field[] = "set-cookie:";

static size_t on_header(char *bytes, size_t size, size_t count, void *data) {
    alcedo_curl_transfer *t = data;
    long connections = 0;
    if (!t->has_response && t->may_wait && size * count >= 7 && !memcmp(bytes, "HTTP/1.", 7) &&
        curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connections) == CURLE_OK && connections > 0)
        t->loop->has_unshareable = 1;
    if (!t->has_response && size * count >= 7 && !memcmp(bytes, "HTTP/1.", 7)) {
        alcedo_curl_connection *connection = alcedo_curl_connection_of(t->loop, t->sent_on);
        if (connection) connection->is_http1 = 1;
    }
    t->has_response = 1;
    if (t->has_jar && size * count >= sizeof cookie_field - 1 &&
        !strncasecmp(bytes, cookie_field, sizeof cookie_field - 1))
        t->loop->jar_size += size * count + COOKIE_OVERHEAD;
    return t->callbacks.on_header(t->callbacks.context, bytes, size * count) ? size * count : 0;
}

// Stops watching the transfer's socket until the transfer is resumed. Otherwise, libcurl 8.5 would read from the socket
// of a paused HTTP/1 transfer. If the server has closed the connection, libcurl would then end the transfer without the
// bytes that libcurl has buffered during the pause.
static void hold(alcedo_curl_transfer *t) {
    long version = 0;
    // From HTTP/2 on, other transfers may use the same connection.
    CURLcode status = curl_easy_getinfo(t->easy, CURLINFO_HTTP_VERSION, &version);
    if (status != CURLE_OK || version > CURL_HTTP_VERSION_1_1) return;
    if (t->socket == CURL_SOCKET_BAD || t->is_held) return;
    t->is_held = !epoll_ctl(t->loop->watch, EPOLL_CTL_DEL, t->socket, NULL);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data) {
    alcedo_curl_transfer *t = data;
    const int taken = t->callbacks.on_body(t->callbacks.context, bytes, size * count);
    if (taken == 0) hold(t);
    return taken > 0 ? size * count : taken == 0 ? CURL_WRITEFUNC_PAUSE : 0;
}

// Asks whether the request may be sent to an address.
static int may_send(const alcedo_curl_transfer *t, const char *remote) {
    uint8_t bytes[16];
    if (!t->callbacks.on_send || !remote) return 1;
    const size_t count = inet_pton(AF_INET, remote, bytes) == 1 ? 4 : inet_pton(AF_INET6, remote, bytes) == 1 ? 16 : 0;
    return !count || t->callbacks.on_send(t->callbacks.context, bytes, count);
}

// Called each time before a request is sent. libcurl itself repeats a request up to five times when a reused connection
// ends without a byte. The server may have processed the request by then, so repetitions are limited here (RFC 9110
// section 9.2.2). A repetition uses a new connection, because connections that idled together often die together.
static int on_send(void *data, char *remote, char *local, int remote_port, int local_port) {
    alcedo_curl_transfer *t = data;
    long connections = 0;
    t->is_on_reused =
        curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connections) == CURLE_OK && connections == 0;
    const alcedo_curl_connection *connection =
        alcedo_curl_find_connection(t->loop, remote, local, remote_port, local_port);
    t->sent_on = connection ? connection->socket : CURL_SOCKET_BAD;
    // After a response, the request is repeated for another reason, such as a refused `Expect`.
    if (t->has_response) return CURL_PREREQFUNC_OK;
    if (!may_send(t, remote)) return CURL_PREREQFUNC_ABORT;
    t->is_refused = t->send_count >= (t->is_repeatable ? 2 : 1);
    if (t->is_refused) return CURL_PREREQFUNC_ABORT;
    if (t->is_on_reused) {
        // What has arrived on an idle connection does not belong to this request. libcurl before 8.0 would take it for
        // the response. An unknown connection cannot be checked.
        const int is_dirty = !connection || (connection->is_http1 && !alcedo_curl_is_clean(connection, t->easy));
        t->is_stale = is_dirty || t->send_count > 0;
        if (t->is_stale) return CURL_PREREQFUNC_ABORT;
        curl_easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, 1L);
    }
    t->send_count++;
    return CURL_PREREQFUNC_OK;
}

// Resets a handle. Returns false if the handle cannot be reused. After its transfer was stopped in the middle, or while
// other transfers used its connection, a handle may keep its buffers and refuse another buffer size.
static int prepare(CURL *easy) {
    curl_easy_reset(easy);
    return curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 128L << 10) == CURLE_OK;
}

static void destroy(alcedo_curl_transfer *t) {
    curl_easy_cleanup(t->easy);
    free(t);
}

// Returns whether a request differs from other plain requests only in the options that `configure_plain` sets. Most
// requests are plain, and setting all options again takes longer than the rest of libcurl's work for a request.
static int is_plain(const alcedo_curl_request *r) {
    return !r->has_body && !r->has_cookies && r->verifies && !r->pinned_keys && !strcmp(r->method, "GET");
}

static alcedo_curl_transfer *take(alcedo_curl_loop *loop, const alcedo_curl_request *r) {
    alcedo_curl_transfer *t = loop->free_transfers;
    if (t) {
        loop->free_transfers = t->next_free;
        loop->free_count--;
        t->is_reusable = 0;
        if (t->is_plain && is_plain(r)) return t;
        t->is_plain = 0;
        if (prepare(t->easy)) return t;
        destroy(t);
    }
    t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->loop = loop;
    t->socket = t->sent_on = CURL_SOCKET_BAD;
    t->is_held = 0;
    t->easy = curl_easy_init();
    if (!t->easy || !prepare(t->easy)) {
        destroy(t);
        return NULL;
    }
    return t;
}

static void delete_cookies(alcedo_curl_transfer *t) {
    curl_easy_setopt(t->easy, CURLOPT_COOKIELIST, "ALL");
    t->loop->jar_size = 0;
}

// libcurl limits the length of a cookie and the number of cookies in a response, but not the number in the jar.
static void bound_jar(alcedo_curl_transfer *t) {
    alcedo_curl_loop *loop = t->loop;
    if (!t->has_jar || loop->jar_size <= MAXIMUM_JAR) return;
    struct curl_slist *all = NULL;
    loop->jar_size = 0;
    if (curl_easy_getinfo(t->easy, CURLINFO_COOKIELIST, &all) == CURLE_OK)
        for (const struct curl_slist *c = all; c; c = c->next) loop->jar_size += strlen(c->data) + COOKIE_OVERHEAD;
    curl_slist_free_all(all);
    // Half of the jar must be free, or the cookies would soon be counted again.
    if (loop->jar_size > MAXIMUM_JAR / 2) delete_cookies(t);
}

static void give_back(alcedo_curl_transfer *t) {
    curl_slist_free_all(t->headers);
    t->headers = NULL;
    memset(&t->callbacks, 0, sizeof t->callbacks);
    t->error[0] = 0;
    t->send_count = t->has_response = t->is_refused = t->is_on_reused = t->is_stale = t->restart_count = 0;
    t->lacks_descriptors = 0;
    t->socket = t->sent_on = CURL_SOCKET_BAD;
    t->is_held = 0;
    if (!t->is_reusable || t->loop->free_count >= MAXIMUM_FREE) {
        destroy(t);
        return;
    }
    // Neither option may outlive the request: the list is freed, and the URL may contain secrets.
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, NULL);
    curl_easy_setopt(t->easy, CURLOPT_URL, NULL);
    t->next_free = t->loop->free_transfers;
    t->loop->free_transfers = t;
    t->loop->free_count++;
}

static long version_of(alcedo_curl_version version) {
    switch (version) {
    case ALCEDO_CURL_HTTP_1:
        return CURL_HTTP_VERSION_1_1;
    case ALCEDO_CURL_HTTP_2:
        return CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    default:
        return CURL_HTTP_VERSION_2TLS;
    }
}

#define SET(option, value) \
    if (code == CURLE_OK) code = curl_easy_setopt(e, option, value)

static CURLcode configure_plain(alcedo_curl_transfer *t, const alcedo_curl_request *r) {
    CURL *e = t->easy;
    CURLcode code = curl_easy_setopt(e, CURLOPT_URL, r->url);
    // The caller has removed dot segments. Newer versions of libcurl would also remove escaped ones.
    SET(CURLOPT_PATH_AS_IS, 1L);
    // Without TLS, libcurl learns only from the first response that the connection cannot be shared.
    t->may_wait = t->loop->shares_connections && !strncasecmp(r->url, "https:", 6);
    SET(CURLOPT_PIPEWAIT, (long)t->may_wait);
    SET(CURLOPT_CONNECTTIMEOUT_MS, r->connect_timeout_ms);
    SET(CURLOPT_FRESH_CONNECT, (long)r->wants_fresh_connection);
    SET(CURLOPT_FORBID_REUSE, (long)!t->loop->reuses_connections);
    if (t->headers) SET(CURLOPT_HTTPHEADER, t->headers);
    return code;
}

static CURLcode configure(alcedo_curl_transfer *t, const alcedo_curl_request *r) {
    CURL *e = t->easy;
    const alcedo_curl_loop *loop = t->loop;
    CURLcode code = configure_plain(t, r);
    if (t->is_plain) return code;
    if (loop->jar) {
        t->has_jar = !r->has_cookies;
        // `curl_easy_reset` does not change this option.
        SET(CURLOPT_SHARE, t->has_jar ? loop->jar : NULL);
        if (t->has_jar) SET(CURLOPT_COOKIEFILE, "");
    }
    SET(CURLOPT_PRIVATE, t);
    SET(CURLOPT_ERRORBUFFER, t->error);
    SET(CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700 // 7.87.0
    // An abandoned name lookup continues on its own thread, so that closing a handle does not wait for the resolver.
    SET(CURLOPT_QUICK_EXIT, 1L);
#endif
    // Only `http` and `https`: a redirect or a crafted URL must not reach `file:`, `ftp:` and other schemes.
#if LIBCURL_VERSION_NUM >= 0x075500 // 7.85.0
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    SET(CURLOPT_HTTP_VERSION, version_of(loop->version));
    if (loop->proxy) {
        SET(CURLOPT_PROXY, loop->proxy);
        // Otherwise, the exceptions in the environment would apply to this proxy, which is not from the environment.
        SET(CURLOPT_NOPROXY, "");
    }
    if (loop->ca_file || loop->ca.data) {
        // Otherwise, the system's certificate directory would also be trusted.
        SET(CURLOPT_CAPATH, NULL);
        SET(CURLOPT_CAINFO, loop->ca_file);
    }
    if (loop->ca.data) SET(CURLOPT_CAINFO_BLOB, &loop->ca);
    if (!r->verifies) {
        SET(CURLOPT_SSL_VERIFYPEER, 0L);
        SET(CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (r->pinned_keys) SET(CURLOPT_PINNEDPUBLICKEY, r->pinned_keys);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    t->is_repeatable = r->is_repeatable;
    SET(CURLOPT_PREREQFUNCTION, on_send);
    SET(CURLOPT_PREREQDATA, t);
    SET(CURLOPT_OPENSOCKETFUNCTION, alcedo_curl_on_open);
    SET(CURLOPT_OPENSOCKETDATA, t);
    SET(CURLOPT_CLOSESOCKETFUNCTION, alcedo_curl_on_close);
    SET(CURLOPT_CLOSESOCKETDATA, loop);
    if (loop->maximum_idle_s > 0) SET(CURLOPT_MAXAGE_CONN, loop->maximum_idle_s);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, t);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, t);
    if (r->has_body) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(r->body ? r->body_count : 0));
        SET(CURLOPT_COPYPOSTFIELDS, r->body ? (const char *)r->body : "");
    }
    if (!strcmp(r->method, "HEAD")) {
        SET(CURLOPT_NOBODY, 1L);
    } else if (r->has_body || strcmp(r->method, "GET")) {
        SET(CURLOPT_CUSTOMREQUEST, r->method);
    }
    t->is_plain = is_plain(r) && code == CURLE_OK;
    return code;
}
#undef SET

alcedo_curl_transfer *alcedo_curl_transfer_start(
    alcedo_curl_loop *loop, const alcedo_curl_request *request, const char *const *header_lines, size_t header_count,
    alcedo_curl_callbacks callbacks) {
    alcedo_curl_transfer *t = take(loop, request);
    if (!t) return NULL;
    t->callbacks = callbacks;
    for (size_t i = 0; i < header_count; i++) {
        struct curl_slist *grown = curl_slist_append(t->headers, header_lines[i]);
        if (!grown) {
            give_back(t);
            return NULL;
        }
        t->headers = grown;
    }
    const CURLcode code = configure(t, request);
    if (t->has_jar && request->deletes_cookies) delete_cookies(t);
    if (code != CURLE_OK || curl_multi_add_handle(loop->multi, t->easy) != CURLM_OK) {
        give_back(t);
        return NULL;
    }
    return t;
}

int alcedo_curl_restart(alcedo_curl_transfer *t) {
    curl_multi_remove_handle(t->loop->multi, t->easy);
    t->restart_count++;
    t->is_stale = t->is_refused = 0;
    t->error[0] = 0;
    t->socket = t->sent_on = CURL_SOCKET_BAD;
    t->is_held = 0;
    return curl_easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK &&
           curl_multi_add_handle(t->loop->multi, t->easy) == CURLM_OK;
}

void alcedo_curl_transfer_abandon_connection(alcedo_curl_transfer *t) {
    curl_easy_setopt(t->easy, CURLOPT_FORBID_REUSE, 1L);
}

void alcedo_curl_transfer_remove(alcedo_curl_transfer *t) {
    curl_multi_remove_handle(t->loop->multi, t->easy);
    bound_jar(t);
    give_back(t);
}

int alcedo_curl_send_count(const alcedo_curl_transfer *t) { return t->send_count; }

int alcedo_curl_resume(alcedo_curl_transfer *t) {
    // libcurl does not know that the socket was removed from `watch`, so the socket is added again here.
    if (t->is_held) {
        struct epoll_event wanted = {.events = EPOLLIN, .data.fd = t->socket};
        epoll_ctl(t->loop->watch, EPOLL_CTL_ADD, t->socket, &wanted);
        t->is_held = 0;
    }
    return curl_easy_pause(t->easy, CURLPAUSE_CONT) == CURLE_OK;
}

int alcedo_curl_undoes_lists_of_codings(void) {
    // Tested versions: 8.5.0 leaves the chunks in the body; 7.88.1 and 8.14.1 decode them.
    const unsigned number = curl_version_info(CURLVERSION_NOW)->version_num;
    return number < 0x080000 || number >= 0x080700;
}

alcedo_curl_metrics alcedo_curl_transfer_metrics(alcedo_curl_transfer *t) {
    alcedo_curl_metrics m = {0};
    curl_off_t value = 0;
    long number = 0;
#define GET(option, field) \
    if (curl_easy_getinfo(t->easy, option, &value) == CURLE_OK) m.field = value
    GET(CURLINFO_NAMELOOKUP_TIME_T, name_looked_up);
    GET(CURLINFO_CONNECT_TIME_T, connected);
    GET(CURLINFO_APPCONNECT_TIME_T, secured);
    GET(CURLINFO_STARTTRANSFER_TIME_T, first_byte);
    GET(CURLINFO_TOTAL_TIME_T, total);
    GET(CURLINFO_SIZE_DOWNLOAD_T, bytes_received);
    GET(CURLINFO_SIZE_UPLOAD_T, bytes_sent);
#undef GET
    if (curl_easy_getinfo(t->easy, CURLINFO_HEADER_SIZE, &number) == CURLE_OK) m.bytes_received += number;
    if (curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &number) == CURLE_OK) m.is_reused = number == 0;
    if (curl_easy_getinfo(t->easy, CURLINFO_HTTP_VERSION, &number) == CURLE_OK) {
        m.version = number == CURL_HTTP_VERSION_1_0 ? 10
                  : number == CURL_HTTP_VERSION_1_1 ? 11
                  : number == CURL_HTTP_VERSION_2_0 ? 20
                  : number == CURL_HTTP_VERSION_3   ? 30
                                                    : 0;
    }
    return m;
}
