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

struct alcedo_curl_loop {
    CURLM *multi;
    /// What the sockets of all transfers are watched by, and `wakeup`, an eventfd.
    int watch, wakeup;
    /// When libcurl wants to be called though no socket is ready, in milliseconds of the monotonic clock; negative: never.
    int64_t timer;
    /// What the last wait has found.
    struct epoll_event ready[ALCEDO_MAXIMUM_READY];
    int ready_count;
    /// Easy handles at rest.
    alcedo_curl_transfer *free_transfers;
    size_t free_count;
    /// The cookie jar of all transfers; NULL: none. No lock: only the loop's thread uses it.
    CURLSH *jar;
    /// The most bytes that the jar can hold by now.
    size_t jar_size;
    // Settings, owned.
    alcedo_curl_version version;
    int shares_connections;
    char *proxy;
    char *ca_file;
    struct curl_blob ca;  // no data: none
};

/// Whether no interface but the loopback has an address that leads anywhere.
int alcedo_curl_is_offline(void);

struct alcedo_curl_transfer {
    CURL *easy;
    alcedo_curl_loop *loop;
    struct curl_slist *headers;
    alcedo_curl_callbacks callbacks;
    alcedo_curl_transfer *next_free;
    int is_reusable;  // it came to its own good end
    int is_plain;     // the handle is set up for a request that is plain
    int has_jar;      // it uses the loop's cookie jar
    int is_repeatable;
    int send_count;
    int has_answer;  // a byte of it has come
    int is_refused;  // sending it again was
    curl_socket_t socket;  // the one that libcurl watches for it; CURL_SOCKET_BAD: none
    int is_held;           // nothing watches the socket
    char error[CURL_ERROR_SIZE];
};

#endif
