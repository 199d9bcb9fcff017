#ifndef ALCEDO_CPNGSHIM_FILTERS_H
#define ALCEDO_CPNGSHIM_FILTERS_H

#include <stddef.h>
#include <stdint.h>

/// Undoes the filter of one row, in place. Source: W3C PNG specification, third edition, section 9.
///
/// Returns 0 for a filter that there is none of.
///
/// @param row `count` filtered bytes, at least one pixel; as many as three bytes behind them are read.
/// @param above The bytes of the row above, `count` noughts for the first; as many behind them are read.
/// @param pixel_bytes Bytes of a pixel: 1 to 4, a divisor of `count`.
int alcedo_png_unfilter(uint8_t filter, uint8_t *row, const uint8_t *above, size_t count, size_t pixel_bytes);

#endif
