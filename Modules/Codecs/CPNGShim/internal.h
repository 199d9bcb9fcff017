#ifndef ALCEDO_CPNGSHIM_INTERNAL_H
#define ALCEDO_CPNGSHIM_INTERNAL_H

#include "CPNGShim.h"

#include <png.h>
#include <string.h>

/// A position in bytes that libpng reads from.
typedef struct {
    const uint8_t *bytes;
    size_t count;
    size_t offset;
    int ran_out;
} alcedo_png_input;

/// libpng's read function: unwinds by png_error when the bytes end.
void alcedo_png_read_input(png_structp png, png_bytep out, size_t count);

/// Looks among the chunks before the pixels for the first of this name that begins with the prefix. Returns the length
/// that it claims, 0 for none; `data` is NULL unless all of it is there. Does not check its CRC.
size_t alcedo_png_find_chunk(
    const alcedo_png_input *input, const char *name, const char *prefix, size_t prefix_size, const uint8_t **data);

/// Warnings concern what is ignored anyway (profiles, text).
void alcedo_png_ignore_warning(png_structp png, png_const_charp message);

#endif
