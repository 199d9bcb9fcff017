#ifdef ALCEDO_SANDBOX
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "CSandboxShim.h"
#include "internal.h"

// PR_SET_VMA, which names memory for debuggers. Since Linux 5.17.
#define NAME_MEMORY 0x53564d41

// Flags of clone that create namespaces, which only root could combine with those of a thread.
enum {
    NAMESPACES =
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
};

// Calls that decoders and the C library need for memory, threads, locks, time and the open descriptors.
static const int allowed[] = {
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(membarrier),
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(get_robust_list), SCMP_SYS(set_tid_address), SCMP_SYS(rseq),
    SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler),
    SCMP_SYS(getcpu), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(restart_syscall),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time),
    SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(getrandom),
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(getrlimit), SCMP_SYS(getrusage), SCMP_SYS(times), SCMP_SYS(sysinfo), SCMP_SYS(uname),
    SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(lseek), SCMP_SYS(close),
};

// Calls with which libraries query the system, and without whose result they continue.
static const struct {
    int call, error;
} refused[] = {
    {SCMP_SYS(stat), EACCES},      {SCMP_SYS(lstat), EACCES},     {SCMP_SYS(newfstatat), EACCES},
    {SCMP_SYS(fstat), EACCES},     {SCMP_SYS(statx), EACCES},     {SCMP_SYS(access), EACCES},
    {SCMP_SYS(faccessat), EACCES}, {SCMP_SYS(faccessat2), EACCES}, {SCMP_SYS(readlink), EACCES},
    {SCMP_SYS(readlinkat), EACCES}, {SCMP_SYS(ioctl), ENOTTY},    {SCMP_SYS(sched_setaffinity), EPERM},
    {SCMP_SYS(sched_setscheduler), EPERM}, {SCMP_SYS(setpriority), EPERM}, {SCMP_SYS(get_mempolicy), EPERM},
    // GLib's pools of threads, which librsvg can use, copy the settings of a thread.
    {SCMP_SYS(sched_getattr), EPERM}, {SCMP_SYS(sched_setattr), EPERM},
    // The C library then creates threads with clone, whose flags the filter can check.
    {SCMP_SYS(clone3), ENOSYS},
};

// Whether libraries use the call to read kept files. Without a rule, it traps, and the handler returns its result.
static int is_answered(int call) {
    static const int answered[] = {
        SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(newfstatat), SCMP_SYS(fstat),
    };
    for (size_t i = 0; i < sizeof answered / sizeof *answered; i++) {
        if (answered[i] == call) return alcedo_sandbox_keeps_files();
    }
    return 0;
}

// Both functions return 0 or a negative error number, as libseccomp does.
static int add_plain(scmp_filter_ctx filter) {
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        int result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
        if (result != 0) return result;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (is_answered(refused[i].call)) continue;
        int result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(refused[i].error), refused[i].call, 0);
        if (result != 0) return result;
    }
    return 0;
}

static int allow_if(scmp_filter_ctx filter, int call, struct scmp_arg_cmp condition) {
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, condition);
}

static int add_conditional(scmp_filter_ctx filter) {
    // Memory, but no code.
    int failed = allow_if(filter, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    failed |= allow_if(filter, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    // The first thread installs the handlers of the C library's own signals, 32 and 33.
    failed |= allow_if(filter, SCMP_SYS(rt_sigaction), SCMP_A0(SCMP_CMP_EQ, 32));
    failed |= allow_if(filter, SCMP_SYS(rt_sigaction), SCMP_A0(SCMP_CMP_EQ, 33));
    // Threads, but no processes.
    failed |= allow_if(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | NAMESPACES, CLONE_THREAD));
    // Messages through the socket only.
    failed |= allow_if(filter, SCMP_SYS(sendto), SCMP_A0(SCMP_CMP_EQ, ALCEDO_SANDBOX_SOCKET));
    failed |= allow_if(filter, SCMP_SYS(recvfrom), SCMP_A0(SCMP_CMP_EQ, ALCEDO_SANDBOX_SOCKET));
    // Signals to this process only, for abort().
    failed |= allow_if(filter, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    // The limits may be read.
    failed |= allow_if(filter, SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0));
    failed |= allow_if(filter, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    failed |= allow_if(filter, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, NAME_MEMORY));
    if (alcedo_sandbox_keeps_files()) {
        // The handler of SIGSYS, and libraries, with descriptors that the process has.
        static const int commands[] = {F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            failed |= allow_if(filter, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)commands[i]));
        }
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fstat), 0);
    }
    return failed ? -EINVAL : 0;
}

int alcedo_sandbox_filter(void) {
    // Other calls trap, so that the handler can report their number before the process ends.
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    if (!filter) {
        errno = ENOMEM;
        return -1;
    }
    int result = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (result == 0) result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (result == 0) result = add_plain(filter);
    if (result == 0) result = add_conditional(filter);
    if (result == 0) result = seccomp_load(filter);
    seccomp_release(filter);
    if (result == 0) return 0;
    errno = -result;
    return -1;
}

char *alcedo_sandbox_call_name(int number) { return seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number); }

int alcedo_sandbox_check_kernel(void) {
    // Level 3 of libseccomp's interface includes the actions and flags of the filter. Linux has it since 4.14.
    return seccomp_api_get() >= 3 ? 0 : -1;
}
#else
typedef int alcedo_sandbox_no_filter;
#endif
