#include "CHTTPServerShim.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct alcedo_http_disconnects {
    int watch, end;
};

alcedo_http_disconnects *alcedo_http_disconnects_create(void) {
    alcedo_http_disconnects *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->watch = epoll_create1(EPOLL_CLOEXEC);
    d->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    if (d->watch < 0 || d->end < 0 || epoll_ctl(d->watch, EPOLL_CTL_ADD, d->end, &event)) {
        alcedo_http_disconnects_destroy(d);
        return NULL;
    }
    return d;
}

int alcedo_http_disconnects_watch(alcedo_http_disconnects *d, int socket, uint64_t number) {
    // A client that shuts down its sending side counts as disconnected, because most such clients have closed both
    // sides.
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = number};
    return epoll_ctl(d->watch, EPOLL_CTL_ADD, socket, &event) == 0;
}

void alcedo_http_disconnects_unwatch(alcedo_http_disconnects *d, int socket) {
    epoll_ctl(d->watch, EPOLL_CTL_DEL, socket, NULL);
}

uint64_t alcedo_http_disconnects_next(alcedo_http_disconnects *d) {
    struct epoll_event event;
    int count;
    do count = epoll_wait(d->watch, &event, 1, -1);
    while (count < 0 && errno == EINTR);
    return count == 1 ? event.data.u64 : 0;
}

void alcedo_http_disconnects_end(alcedo_http_disconnects *d) {
    const uint64_t one = 1;
    // The write fails only if the counter is full. The end is then already signaled.
    if (write(d->end, &one, sizeof one) < 0) return;
}

void alcedo_http_disconnects_destroy(alcedo_http_disconnects *d) {
    if (d->watch >= 0) close(d->watch);
    if (d->end >= 0) close(d->end);
    free(d);
}
