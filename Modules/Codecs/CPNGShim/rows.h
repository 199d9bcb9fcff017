#ifndef ALCEDO_CPNGSHIM_ROWS_H
#define ALCEDO_CPNGSHIM_ROWS_H

#include "internal.h"

/// A reader of the rows of a complete file with 8-bit samples that is not interlaced. It is several times as fast as
/// libpng, which inflates with zlib and copies row by row, and whose filters are plain loops in Debian's build.
///
/// It supports only valid files. At the first error it fails, and the caller reads the file with libpng, which reports
/// the exact error or accepts the file.
typedef struct alcedo_png_rows alcedo_png_rows;

/// Creates a reader. Returns NULL for a file that it does not support, or when memory is exhausted.
///
/// @param d A decoder that has read the header and knows the format of the rows.
/// @param whole_limit The maximum number of filtered bytes to inflate at once. Up to 64 KiB more compressed bytes are
///                    copied. Larger images are inflated in batches of rows, with zlib.
alcedo_png_rows *alcedo_png_rows_create(alcedo_png_decoder *d, size_t whole_limit);
void alcedo_png_rows_destroy(alcedo_png_rows *rows);

/// Writes the next row. Returns 0 on failure.
int alcedo_png_rows_read(alcedo_png_rows *rows, uint8_t *out);

/// Reads the rest of the file after the last row of the image. Returns 0 on failure.
int alcedo_png_rows_finish(alcedo_png_rows *rows);

#endif
