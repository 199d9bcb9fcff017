#ifdef ALCEDO_SANDBOX
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CSandboxShim.h"

// glibc's enumeration has P_PIDFD since 2.36.
#define WAIT_PIDFD ((idtype_t)3)

int alcedo_sandbox_socket_pair(int *first, int *second) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    *first = ends[0];
    *second = ends[1];
    return 0;
}

static int add_descriptors(posix_spawn_file_actions_t *actions, int socket, int input, int output) {
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(actions, STDIN_FILENO, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(actions, STDIN_FILENO, STDERR_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(actions, socket, ALCEDO_SANDBOX_SOCKET);
    if (!error) error = posix_spawn_file_actions_adddup2(actions, input, ALCEDO_SANDBOX_INPUT);
    if (!error) error = posix_spawn_file_actions_adddup2(actions, output, ALCEDO_SANDBOX_OUTPUT);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, ALCEDO_SANDBOX_OUTPUT + 1);
    return error;
}

static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    // A session of its own, so that Ctrl-C reaches only the app.
    int error = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    if (!error) error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
    return error;
}

static int spawn(
    const char *path, const char *const *arguments, const char *const *variables, int socket, int input, int output,
    pid_t *process) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    posix_spawnattr_t attributes;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    error = add_descriptors(&actions, socket, input, output);
    if (!error) error = set_attributes(&attributes);
    if (!error) {
        error = posix_spawn(
            process, path, &actions, &attributes, (char *const *)arguments, (char *const *)variables);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int alcedo_sandbox_start(
    const char *path, const char *const *arguments, const char *const *variables, int socket, int input, int output,
    int *process, int *pidfd) {
    // Copies with higher numbers than those of the worker, so that no copy replaces one that is still needed.
    int files[3] = {socket, input, output};
    int error = 0;
    for (int i = 0; i < 3; i++) {
        files[i] = error ? -1 : fcntl(files[i], F_DUPFD_CLOEXEC, ALCEDO_SANDBOX_OUTPUT + 1);
        if (files[i] < 0 && !error) error = errno;
    }
    pid_t id = 0;
    if (!error) error = spawn(path, arguments, variables, files[0], files[1], files[2], &id);
    for (int i = 0; i < 3; i++) {
        if (files[i] >= 0) close(files[i]);
    }
    if (error) return error;
    // Since Linux 5.3. The descriptor is closed on exec.
    int descriptor = (int)syscall(SYS_pidfd_open, id, 0);
    if (descriptor < 0) {
        error = errno;
        kill(id, SIGKILL);
        while (waitpid(id, NULL, 0) < 0 && errno == EINTR) {}
        return error;
    }
    *process = id;
    *pidfd = descriptor;
    return 0;
}

int alcedo_sandbox_has_ended(int pidfd, int milliseconds) {
    struct pollfd process = {pidfd, POLLIN, 0};
    int count;
    do count = poll(&process, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    return count > 0;
}

int alcedo_sandbox_end_of(int pidfd, int milliseconds) {
    siginfo_t info = {0};
    if (!alcedo_sandbox_has_ended(pidfd, milliseconds)) return -1;
    // The process remains, so that alcedo_sandbox_end can release it.
    while (waitid(WAIT_PIDFD, (id_t)pidfd, &info, WEXITED | WNOWAIT) != 0) {
        if (errno != EINTR) return -1;
    }
    return info.si_code == CLD_EXITED ? 256 + info.si_status : info.si_status;
}

int alcedo_sandbox_end(int pidfd, int milliseconds) {
    int had_ended = alcedo_sandbox_has_ended(pidfd, milliseconds);
    if (!had_ended) (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    siginfo_t info = {0};
    while (waitid(WAIT_PIDFD, (id_t)pidfd, &info, WEXITED) != 0) {
        if (errno != EINTR) return -1;
    }
    if (info.si_code == CLD_EXITED) return 256 + info.si_status;
    return info.si_status == SIGKILL && !had_ended ? -1 : info.si_status;
}

int64_t alcedo_sandbox_limit_cpu(int process, int pidfd, uint64_t seconds) {
    // If the app ignores SIGCHLD or waits for all its processes, the number of an ended worker can belong to another
    // process, which must not get the limit.
    if (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) != 0) return -1;
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return -1;
    // The limit counts whole seconds, and the started second is added.
    rlim_t soft = (rlim_t)used.tv_sec + 1 + seconds;
    struct rlimit limit;
    if (prlimit(process, RLIMIT_CPU, NULL, &limit) != 0) return -1;
    // A process cannot block the signal of the hard limit. Only root could raise that limit again, so it is the same
    // for every request. It is lower if the limit of the app is lower.
    if (limit.rlim_max > 3600) limit.rlim_max = 3600;
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    return prlimit(process, RLIMIT_CPU, &limit, NULL) == 0 ? (int64_t)used.tv_sec : -1;
}

uint64_t alcedo_sandbox_private_bytes(int statm, uint64_t *mapped) {
    *mapped = 0;
    char text[128];
    ssize_t count = pread(statm, text, sizeof text - 1, 0);
    if (count <= 0) return 0;
    text[count] = 0;
    unsigned long long size, resident, shared;
    if (sscanf(text, "%llu %llu %llu", &size, &resident, &shared) != 3 || resident < shared) return 0;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    *mapped = size * page;
    return (resident - shared) * page;
}
#else
typedef int alcedo_sandbox_no_process;
#endif
