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

/// Warnings concern what is ignored anyway (profiles, text).
void alcedo_png_ignore_warning(png_structp png, png_const_charp message);

#endif
