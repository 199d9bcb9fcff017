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
    int has_wrong_data_checksum;  // whether the checksum of a pixel chunk is wrong
    int has_unverified_stream;  // whether the compressed stream has a wrong end
    int checks_crc;  // whether the fast reader verifies the checksums of chunks
    struct alcedo_png_rows *rows;  // the fast reader, or NULL when libpng reads the rows
    alcedo_png_progress progress;
    // The memory for pushed rows during a call of alcedo_png_push. `out` is NULL when rows are not written.
    uint8_t *out;
    size_t stride;
    size_t capacity;
    uint32_t first_row;
    size_t filtered_row_bytes;  // the size of a stored row with its filter byte; 0 until a pushed header is read
    int out_of_memory;
    int (*is_canceled)(void);  // whether the caller was canceled, or NULL
    int was_canceled;
    int reads_end;  // whether every warning is damage, because the header has been read and no pixel changes any more
    alcedo_png_damage header_damage;
    char damage_message[96];
    jmp_buf escape;
    char message[96];
};

/// Copies the next bytes. Jumps when the file is truncated.
void alcedo_png_read_input(png_structp png, png_bytep out, size_t count);

/// Allocates memory for libpng. libpng's memory pointer refers to an `int`, which is set to 1 when memory is exhausted.
png_voidp alcedo_png_allocate(png_structp png, png_alloc_size_t size);

/// Ignores a warning. By default, libpng prints warnings.
void alcedo_png_ignore_warning(png_structp png, png_const_charp message);

/// Returns the status for the error that caused the last jump.
alcedo_png_status alcedo_png_failure(const alcedo_png_decoder *d);

/// Creates a decoder without a source. Returns NULL when memory is exhausted.
alcedo_png_decoder *alcedo_png_new(size_t chunk_limit);

/// Configures libpng to return samples in `d->format`. May jump.
void alcedo_png_transform(alcedo_png_decoder *d);

/// Jumps unless libpng returns rows in `d->format`, a row fits in `stride`, and `rows` * `stride` is at most
/// `capacity`. Returns the number of bytes in a row.
size_t alcedo_png_check_room(
    alcedo_png_decoder *d, size_t stride, size_t rows, size_t capacity);

#endif
