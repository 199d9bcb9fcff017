#ifndef CBENEATH_H
#define CBENEATH_H

// Opens what is below a folder without following a link anywhere on the way. Swift cannot call openat2: the C library has no
// function for it, and syscall() takes a variable number of arguments.

// O_PATH, of Linux on the machines that Swift runs on.
#define ALCEDO_O_PATH 010000000

// Opens `path`, names with one slash between them, below the open folder `directory`. -1 when the system refuses, with ELOOP
// when one of the names is a link.
int alcedo_open_beneath(int directory, const char *path, int flags, unsigned mode);

// The same on any kernel, a folder at a time.
int alcedo_open_stepwise(int directory, const char *path, int flags, unsigned mode);

#endif
