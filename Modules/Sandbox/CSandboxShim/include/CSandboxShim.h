#ifndef ALCEDO_CSANDBOXSHIM_H
#define ALCEDO_CSANDBOXSHIM_H

#include <stddef.h>
#include <stdint.h>

// Processes, shared memory and confinement of the sandbox. Swift cannot call most of these system calls, because they
// are variadic, have no function in the C library, or run between fork and exec. Without the package trait Sandbox,
// the file declares everything and defines nothing.

// MARK: Messages

/// A message from the app to a worker. Both ends are the same architecture, and `ALCEDO_SANDBOX_VERSION` is checked.
typedef struct alcedo_sandbox_request {
    uint32_t kind;
    uint8_t pixel_format, alpha_mode, target_mode, flags, tolerance;
    uint64_t name_count, input_count;
    uint64_t session;
    /// The index of a frame or of a page, or the argument of a conversion.
    int64_t index;
    int64_t limits[6];
    int64_t target[2];
} alcedo_sandbox_request;

/// A message from a worker to the app. Nothing in it is trusted.
typedef struct alcedo_sandbox_reply {
    uint32_t kind;
    /// The code of an error, the number of rows, a signal, or the number of files that could not be kept.
    uint32_t code;
    uint64_t payload_count, offset;
    int64_t width, height;
    uint8_t pixel_format, alpha_mode, orientation, flags;
    int64_t value;
} alcedo_sandbox_reply;

enum {
    ALCEDO_SANDBOX_VERSION = 5,
    /// The descriptors of a worker besides the standard streams.
    ALCEDO_SANDBOX_SOCKET = 3,
    ALCEDO_SANDBOX_INPUT = 4,
    ALCEDO_SANDBOX_OUTPUT = 5,
    /// The kind of the reply that a worker sends when a signal ends it: `code` is the signal, `value` the number of an
    /// illegal system call or -1, `flags` 1 if more than a third of the memory limit is in use.
    ALCEDO_SANDBOX_FAULT = 100,
};

// MARK: Shared memory

/// Creates shared memory of a fixed size: a memfd that can neither grow nor shrink, nor be executed where the kernel
/// supports that. Pages take no memory until they are written. Returns a descriptor, or -1 with the reason in errno.
int alcedo_sandbox_create_memory(uint64_t size);

/// Maps shared memory between two inaccessible pages. Returns NULL on an error, with the reason in errno.
void *_Nullable alcedo_sandbox_map(int file, uint64_t size, int writable);

/// Removes a mapping of `alcedo_sandbox_map` and its inaccessible pages.
void alcedo_sandbox_unmap(void *_Nonnull address, uint64_t size);

/// Forbids new writable mappings and further seals; existing mappings stay. Returns 0, or -1 with the reason in errno.
int alcedo_sandbox_seal_writes(int file);

/// Forbids further seals. Returns 0, or -1 with the reason in errno.
int alcedo_sandbox_seal(int file);

/// Returns the pages of `size` bytes from `offset` to the system. Later reads give zeros.
void alcedo_sandbox_release(int file, uint64_t offset, uint64_t size);

// MARK: Processes

/// Starts a worker with three descriptors, /dev/null as its standard streams, and only the given variables.
///
/// Returns 0, or an error number. `pidfd` refers to the process even if its number is reused.
int alcedo_sandbox_start(
    const char *_Nonnull path, const char *_Nullable const *_Nonnull arguments,
    const char *_Nullable const *_Nonnull variables, int socket, int input, int output, int *_Nonnull process,
    int *_Nonnull pidfd);

/// Creates a pair of connected sockets that keep message boundaries. Returns 0, or -1 with the reason in errno.
int alcedo_sandbox_socket_pair(int *_Nonnull first, int *_Nonnull second);

/// Returns 1 if the process has ended or ends within the time, and 0 otherwise.
int alcedo_sandbox_has_ended(int pidfd, int milliseconds);

/// Waits for the end of the process, and kills it if it does not end within the time. Returns the signal that ended it,
/// or 256 plus its exit status, or -1 if this call killed it or another part of the app has already waited for it.
int alcedo_sandbox_end(int pidfd, int milliseconds);

/// Returns the signal that ended the process, or 256 plus its exit status, or -1 if it does not end within the time.
/// The process must be released with alcedo_sandbox_end.
int alcedo_sandbox_end_of(int pidfd, int milliseconds);

/// Lets the process use `seconds` more of CPU time, and then sends it SIGXCPU. After an hour in total, the process is
/// killed, also when the app no longer exists. Returns the seconds that the process has used so far, or -1 if it no
/// longer exists.
int64_t alcedo_sandbox_limit_cpu(int process, int pidfd, uint64_t seconds);

/// Returns the bytes of memory that the process has for itself, from its open file /proc/N/statm; 0 if unknown.
/// `mapped` receives the bytes of its address space, or 0.
uint64_t alcedo_sandbox_private_bytes(int statm, uint64_t *_Nonnull mapped);

// MARK: Confinement

/// The steps of the confinement, for messages.
enum {
    ALCEDO_SANDBOX_LIMITS = 1,
    ALCEDO_SANDBOX_PRIVILEGES = 2,
    ALCEDO_SANDBOX_LANDLOCK = 3,
    ALCEDO_SANDBOX_FILTER = 4,
};

/// Opens a file that the confined process may read, and keeps its descriptor. Call it before the confinement, on one
/// thread. Returns 0, or 1 if the file could not be kept, or -1 if there is no memory.
///
/// After the confinement, `openat` with exactly this path returns a duplicate of the descriptor, and `access` and
/// `stat` succeed. A file is not kept if it cannot be opened, is not a regular file, or exceeds the limit of
/// descriptors or 8,192 files. With its path, these calls end the process.
int alcedo_sandbox_keep_file(const char *_Nonnull path);

/// Confines this process and all its threads, irrevocably. Returns 0, or the step that failed, with the reason in
/// errno. Landlock and the loss of capabilities apply only to the calling thread and those that it starts later.
///
/// The process ends when the other end of the socket is closed. `memory_limit` is in bytes, in addition to what is
/// mapped now. `landlock` receives the version of Landlock, or 0 if the kernel has none.
int alcedo_sandbox_confine(uint64_t memory_limit, int *_Nonnull landlock);

/// Returns the name of a system call, which the caller frees, or NULL.
char *_Nullable alcedo_sandbox_call_name(int number);

/// Returns 0 if the kernel has what the sandbox requires (seccomp filters with traps), and -1 otherwise.
int alcedo_sandbox_check_kernel(void);

#endif
