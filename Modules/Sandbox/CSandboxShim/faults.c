#ifdef ALCEDO_SANDBOX
#include <errno.h>
#include <fcntl.h>
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

static void on_illegal_call(int number, siginfo_t *info, void *context) {
    ucontext_t *state = context;
    // The path of an attempt to open a file for reading; the attempt fails and the program continues.
    const char *path = NULL;
#if defined(__x86_64__)
    greg_t *registers = state->uc_mcontext.gregs;
    int is_reading = (registers[REG_RDX] & O_ACCMODE) == O_RDONLY && !(registers[REG_RDX] & O_CREAT);
    if (info->si_syscall == SYS_openat && is_reading) path = (const char *)registers[REG_RSI];
    if (is_system_information(path)) {
        registers[REG_RAX] = -ENOENT;
        return;
    }
#elif defined(__aarch64__)
    unsigned long long *registers = state->uc_mcontext.regs;
    int is_reading = (registers[2] & O_ACCMODE) == O_RDONLY && !(registers[2] & O_CREAT);
    if (info->si_syscall == SYS_openat && is_reading) path = (const char *)registers[1];
    if (is_system_information(path)) {
        registers[0] = (unsigned long long)-ENOENT;
        return;
    }
#else
#error "the sandbox supports x86-64 and aarch64"
#endif
    end(number, info->si_syscall);
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
