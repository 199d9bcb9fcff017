#ifndef ALCEDO_CPNGSHIM_PACK_H
#define ALCEDO_CPNGSHIM_PACK_H

#include "CPNGShim.h"

/// Filters rows and keeps them, to compress all of them at once with libdeflate.
typedef struct alcedo_png_packer alcedo_png_packer;

/// Creates a packer. Returns NULL when the filtered rows would exceed `settings->pack_limit` bytes and when memory is
/// exhausted.
alcedo_png_packer *_Nullable alcedo_png_packer_create(const alcedo_png_settings *_Nonnull settings);
void alcedo_png_packer_destroy(alcedo_png_packer *_Nullable packer);

/// Filters the next row, in the form of alcedo_png_encoder_write. Ignores rows that are not in the current pass of an
/// interlaced image. Returns 0 when the image has no more rows.
int alcedo_png_packer_add(alcedo_png_packer *_Nonnull packer, const uint8_t *_Nonnull row);

/// Whether all rows were added.
int alcedo_png_packer_is_full(const alcedo_png_packer *_Nonnull packer);

/// Returns the maximum number of bytes that alcedo_png_packer_write writes.
size_t alcedo_png_packer_bound(const alcedo_png_packer *_Nonnull packer);

/// Writes the chunk with the rows: fdAT with a sequence number, or IDAT for -1. Returns its size, or 0 when it does not
/// fit.
size_t alcedo_png_packer_write(
    const alcedo_png_packer *_Nonnull packer, int64_t sequence, uint8_t *_Nonnull out, size_t capacity);

#endif
