import Glibc

/// Whether the address sanitizer is at work: it keeps what was freed, so that small amounts of memory say nothing.
package let keepsFreedMemory = dlsym(nil, "__asan_init") != nil
