#ifdef ALCEDO_AVIF
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/// The range of a box in the bytes of a file.
typedef struct {
    size_t start;
    size_t payload;
    size_t end;
    /// Whether the size in the header is 0, which means that the box extends to the end of its container.
    int is_open;
} box_range;

static uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Reads the header of a box between `start` and `end`. Returns 0 when there is no valid box.
static int read_box(const uint8_t *bytes, size_t start, size_t end, box_range *box) {
    if (start > end || end - start < 8) return 0;
    uint64_t size = number(bytes + start);
    box->start = start;
    box->payload = start + 8;
    box->is_open = size == 0;
    if (size == 0) {
        size = end - start;
    } else if (size == 1) {
        if (end - start < 16) return 0;
        size = (uint64_t)number(bytes + start + 8) << 32 | number(bytes + start + 12);
        box->payload = start + 16;
    }
    if (size < box->payload - start || size > end - start) return 0;
    box->end = start + (size_t)size;
    return 1;
}

static int has_type(const uint8_t *bytes, const box_range *box, const char *type) {
    return memcmp(bytes + box->start + 4, type, 4) == 0;
}

/// Returns whether the header of a track declares no width or no height, as those of audio tracks do.
static int is_without_size(const uint8_t *bytes, const box_range *track) {
    box_range box;
    for (size_t start = track->payload; read_box(bytes, start, track->end, &box); start = box.end) {
        if (!has_type(bytes, &box, "tkhd")) continue;
        const size_t offset = box.payload < box.end && bytes[box.payload] == 1 ? 88 : 76;
        if (box.end - box.payload < offset + 8) return 0;
        const uint8_t *size = bytes + box.payload + offset;
        return number(size) == 0 || number(size + 4) == 0;
    }
    return 0;
}

/// Returns whether a track belongs to another one, such as one with alpha.
static int is_auxiliary(const uint8_t *bytes, const box_range *track) {
    box_range box, reference;
    for (size_t start = track->payload; read_box(bytes, start, track->end, &box); start = box.end) {
        if (!has_type(bytes, &box, "tref")) continue;
        for (size_t inner = box.payload; read_box(bytes, inner, box.end, &reference); inner = reference.end) {
            if (has_type(bytes, &reference, "auxl")) return 1;
        }
    }
    return 0;
}

static void free_box(uint8_t *bytes, const box_range *box) { memcpy(bytes + box->start + 4, "free", 4); }

/// Turns the tracks without a size, or those of other tracks, into free space. Returns whether there are any.
static int free_tracks(uint8_t *bytes, const box_range *movie, int hides_alpha) {
    int count = 0;
    box_range box;
    for (size_t start = movie->payload; read_box(bytes, start, movie->end, &box); start = box.end) {
        if (!has_type(bytes, &box, "trak")) continue;
        // libavif 1.0 ignores tracks without a size itself.
        const int is_foreign = AVIF_VERSION < 1000000 && is_without_size(bytes, &box);
        if (!is_foreign && !(hides_alpha && is_auxiliary(bytes, &box))) continue;
        free_box(bytes, &box);
        count++;
    }
    return count > 0;
}

/// Turns the properties that mark auxiliary images into free space. Returns whether there are any.
static int free_auxiliary_properties(uint8_t *bytes, const box_range *meta) {
    int count = 0;
    box_range properties, list, box;
    // The version and the flags precede the boxes.
    for (size_t start = meta->payload + 4; read_box(bytes, start, meta->end, &properties); start = properties.end) {
        if (!has_type(bytes, &properties, "iprp")) continue;
        for (size_t inner = properties.payload; read_box(bytes, inner, properties.end, &list); inner = list.end) {
            if (!has_type(bytes, &list, "ipco")) continue;
            for (size_t next = list.payload; read_box(bytes, next, list.end, &box); next = box.end) {
                if (!has_type(bytes, &box, "auxC")) continue;
                free_box(bytes, &box);
                count++;
            }
        }
    }
    return count > 0;
}

void alcedo_avif_repair(alcedo_avif_decoder *d, int hides_alpha) {
    box_range box;
    for (size_t start = 0; read_box(d->bytes, start, d->count, &box); start = box.end) {
        const int is_movie = has_type(d->bytes, &box, "moov");
        const int is_meta = has_type(d->bytes, &box, "meta");
        const size_t size = box.end - box.start;
        // libavif 1.0 reads a box that extends to the end of the file.
        const int is_open = AVIF_VERSION < 1000000 && is_meta && box.is_open;
        if (!is_movie && !is_open && !(is_meta && hides_alpha)) continue;
        if (size > UINT32_MAX) return;
        uint8_t *copy = malloc(size);
        if (!copy) return;
        memcpy(copy, d->bytes + box.start, size);
        const box_range inside = {0, box.payload - box.start, size, 0};
        int is_changed = is_movie && free_tracks(copy, &inside, hides_alpha);
        if (is_meta && hides_alpha) is_changed |= free_auxiliary_properties(copy, &inside);
        if (is_open) {
            for (int index = 0; index < 4; index++) copy[index] = (uint8_t)(size >> (24 - 8 * index));
            is_changed = 1;
        }
        if (!is_changed) {
            free(copy);
            continue;
        }
        // A movie takes precedence over a box `meta` before it.
        free(d->repaired);
        d->repaired = copy;
        d->repaired_start = box.start;
        d->repaired_size = size;
        if (is_movie) return;
    }
}
#endif
