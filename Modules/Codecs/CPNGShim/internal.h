#ifndef ALCEDO_CPNGSHIM_INTERNAL_H
#define ALCEDO_CPNGSHIM_INTERNAL_H

#include "CPNGShim.h"

#include <png.h>
#include <setjmp.h>
#include <string.h>

typedef struct {
    const alcedo_png_segment *segments;
    size_t count;
    size_t index;
    size_t offset;  // in the segment
    int ran_out;
} alcedo_png_input;

struct alcedo_png_decoder {
    png_structp png;
    png_infop info;
    alcedo_png_input input;
    alcedo_png_format format;
    int premultiplies;
    int checks_crc;  // of chunks that hold pixels
    struct alcedo_png_rows *rows;  // the fast reader, for files that it reads
    alcedo_png_progress progress;
    // Where pushed rows go, during a call of alcedo_png_push; NULL when they are not written.
    uint8_t *out;
    size_t stride;
    size_t capacity;
    uint32_t first_row;
    size_t filtered_row_bytes;  // of a pushed file, once its pixels begin: bytes of a row as stored, with its filter
    int out_of_memory;
    jmp_buf escape;
    char message[96];
};

/// Copies the next bytes, or reports that the file is truncated.
void alcedo_png_read_input(png_structp png, png_bytep out, size_t count);

/// Allocates for libpng. The pointer that was given with it is to an `int`, which becomes 1 when memory is exhausted.
png_voidp alcedo_png_allocate(png_structp png, png_alloc_size_t size);

/// libpng prints warnings unless told otherwise.
void alcedo_png_ignore_warning(png_structp png, png_const_charp message);

/// The status that belongs to the error just caught.
alcedo_png_status alcedo_png_failure(const alcedo_png_decoder *d);

/// A decoder without a source. NULL: out of memory.
alcedo_png_decoder *alcedo_png_new(size_t chunk_limit);

/// Asks libpng for the samples of `d->format`. May jump.
void alcedo_png_transform(alcedo_png_decoder *d);

/// Jumps unless rows of the image fit `stride`, and `rows` of them `capacity`. Returns the bytes of a row.
size_t alcedo_png_check_room(
    alcedo_png_decoder *d, size_t stride, size_t rows, size_t capacity);

#endif
