#ifndef ALCEDO_CPNGSHIM_INFLATE_H
#define ALCEDO_CPNGSHIM_INFLATE_H

#include <stddef.h>
#include <stdint.h>

/// Inflates a whole zlib stream with libdeflate, which takes about half as long as zlib 1.2, but cannot inflate a
/// stream in pieces.
///
/// Fails unless the stream and its checksum are valid, it has exactly `size` bytes when inflated, and it ends with
/// `bytes`. The checksum is required, although zlib ignores it here, because libdeflate accepts some codes that zlib
/// rejects. Matches may exceed the window that the stream declares.
///
/// @return 0 on failure, also when memory is exhausted.
int alcedo_png_inflate(const uint8_t *bytes, size_t count, uint8_t *out, size_t size);

#endif
