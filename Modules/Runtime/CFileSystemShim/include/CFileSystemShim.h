#ifndef ALCEDO_CFILESYSTEMSHIM_H
#define ALCEDO_CFILESYSTEMSHIM_H

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

#endif
