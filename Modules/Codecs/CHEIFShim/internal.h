#ifndef ALCEDO_CHEIFSHIM_INTERNAL_H
#define ALCEDO_CHEIFSHIM_INTERNAL_H

#include "CHEIFShim.h"

#if !__has_include(<libde265/de265.h>)
#error "libde265 is missing: install Debian's package libde265-dev, or build without the package trait HEIF"
#endif
#include <libde265/de265.h>

/// The size of the color planes.
typedef struct {
    uint32_t width;
    uint32_t height;
} alcedo_heif_size;

static inline alcedo_heif_size alcedo_heif_color_size(const alcedo_heif_planes *planes) {
    const uint32_t across = planes->chroma == ALCEDO_HEIF_420 || planes->chroma == ALCEDO_HEIF_422;
    const uint32_t down = planes->chroma == ALCEDO_HEIF_420;
    return (alcedo_heif_size){(planes->width + across) >> across, (planes->height + down) >> down};
}

#endif
