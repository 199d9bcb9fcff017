#ifndef CDIGESTSHIM_H
#define CDIGESTSHIM_H

// The SHA-256 instructions of x86-64 processors. Swift cannot use them, because it has no target attribute for single
// functions.

#include <stddef.h>
#include <stdint.h>

// Compresses `count` blocks of 64 bytes into the eight words of `state`, with the 64 constants of the rounds. Returns 0
// without any change if the processor does not have the instructions.
int alcedo_sha256_compress(
    uint32_t *_Nonnull state, const void *_Nonnull blocks, size_t count, const uint32_t *_Nonnull constants);

#endif
