#ifndef ALCEDO_CJPEGSHIM_INTERNAL_H
#define ALCEDO_CJPEGSHIM_INTERNAL_H

#include "CJPEGShim.h"

#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

#include <setjmp.h>

/// Where a piece of metadata lies in the bytes; an offset of 0 means nowhere.
typedef struct {
    size_t offset;
    size_t size;
} alcedo_jpeg_segment;

/// An ICC profile in parts, numbered from 1.
typedef struct {
    alcedo_jpeg_segment parts[256];
    size_t size;
    int count;  // how many parts there are said to be
    int found;
    int is_broken;
} alcedo_jpeg_profile;

struct alcedo_jpeg_decoder {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    alcedo_jpeg_segment exif;
    alcedo_jpeg_segment xmp;
    alcedo_jpeg_profile profile;
    uint8_t *row;  // for one row of the output
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
/// Reads from memory; when the bytes end it unwinds or suspends, where libjpeg's own source would go on with gray and a
/// warning.
void alcedo_jpeg_init_source(alcedo_jpeg_decoder *d, const uint8_t *bytes, size_t count);
/// Remembers where EXIF, XMP and the ICC profile lie.
void alcedo_jpeg_init_markers(alcedo_jpeg_decoder *d);
/// 0 unless all parts of the profile are there.
size_t alcedo_jpeg_profile_size(const alcedo_jpeg_decoder *d);
/// What the last unwinding means.
alcedo_jpeg_status alcedo_jpeg_failure(const alcedo_jpeg_decoder *d);

#endif
