#define _GNU_SOURCE  // accept4
#include "CHTTPServerShim.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    BATCH = 64,
    // More than a response on a connection beyond the limit has.
    UNSENT_LIMIT = 64 << 10,
};

int alcedo_http_listen(const char *host, uint16_t port) {
    const struct addrinfo wanted = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    char text[8];
    snprintf(text, sizeof text, "%u", port);
    struct addrinfo *address = NULL;
    if (getaddrinfo(host, text, &wanted, &address)) return -EINVAL;
    const int one = 1;
    int listener = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
        bind(listener, address->ai_addr, address->ai_addrlen) || listen(listener, SOMAXCONN)) {
        const int error = errno;
        if (listener >= 0) close(listener);
        listener = -error;
    }
    freeaddrinfo(address);
    return listener;
}

uint16_t alcedo_http_port(int listener) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(listener, (struct sockaddr *)&address, &size)) return 0;
    return ntohs(
        address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                      : ((struct sockaddr_in *)&address)->sin_port);
}

int alcedo_http_accept(int listener, uint64_t *client) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    const int socket = accept4(listener, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) return -errno;
    // A response is sent at once, so there is nothing to collect.
    const int one = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    // The system takes megabytes for a client that reads nothing, of each connection.
    const int unsent = UNSENT_LIMIT;
    setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    *client = 0;
    if (address.ss_family == AF_INET6) {
        const struct in6_addr *all = &((struct sockaddr_in6 *)&address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(all))
            memcpy(client, all->s6_addr + 12, 4);
        else
            memcpy(client, all->s6_addr, sizeof *client);
    } else {
        memcpy(client, &((struct sockaddr_in *)&address)->sin_addr, 4);
    }
    return socket;
}

ptrdiff_t alcedo_http_send(int socket, const void *head, size_t head_count, const void *body, size_t body_count) {
    // The bytes are only read, although the field of the structure is not const.
    struct iovec parts[] = {
        {.iov_base = (void *)(uintptr_t)head, .iov_len = head_count},
        {.iov_base = (void *)(uintptr_t)body, .iov_len = body_count}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t count;
    do count = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

size_t alcedo_http_unreceived(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) || count < 0 ? 0 : (size_t)count;
}

int alcedo_http_poll_create(void) {
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    return poll < 0 ? -errno : poll;
}

int alcedo_http_wakeup_create(void) {
    const int wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return wakeup < 0 ? -errno : wakeup;
}

void alcedo_http_wake(int wakeup) {
    const uint64_t one = 1;
    // The write fails only if the counter is full, and then it is readable.
    if (write(wakeup, &one, sizeof one) < 0) return;
}

void alcedo_http_sleep(int wakeup) {
    uint64_t count;
    if (read(wakeup, &count, sizeof count) < 0) return;
}

int alcedo_http_poll_set(int poll, int descriptor, uint64_t number, int events) {
    struct epoll_event event = {.data.u64 = number};
    if (events & ALCEDO_HTTP_READ) event.events |= EPOLLIN;
    if (events & ALCEDO_HTTP_WRITE) event.events |= EPOLLOUT;
    if (events & ALCEDO_HTTP_HANGUP) event.events |= EPOLLRDHUP;
    return !epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event) ||
           (errno == ENOENT && !epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event));
}

int alcedo_http_poll_wait(int poll, alcedo_http_event *events, int limit) {
    struct epoll_event found[BATCH];
    const int count = epoll_wait(poll, found, limit < BATCH ? limit : BATCH, -1);
    for (int i = 0; i < count; i++) {
        const uint32_t bits = found[i].events;
        events[i].number = found[i].data.u64;
        events[i].events = (bits & EPOLLIN ? ALCEDO_HTTP_READ : 0) | (bits & EPOLLOUT ? ALCEDO_HTTP_WRITE : 0) |
                           (bits & (EPOLLRDHUP | EPOLLHUP | EPOLLERR) ? ALCEDO_HTTP_HANGUP : 0);
    }
    return count < 0 ? 0 : count;
}
