import AlcedoLibc

/// Whether the address sanitizer is at work: it keeps what was freed, so that small amounts of memory say nothing.
package let keepsFreedMemory = dlsym(nil, "__asan_init") != nil

/// Whether the thread sanitizer is in use: its records of which thread accessed which memory take memory, too.
package let recordsAccesses = dlsym(nil, "__tsan_init") != nil
