#ifndef ALCEDO_CJPEGSHIM_INTERNAL_H
#define ALCEDO_CJPEGSHIM_INTERNAL_H

#include "CJPEGShim.h"

#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

#include <setjmp.h>

struct alcedo_jpeg_decoder {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    JOCTET *icc;
    int is_damaged;  // a warning that means lost pixels
    int is_stream;  // the end of the bytes suspends
    const uint8_t *base;  // what the source reads from
    size_t skipped;  // bytes still to be skipped when they come
    int ran_out;
    int too_many_scans;
    char message[JMSG_LENGTH_MAX];
};

/// Sets up errors that unwind to `escape` and never print.
void alcedo_jpeg_init_errors(alcedo_jpeg_decoder *d);
/// Reads from memory; when the bytes end it unwinds or suspends, where libjpeg's own source would go on with grey and a
/// warning.
void alcedo_jpeg_init_source(alcedo_jpeg_decoder *d, const uint8_t *bytes, size_t count);
/// What the last unwinding means.
alcedo_jpeg_status alcedo_jpeg_failure(const alcedo_jpeg_decoder *d);

#endif
