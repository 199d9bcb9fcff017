#ifndef ALCEDO_SANDBOX_INTERNAL_H
#define ALCEDO_SANDBOX_INTERNAL_H

#include <stdint.h>

/// Installs the handlers that report a crash or an illegal system call through the socket. Returns 0 or -1.
int alcedo_sandbox_report_faults(uint64_t memory_limit);

/// Denies all access to files, and to TCP and abstract sockets where the kernel can. Returns the version of Landlock, 0
/// if the kernel has none, or -1 with the reason in errno.
int alcedo_sandbox_landlock(void);

/// Loads the filter of system calls into all threads. Returns 0 or -1 with the reason in errno.
int alcedo_sandbox_filter(void);

/// Returns the bytes of the address space that are in use, or 0 if /proc is not mounted. Safe in a signal handler.
uint64_t alcedo_sandbox_mapped_bytes(void);

// MARK: Kept files

enum {
    /// No kept file has the path.
    ALCEDO_SANDBOX_UNLISTED = -1,
    /// The file could not be opened. A use of it ends the process, because libraries could continue without it and
    /// produce other pixels.
    ALCEDO_SANDBOX_UNAVAILABLE = -2,
};

/// Prepares the search. Call it after the last `alcedo_sandbox_keep_file`.
void alcedo_sandbox_sort_files(void);

/// Returns whether the process keeps files, including files that could not be opened.
int alcedo_sandbox_keeps_files(void);

/// Returns the limit of descriptors that leaves room for duplicates of kept files. Without such files, it is 1, because
/// `poll` fails for more descriptors than the limit, and descriptor 0 is in use.
uint64_t alcedo_sandbox_descriptor_limit(void);

/// Returns the descriptor of the kept file with exactly this path, or one of the values above. Safe in a signal
/// handler.
int alcedo_sandbox_find_file(const char *path);

#endif
