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

#endif
