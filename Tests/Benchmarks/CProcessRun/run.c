#define _GNU_SOURCE

#include "CProcessRun.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double milliseconds(struct timeval time) { return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3; }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

int alcedo_process_measure_time(const char *path, char *const *arguments, alcedo_process_time *result) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const double start = now();
    if (!error) error = posix_spawn(&child, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) return error;
    int status = 0;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0) {
        if (errno != EINTR) return errno;
    }
    result->wall = now() - start;
    result->processor = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
    result->status = exit_status(status);
    return 0;
}

/// Reads the maximum resident memory of a process from `/proc`.
static size_t peak_of(pid_t process) {
    char line[256];
    snprintf(line, sizeof line, "/proc/%d/status", (int)process);
    FILE *file = fopen(line, "re");
    size_t kibibytes = 0;
    while (file && !kibibytes && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %zu", &kibibytes);
    if (file) fclose(file);
    return kibibytes << 10;
}

/// Counts the executable mappings of shared libraries. Each library has one.
static size_t libraries_of(pid_t process) {
    char *line = NULL;
    size_t size = 0, count = 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &size, file) > 0) {
        if (strstr(line, " r-xp ") && (strstr(line, ".so\n") || strstr(line, ".so."))) count++;
    }
    free(line);
    if (file) fclose(file);
    return count;
}

/// Becomes the program, with this process's parent as its tracer. Only calls that are safe after a fork.
static void become(const char *path, char *const *arguments) {
    const int null = open("/dev/null", O_RDWR);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
        dup2(null, STDERR_FILENO) >= 0 && !ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
        execv(path, arguments);
    }
    _exit(127);
}

int alcedo_process_measure_memory(const char *path, char *const *arguments, alcedo_process_memory *result) {
    memset(result, 0, sizeof *result);
    const pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) become(path, arguments);
    // The first stop is that of execve(2). Without it, the program has not started.
    for (int is_started = 0;;) {
        int status = 0;
        if (waitpid(child, &status, 0) < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        if (!WIFSTOPPED(status)) {
            result->status = exit_status(status);
            return is_started ? 0 : ENOEXEC;
        }
        int signal = WSTOPSIG(status);
        if (!is_started && signal == SIGTRAP) {
            is_started = 1;
            signal = 0;
            ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL));
        } else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
            signal = 0;
            result->resident = peak_of(child);
            result->library_count = libraries_of(child);
        }
        ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal);
    }
}
