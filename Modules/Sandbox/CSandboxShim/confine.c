#ifdef ALCEDO_SANDBOX
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CSandboxShim.h"
#include "internal.h"

// The definitions of Landlock up to version 6, because headers that are older than the kernel lack some of them.
#define LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_VERSION_FLAG 1u

struct landlock_rules {
    uint64_t files, network, scopes;
};

int alcedo_sandbox_landlock(void) {
    int version = (int)syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION_FLAG);
    // The kernel is built or started without Landlock, or a container's filter hides it.
    if (version < 0) return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM ? 0 : -1;
    struct landlock_rules rules = {(1u << 13) - 1, 0, 0};
    size_t size = sizeof rules.files;
    if (version >= 2) rules.files |= 1u << 13;  // moving files between directories
    if (version >= 3) rules.files |= 1u << 14;  // truncating
    if (version >= 4) {                         // TCP: bind and connect
        rules.network = 3;
        size = offsetof(struct landlock_rules, scopes);
    }
    if (version >= 5) rules.files |= 1u << 15;  // ioctl on devices
    if (version >= 6) {                         // abstract sockets and signals outside of the sandbox
        rules.scopes = 3;
        size = sizeof rules;
    }
    int set = (int)syscall(LANDLOCK_CREATE_RULESET, &rules, size, 0);
    if (set < 0) return -1;
    // Everything that the set names is denied, because it has no rule that allows anything.
    int result = (int)syscall(LANDLOCK_RESTRICT_SELF, set, 0);
    int reason = errno;
    close(set);
    errno = reason;
    return result == 0 ? version : -1;
}

static int limit(__rlimit_resource_t resource, rlim_t value) {
    struct rlimit current;
    if (getrlimit(resource, &current) != 0) return -1;
    // A hard limit that is lower already cannot be raised.
    if (current.rlim_max < value) value = current.rlim_max;
    struct rlimit both = {value, value};
    return setrlimit(resource, &both);
}

// If memory runs out, the kernel ends workers before the app. Without /proc, a worker has the rank of the app.
static void rank_below_app(void) {
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!write(file, "1000", 4);
        close(file);
    }
    // The thread that starts a worker can have a higher priority than the others.
    if (getpriority(PRIO_PROCESS, 0) < 0) setpriority(PRIO_PROCESS, 0, 0);
}

// Only a worker of root has any.
static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
    memset(none, 0, sizeof none);
    return (int)syscall(SYS_capset, &header, none);
}

static void *await_end_of_app(void *context) {
    (void)context;
    // No events: only the end of the connection and errors are reported, and no message.
    struct pollfd socket = {ALCEDO_SANDBOX_SOCKET, 0, 0};
    while (poll(&socket, 1, -1) <= 0) {
        if (errno != EINTR) return NULL;
    }
    _exit(0);
}

// Starts a thread that ends the process when the app has ended, also while a decoder waits without end.
static int end_with_app(void) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (!error) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        // The memory limit counts the stack.
        pthread_attr_setstacksize(&attributes, (size_t)256 << 10);
        pthread_t thread;
        error = pthread_create(&thread, &attributes, await_end_of_app, NULL);
        pthread_attr_destroy(&attributes);
    }
    errno = error;
    return error ? -1 : 0;
}

int alcedo_sandbox_confine(uint64_t memory_limit, int *landlock) {
    clearenv();
    // A service manager or a terminal can send these signals to all processes of a service. The worker ends with the
    // app, which may first complete its images.
    const int stops[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    for (size_t index = 0; index < sizeof stops / sizeof *stops; index++) {
        if (signal(stops[index], SIG_IGN) == SIG_ERR) return ALCEDO_SANDBOX_LIMITS;
    }
    prctl(PR_SET_NAME, "sandbox-worker", 0, 0, 0);
    rank_below_app();
    // Each arena of the allocator reserves 64 MiB of the address space, which the memory limit counts.
    mallopt(M_ARENA_MAX, 2);
    alcedo_sandbox_sort_files();
    if (alcedo_sandbox_report_faults(memory_limit) != 0) return ALCEDO_SANDBOX_LIMITS;
    uint64_t mapped = alcedo_sandbox_mapped_bytes();
    // Without /proc, the size of the program is unknown and counts as part of the limit.
    if (limit(RLIMIT_AS, mapped + memory_limit) != 0 || limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_FSIZE, 0) != 0 ||
        limit(RLIMIT_MEMLOCK, 0) != 0 || limit(RLIMIT_MSGQUEUE, 0) != 0)
        return ALCEDO_SANDBOX_LIMITS;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
        drop_capabilities() != 0)
        return ALCEDO_SANDBOX_PRIVILEGES;
    *landlock = alcedo_sandbox_landlock();
    if (*landlock < 0) return ALCEDO_SANDBOX_LANDLOCK;
    if (end_with_app() != 0) return ALCEDO_SANDBOX_LIMITS;
    // After this limit, no descriptor can be opened, with or without the filter, except for duplicates of kept files.
    if (limit(RLIMIT_NOFILE, (rlim_t)alcedo_sandbox_descriptor_limit()) != 0) return ALCEDO_SANDBOX_LIMITS;
    return alcedo_sandbox_filter() == 0 ? 0 : ALCEDO_SANDBOX_FILTER;
}
#else
typedef int alcedo_sandbox_no_confinement;
#endif
