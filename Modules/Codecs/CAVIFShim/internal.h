#ifndef ALCEDO_CAVIFSHIM_INTERNAL_H
#define ALCEDO_CAVIFSHIM_INTERNAL_H

#include "CAVIFShim.h"

#if !__has_include(<avif/avif.h>)
#error "libavif is missing: install Debian's package libavif-dev, or build without the package trait AVIF"
#endif
#include <avif/avif.h>

struct alcedo_avif_decoder {
    avifDecoder *decoder;
    avifIO io;
    const uint8_t *bytes;
    size_t count;
    int is_stream;
    int ignores_alpha;
    uint32_t frame_pixel_limit;
    /// A changed copy of one box, which replaces its bytes, or NULL.
    uint8_t *repaired;
    size_t repaired_start;
    size_t repaired_size;
    /// The size in the header.
    uint32_t width;
    uint32_t height;
    const char *message;
    /// Converted rows, including those that are only needed to interpolate chroma.
    uint8_t *rows;
    size_t rows_size;
};

/// Makes a changed copy of a box of a complete file.
///
/// It replaces a box that libavif 0.11 would reject: a box `meta` that extends to the end of the file, or a movie with
/// tracks that are not images. To hide alpha, it replaces a box with auxiliary images or tracks.
void alcedo_avif_repair(alcedo_avif_decoder *d, int hides_alpha);

/// Returns the status for a result of libavif.
alcedo_avif_status alcedo_avif_status_of(avifResult result);

#endif
