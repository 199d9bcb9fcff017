// Runs a program to its end, and measures its time and its memory.
#ifndef ALCEDO_CPROCESSRUN_H
#define ALCEDO_CPROCESSRUN_H

#include <stddef.h>

typedef struct {
    /// The time from the start of the program to its end, in milliseconds.
    double wall;
    /// The processor time of the program, in milliseconds.
    double processor;
    /// The exit status, or -1 if a signal ended the program.
    int status;
} alcedo_process_time;

typedef struct {
    /// The maximum resident memory, in bytes.
    size_t resident;
    /// The number of shared libraries, with the loader and without the system's own page.
    size_t library_count;
    /// The exit status, or -1 if a signal ended the program.
    int status;
} alcedo_process_memory;

/// Runs a program with its standard input, output and error in `/dev/null`. `arguments` begin with the name of the
/// program and end with NULL. Returns 0, or an error number if the program cannot start.
int alcedo_process_measure_time(
    const char *_Nonnull path, char *_Nullable const *_Nonnull arguments, alcedo_process_time *_Nonnull result);
/// Runs a program as above, under the control of ptrace(2), which makes it slower. The resident memory that wait4(2)
/// reports would include that of the process that starts the program.
int alcedo_process_measure_memory(
    const char *_Nonnull path, char *_Nullable const *_Nonnull arguments, alcedo_process_memory *_Nonnull result);

#endif
