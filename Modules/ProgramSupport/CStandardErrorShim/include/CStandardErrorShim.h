#ifndef ALCEDO_CSTANDARDERRORSHIM_H
#define ALCEDO_CSTANDARDERRORSHIM_H

/// Discards what the libraries of the process write to the stream `stderr`, such as the lines that libjxl and dav1d
/// write about damaged images. The last words before the end of the process are still written, such as a fatal error of
/// Swift. Has no effect on what is written to the descriptor of standard error, and none without Glibc.
///
/// Call this function before other threads start.
void alcedo_discard_library_messages(void);

#endif
