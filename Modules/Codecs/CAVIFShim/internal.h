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
    /// The size in the header.
    uint32_t width;
    uint32_t height;
    const char *message;
    /// Converted rows, including those that are only needed to interpolate chroma.
    uint8_t *rows;
    size_t rows_size;
};

/// Returns the status for a result of libavif.
alcedo_avif_status alcedo_avif_status_of(avifResult result);

#endif
