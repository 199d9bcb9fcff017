#include "internal.h"

#include <stdlib.h>
#include <string.h>

// More handles than this at rest are of no use.
enum { MAXIMUM_FREE = 64 };

static size_t on_header(char *bytes, size_t size, size_t count, void *data) {
    alcedo_curl_transfer *t = data;
    return t->callbacks.on_header(t->callbacks.context, bytes, size * count) ? size * count : 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data) {
    alcedo_curl_transfer *t = data;
    const int taken = t->callbacks.on_body(t->callbacks.context, bytes, size * count);
    return taken > 0 ? size * count : taken == 0 ? CURL_WRITEFUNC_PAUSE : 0;
}

static alcedo_curl_transfer *take(alcedo_curl_loop *loop) {
    alcedo_curl_transfer *t = loop->free_transfers;
    if (t) {
        loop->free_transfers = t->next_free;
        loop->free_count--;
        t->is_reusable = 0;
        return t;
    }
    t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->loop = loop;
    t->easy = curl_easy_init();
    if (!t->easy) {
        free(t);
        return NULL;
    }
    return t;
}

static void give_back(alcedo_curl_transfer *t) {
    curl_slist_free_all(t->headers);
    t->headers = NULL;
    memset(&t->callbacks, 0, sizeof t->callbacks);
    t->error[0] = 0;
    // A handle that was stopped half way keeps its buffers, and then refuses another size of them.
    if (!t->is_reusable || t->loop->free_count >= MAXIMUM_FREE) {
        curl_easy_cleanup(t->easy);
        free(t);
        return;
    }
    curl_easy_reset(t->easy);
    t->next_free = t->loop->free_transfers;
    t->loop->free_transfers = t;
    t->loop->free_count++;
}

static CURLcode configure(alcedo_curl_transfer *t, const alcedo_curl_request *r) {
    CURL *e = t->easy;
    CURLcode code = curl_easy_setopt(e, CURLOPT_URL, r->url);
#define SET(option, value) \
    if (code == CURLE_OK) code = curl_easy_setopt(e, option, value)
    SET(CURLOPT_PRIVATE, t);
    SET(CURLOPT_ERRORBUFFER, t->error);
    SET(CURLOPT_NOSIGNAL, 1L);
    // Only the web: a redirect or a crafted URL must not reach file:, ftp: and the rest.
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    if (r->decodes_content) SET(CURLOPT_ACCEPT_ENCODING, "");
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(CURLOPT_BUFFERSIZE, 128L << 10);
    SET(CURLOPT_CONNECTTIMEOUT_MS, r->idle_timeout_ms);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
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
    if (t->headers) SET(CURLOPT_HTTPHEADER, t->headers);
#undef SET
    return code;
}

alcedo_curl_transfer *alcedo_curl_transfer_start(
    alcedo_curl_loop *loop, const alcedo_curl_request *request, const char *const *header_lines, size_t header_count,
    alcedo_curl_callbacks callbacks) {
    alcedo_curl_transfer *t = take(loop);
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
    if (configure(t, request) != CURLE_OK || curl_multi_add_handle(loop->multi, t->easy) != CURLM_OK) {
        give_back(t);
        return NULL;
    }
    return t;
}

void alcedo_curl_transfer_remove(alcedo_curl_transfer *t) {
    curl_multi_remove_handle(t->loop->multi, t->easy);
    give_back(t);
}

void alcedo_curl_resume(alcedo_curl_transfer *t) { curl_easy_pause(t->easy, CURLPAUSE_CONT); }
