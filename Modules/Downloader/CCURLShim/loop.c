#include "internal.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

// Not safe beside other threads in libcurl of this age, so once and before the first handle.
static void init_library(void) { curl_global_init(CURL_GLOBAL_DEFAULT); }

alcedo_curl_loop *alcedo_curl_loop_create(long connections) {
    pthread_once(&once, init_library);
    alcedo_curl_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->multi = curl_multi_init();
    if (!loop->multi) {
        free(loop);
        return NULL;
    }
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, connections);
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
    curl_multi_cleanup(loop->multi);
    free(loop);
}

void alcedo_curl_loop_wake(alcedo_curl_loop *loop) { curl_multi_wakeup(loop->multi); }

void alcedo_curl_perform(alcedo_curl_loop *loop, int timeout_ms) {
    int running = 0;
    curl_multi_poll(loop->multi, NULL, 0, timeout_ms, NULL);
    curl_multi_perform(loop->multi, &running);
}

static alcedo_curl_status status_of(CURLcode code) {
    switch (code) {
    case CURLE_OK:
        return ALCEDO_CURL_OK;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
        return ALCEDO_CURL_INVALID_REQUEST;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
        return ALCEDO_CURL_RESOLVE;
    case CURLE_COULDNT_CONNECT:
        return ALCEDO_CURL_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return ALCEDO_CURL_SECURE;
    case CURLE_OPERATION_TIMEDOUT:
        return ALCEDO_CURL_TIMEOUT;
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return ALCEDO_CURL_LOST;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        return ALCEDO_CURL_INVALID_RESPONSE;
    default:
        return ALCEDO_CURL_FAILED;
    }
}

alcedo_curl_transfer *alcedo_curl_next_finished(
    alcedo_curl_loop *loop, void **context, alcedo_curl_status *status, const char **message) {
    int left = 0;
    CURLMsg *found;
    while ((found = curl_multi_info_read(loop->multi, &left))) {
        if (found->msg != CURLMSG_DONE) continue;
        alcedo_curl_transfer *transfer = NULL;
        curl_easy_getinfo(found->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        transfer->is_reusable = found->data.result == CURLE_OK;
        *context = transfer->callbacks.context;
        *status = status_of(found->data.result);
        *message = transfer->error[0] ? transfer->error : curl_easy_strerror(found->data.result);
        return transfer;
    }
    return NULL;
}
