#ifndef ALCEDO_CPNGSHIM_FILTERS_H
#define ALCEDO_CPNGSHIM_FILTERS_H

#include <stddef.h>
#include <stdint.h>

/// Reverses the filter of one row, in place. Source: W3C PNG specification, third edition, section 9.
///
/// Returns 0 for an undefined filter type.
///
/// @param row `count` filtered bytes, at least one pixel. Up to three bytes after them are read.
/// @param above The `count` bytes of the row above, or zeros for the first row. Up to three bytes after them are read.
/// @param pixel_bytes The number of bytes per pixel, from 1 to 4 and a divisor of `count`.
int alcedo_png_unfilter(uint8_t filter, uint8_t *row, const uint8_t *above, size_t count, size_t pixel_bytes);

#endif
