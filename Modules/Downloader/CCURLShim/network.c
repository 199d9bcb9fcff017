#include "internal.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

static int leads_out(const struct ifaddrs *a) {
    if (!a->ifa_addr || !(a->ifa_flags & IFF_UP) || !(a->ifa_flags & IFF_RUNNING) || a->ifa_flags & IFF_LOOPBACK)
        return 0;
    if (a->ifa_addr->sa_family == AF_INET) return 1;
    if (a->ifa_addr->sa_family != AF_INET6) return 0;
    // Every interface has a link-local address, whether it is connected or not.
    return !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)a->ifa_addr)->sin6_addr);
}

int alcedo_curl_is_offline(void) {
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) return 0;
    int found = 0;
    for (const struct ifaddrs *a = all; a && !found; a = a->ifa_next) found = leads_out(a);
    freeifaddrs(all);
    return !found;
}
