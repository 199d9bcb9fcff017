#ifndef ALCEDO_CPNGSHIM_ROWS_H
#define ALCEDO_CPNGSHIM_ROWS_H

#include "internal.h"

/// Reads the rows of a whole file of 8-bit samples that is not interlaced, several times as fast as libpng, whose filters
/// are plain loops in Debian's build, and which inflates and copies row by row.
///
/// It knows good files only: at the first thing that is not as it should be it gives up, and whoever asked reads the
/// file by libpng, which says what is wrong, or accepts it.
typedef struct alcedo_png_rows alcedo_png_rows;

/// NULL for a file that it does not read, or out of memory.
///
/// @param d Has read the header, and chosen the samples.
alcedo_png_rows *alcedo_png_rows_create(alcedo_png_decoder *d);
void alcedo_png_rows_destroy(alcedo_png_rows *rows);

/// Writes the next row. Returns 0 when it gives up.
int alcedo_png_rows_read(alcedo_png_rows *rows, uint8_t *out);

/// Looks at what follows the last row. Returns 0 when it gives up.
int alcedo_png_rows_finish(alcedo_png_rows *rows);

#endif
