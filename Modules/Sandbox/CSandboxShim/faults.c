#ifdef ALCEDO_SANDBOX
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "CSandboxShim.h"
#include "internal.h"

// Set once before the confinement, and only read by the handlers.
static int statm = -1;
static uint64_t mapped_at_start;
static uint64_t limit_of_memory;
static long page_size;
static char handler_stack[64 << 10];

uint64_t alcedo_sandbox_mapped_bytes(void) {
    char text[64];
    ssize_t count = statm < 0 ? -1 : pread(statm, text, sizeof text, 0);
    uint64_t pages = 0;
    for (ssize_t i = 0; i < count && text[i] >= '0' && text[i] <= '9'; i++) {
        pages = 10 * pages + (uint64_t)(text[i] - '0');
    }
    return pages * (uint64_t)page_size;
}

// Reports the fault and ends the process by the signal. Only system calls that are safe in a signal handler.
static void end(int number, int64_t call) {
    uint64_t mapped = alcedo_sandbox_mapped_bytes();
    uint64_t growth = mapped > mapped_at_start ? mapped - mapped_at_start : 0;
    alcedo_sandbox_reply reply;
    memset(&reply, 0, sizeof reply);
    reply.kind = ALCEDO_SANDBOX_FAULT;
    reply.code = (uint32_t)number;
    reply.value = call;
    // A container that doubles its memory fails when it holds a third of the limit.
    reply.flags = growth > limit_of_memory / 3;
    send(ALCEDO_SANDBOX_SOCKET, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
    // The handlers of crashes are reset on entry and do not block their signal, so this call ends the process. The
    // handler of SIGSYS stays, because some calls return, and the exit status stands for the signal.
    if (call < 0) syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), number);
    _exit(128 + number);
}

static void on_crash(int number, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    end(number, -1);
}

// Whether a path is one that the C library and C++ runtimes read to count processors, and do without.
static int is_system_information(const char *path) {
    return path && (strncmp(path, "/sys/", 5) == 0 || strncmp(path, "/proc/", 6) == 0);
}

// The result of a call that the process does not survive.
#define NO_RESULT LONG_MIN

// Opens a kept file by duplicating its descriptor. Duplicates share their offset, so threads that read the same file
// without mapping it can disturb each other.
static long open_kept(const char *path, int flags) {
    if ((flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT) return NO_RESULT;
    if (is_system_information(path)) return -ENOENT;
    if (flags & (O_DIRECTORY | O_PATH | O_TRUNC)) return NO_RESULT;
    int kept = alcedo_sandbox_find_file(path);
    int file = kept < 0 ? -1 : fcntl(kept, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return NO_RESULT;
    lseek(file, 0, SEEK_SET);
    return file;
}

static long check_access(const char *path, int mode) {
    int kept = alcedo_sandbox_find_file(path);
    if (kept == ALCEDO_SANDBOX_UNAVAILABLE) return NO_RESULT;
    return kept >= 0 && (mode & ~R_OK) == 0 ? 0 : -EACCES;
}

// Returns the status of an open descriptor or of a kept file.
static long check_status(int file, const char *path, long status, int flags) {
    if (!(flags & AT_EMPTY_PATH) || (path && *path)) {
        // The kept file is the target of a link, so the status of the link itself is not known.
        file = flags & AT_SYMLINK_NOFOLLOW ? ALCEDO_SANDBOX_UNLISTED : alcedo_sandbox_find_file(path);
        if (file == ALCEDO_SANDBOX_UNAVAILABLE) return NO_RESULT;
        if (file < 0) return -EACCES;
    }
    return syscall(SYS_fstat, file, status) == 0 ? 0 : -errno;
}

// Returns the result of a call, a negative error number, or NO_RESULT. Runs in the handler of SIGSYS, so it uses only
// memory that does not change, and calls that the filter allows and that are safe in a handler.
static long result_of(int call, const long *arguments) {
    switch (call) {
    case SYS_openat: return open_kept((const char *)arguments[1], (int)arguments[2]);
#ifdef SYS_access
    case SYS_access: return check_access((const char *)arguments[0], (int)arguments[1]);
#endif
#ifdef SYS_faccessat2
    case SYS_faccessat2:
#endif
    case SYS_faccessat: return check_access((const char *)arguments[1], (int)arguments[2]);
    case SYS_newfstatat:
        return check_status((int)arguments[0], (const char *)arguments[1], arguments[2], (int)arguments[3]);
    default: return NO_RESULT;
    }
}

static void on_illegal_call(int number, siginfo_t *info, void *context) {
    ucontext_t *state = context;
    int reason = errno;
#if defined(__x86_64__)
    greg_t *registers = state->uc_mcontext.gregs;
    const long arguments[] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10]};
    greg_t *result = &registers[REG_RAX];
#elif defined(__aarch64__)
    unsigned long long *registers = state->uc_mcontext.regs;
    const long arguments[] = {
        (long)registers[0], (long)registers[1], (long)registers[2], (long)registers[3],
    };
    unsigned long long *result = &registers[0];
#else
#error "the sandbox supports x86-64 and aarch64"
#endif
    const long value = result_of(info->si_syscall, arguments);
    if (value == NO_RESULT) end(number, info->si_syscall);
    *result = value;
    errno = reason;
}

static int handle(int number, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | flags;
    return sigaction(number, &action, NULL);
}

int alcedo_sandbox_report_faults(uint64_t memory_limit) {
    page_size = sysconf(_SC_PAGESIZE);
    limit_of_memory = memory_limit;
    // Without /proc, the file is missing, and no crash counts as an overrun of memory.
    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    mapped_at_start = alcedo_sandbox_mapped_bytes();
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    if (sigaltstack(&stack, NULL) != 0) return -1;
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        if (handle(crashes[i], on_crash, (int)SA_RESETHAND) != 0) return -1;
    }
    return handle(SIGSYS, on_illegal_call, 0);
}
#else
typedef int alcedo_sandbox_no_faults;
#endif
