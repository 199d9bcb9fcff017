#ifndef ALCEDO_CJXLSHIM_INTERNAL_H
#define ALCEDO_CJXLSHIM_INTERNAL_H

#include "CJXLShim.h"

#if !__has_include(<jxl/decode.h>)
#error "libjxl is missing: install Debian's package libjxl-dev, or build without the package trait JXL"
#endif
#include <jxl/decode.h>
#include <jxl/thread_parallel_runner.h>
#include <stdatomic.h>

/// The memory of a decoder. Several threads allocate at the same time.
typedef struct {
    _Atomic size_t limit;
    _Atomic size_t used;
    /// Whether an allocation was refused because of the limit.
    _Atomic int is_exceeded;
    /// Whether an allocation failed.
    _Atomic int is_exhausted;
} alcedo_jxl_memory;

/// Returns an allocator that counts the bytes and refuses those over the limit.
JxlMemoryManager alcedo_jxl_memory_manager(alcedo_jxl_memory *memory);

struct alcedo_jxl_decoder {
    JxlDecoder *decoder;
    void *runner;
    alcedo_jxl_memory memory;
    alcedo_jxl_purpose purpose;
    size_t profile_limit;
    const uint8_t *bytes;
    size_t count;
    /// The offset of the first byte that libjxl has not consumed.
    size_t position;
    JxlBasicInfo basic;
    /// The index of the black channel among the extra channels, or -1.
    int black_index;
    /// The samples of the black channel of the current frame, or NULL.
    void *black;
    /// The format and the memory of the pixels that libjxl writes.
    JxlPixelFormat format;
    void *out;
    int has_output;
    /// The memory of the caller for 8-bit samples of a deeper file, which are made from `out`; otherwise NULL.
    uint8_t *narrow;
    /// The memory of `out` in this case, or NULL.
    void *deep;
    int has_jpeg;
    uint8_t *samples_icc;
    uint8_t *file_icc;
};

/// Sets the output color space, and reads the profiles of the file and of the samples.
void alcedo_jxl_read_color(alcedo_jxl_decoder *d, alcedo_jxl_info *info);

/// Returns the status after an error of libjxl, which does not report its cause.
alcedo_jxl_status alcedo_jxl_failure(const alcedo_jxl_decoder *d);

/// Returns the number of bytes of a row, rounded up to the alignment of rows.
size_t alcedo_jxl_aligned(size_t size);

/// Returns the number of bytes from one row of `width` pixels to the next.
size_t alcedo_jxl_stride(alcedo_jxl_format format, uint32_t width);

int alcedo_jxl_is_gray(alcedo_jxl_format format);
int alcedo_jxl_is_deep(alcedo_jxl_format format);
JxlPixelFormat alcedo_jxl_pixel_format(alcedo_jxl_format format, int has_alpha);

#endif
