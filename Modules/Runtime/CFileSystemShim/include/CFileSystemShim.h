#ifndef ALCEDO_CFILESYSTEMSHIM_H
#define ALCEDO_CFILESYSTEMSHIM_H

#include <stddef.h>

// Opens files below a directory without following any symbolic link. Swift cannot call openat2: the C library has no
// function for it, and syscall() is variadic.

// O_PATH, with the value of Linux on the architectures that Swift supports.
#define ALCEDO_O_PATH 010000000

// Opens `path`, which consists of names other than `..` separated by single slashes, below the open directory
// `directory`. Returns a descriptor that is closed on exec, or -1 on an error, with ELOOP in errno if one of the names
// is a symbolic link.
int alcedo_open_beneath(int directory, const char *path, int flags, unsigned mode);

// Does the same on any kernel, one component at a time.
int alcedo_open_stepwise(int directory, const char *path, int flags, unsigned mode);

// Opens a file below a directory for reading, without waiting for a disk. The path is as above. Returns -1 on an error:
// EAGAIN if a part of the path is not in memory, EPERM if another user owns the file, EINVAL or ENOSYS if the kernel is
// older than 5.12.
int alcedo_open_cached(int directory, const char *path);

// Reads as pread does, but only bytes that are in the system's memory. Returns -1 on an error: EAGAIN if the first byte
// is not in memory, EOPNOTSUPP if the file system does not support such reads.
long alcedo_read_cached(int file, void *memory, size_t count, long offset);

#endif
