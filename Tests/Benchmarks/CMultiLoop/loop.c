#include "CMultiLoop.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    CURL *easy;
    char *body;
    size_t count, capacity;
} transfer;

struct alcedo_multi_loop {
    CURLM *multi;
    transfer *transfers;
    char *base;
    size_t width, body_size;
};

static size_t on_body(char *bytes, size_t size, size_t count, void *data) {
    transfer *t = data;
    count *= size;
    if (t->count + count > t->capacity) {
        const size_t capacity = (t->count + count) * 2;
        char *grown = realloc(t->body, capacity);
        if (!grown) return 0;
        t->body = grown;
        t->capacity = capacity;
    }
    memcpy(t->body + t->count, bytes, count);
    t->count += count;
    return count;
}

static int configure(transfer *t, const alcedo_multi_loop_options *options) {
    CURL *e = t->easy;
    int is_good = 1;
#define SET(option, value) is_good = is_good && curl_easy_setopt(e, option, value) == CURLE_OK
    SET(CURLOPT_PRIVATE, t);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_BUFFERSIZE, 128L << 10);
    SET(CURLOPT_ACCEPT_ENCODING, "");
    SET(CURLOPT_HTTP_VERSION, options->speaks_http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_PIPEWAIT, (long)options->speaks_http2);
    if (options->ca_file) SET(CURLOPT_CAINFO, options->ca_file);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, t);
#undef SET
    return is_good;
}

alcedo_multi_loop *alcedo_multi_loop_create(const alcedo_multi_loop_options *options) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    alcedo_multi_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->width = options->width;
    loop->body_size = options->body_size;
    loop->base = strdup(options->base);
    loop->multi = curl_multi_init();
    loop->transfers = calloc(options->width, sizeof *loop->transfers);
    int is_good = loop->base && loop->multi && loop->transfers;
    for (size_t i = 0; is_good && i < loop->width; i++) {
        transfer *t = &loop->transfers[i];
        t->easy = curl_easy_init();
        is_good = t->easy && configure(t, options);
    }
    if (!is_good) {
        alcedo_multi_loop_destroy(loop);
        return NULL;
    }
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)loop->width);
    return loop;
}

static int begin(alcedo_multi_loop *loop, transfer *t, size_t number) {
    char url[1024];
    snprintf(url, sizeof url, "%s%zu", loop->base, number);
    t->count = 0;
    return curl_easy_setopt(t->easy, CURLOPT_URL, url) == CURLE_OK &&
           curl_multi_add_handle(loop->multi, t->easy) == CURLM_OK;
}

static int is_right(const alcedo_multi_loop *loop, const transfer *t, CURLcode result) {
    long status = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    const int has_size = loop->body_size ? t->count == loop->body_size : t->count > 0;
    return result == CURLE_OK && status == 200 && has_size;
}

size_t alcedo_multi_loop_run(alcedo_multi_loop *loop, size_t first, size_t count) {
    const size_t end = first + count;
    size_t next = first, running = 0, good = 0;
    for (size_t i = 0; i < loop->width && next < end; i++) running += begin(loop, &loop->transfers[i], next++);
    while (running) {
        int handles = 0;
        curl_multi_perform(loop->multi, &handles);
        CURLMsg *message;
        int left = 0;
        while ((message = curl_multi_info_read(loop->multi, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            const CURLcode result = message->data.result;
            transfer *t = NULL;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
            curl_multi_remove_handle(loop->multi, t->easy);
            good += is_right(loop, t, result);
            running--;
            if (next < end) running += begin(loop, t, next++);
        }
        if (running) curl_multi_poll(loop->multi, NULL, 0, 1000, NULL);
    }
    return count - good;
}

void alcedo_multi_loop_destroy(alcedo_multi_loop *loop) {
    for (size_t i = 0; loop->transfers && i < loop->width; i++) {
        if (loop->transfers[i].easy) curl_easy_cleanup(loop->transfers[i].easy);
        free(loop->transfers[i].body);
    }
    free(loop->transfers);
    if (loop->multi) curl_multi_cleanup(loop->multi);
    free(loop->base);
    free(loop);
}
