#include "internal.h"

#include <string.h>

// Segments are recorded as positions in the bytes, which are kept anyway. libjpeg's own marker reader would copy all
// segments, byte by byte, before their number and size can be checked against a limit.

/// Whether the segment begins with a name and has further bytes. `name_size` includes the final zero of the name.
static int has_name(const uint8_t *bytes, size_t size, const char *name, size_t name_size) {
    return size > name_size && !memcmp(bytes, name, name_size);
}

/// Records the content of the first segment of a kind. `bytes` begins after the name.
static void record(alcedo_jpeg_segment *segment, const alcedo_jpeg_decoder *d, const uint8_t *bytes, size_t size) {
    if (segment->offset) return;
    segment->offset = (size_t)(bytes - d->base);
    segment->size = size;
}

/// Whether a segment has these bytes.
static int equals(
    const alcedo_jpeg_segment *segment, const alcedo_jpeg_decoder *d, const uint8_t *bytes, size_t size) {
    return segment->size == size && !memcmp(d->base + segment->offset, bytes, size);
}

/// Records a part of the profile. `bytes` holds the number of the part, the number of parts, and data. Invalid numbers,
/// and repeated parts that differ, mark the profile as broken. Source: ICC.1:2022, annex B.4.
static void record_profile(alcedo_jpeg_decoder *d, const uint8_t *bytes, size_t size) {
    alcedo_jpeg_profile *profile = &d->profile;
    if (size < 2) return;
    const uint8_t number = bytes[0], count = bytes[1];
    if (profile->count == 0) profile->count = count;
    if (number == 0 || number > count || count != profile->count) {
        profile->is_broken = 1;
        return;
    }
    // Some programs write the profile again without removing the old one.
    if (profile->parts[number].offset) {
        if (!equals(&profile->parts[number], d, bytes + 2, size - 2)) profile->is_broken = 1;
        return;
    }
    profile->found++;
    profile->size += size - 2;
    record(&profile->parts[number], d, bytes + 2, size - 2);
}

static boolean on_segment(j_decompress_ptr cinfo) {
    // The byte after the name of EXIF is zero, but browsers ignore it.
    static const char exif[] = "Exif", xmp[] = "http://ns.adobe.com/xap/1.0/", icc[] = "ICC_PROFILE";
    static const char resources[] = "Photoshop 3.0";
    alcedo_jpeg_decoder *d = cinfo->client_data;
    const uint8_t *bytes = cinfo->src->next_input_byte;
    const size_t left = cinfo->src->bytes_in_buffer;
    size_t length = left < 2 ? 2 : (size_t)bytes[0] << 8 | bytes[1];
    if (length < 2) length = 2;
    // libjpeg calls this function again for the same segment when more bytes have arrived.
    if (left < length) return cinfo->src->fill_input_buffer(cinfo);
    const uint8_t *content = bytes + 2;
    const size_t size = length - 2;
    if (cinfo->unread_marker == JPEG_APP0 + 2) {
        if (has_name(content, size, icc, sizeof icc)) record_profile(d, content + sizeof icc, size - sizeof icc);
    } else if (cinfo->unread_marker == JPEG_APP0 + 13) {
        if (has_name(content, size, resources, sizeof resources)) {
            record(&d->resources, d, content + sizeof resources, size - sizeof resources);
        }
    } else if (has_name(content, size, exif, sizeof exif) && size > sizeof exif + 1) {
        record(&d->exif, d, content + sizeof exif + 1, size - sizeof exif - 1);
    } else if (has_name(content, size, xmp, sizeof xmp)) {
        record(&d->xmp, d, content + sizeof xmp, size - sizeof xmp);
    }
    cinfo->src->next_input_byte += length;
    cinfo->src->bytes_in_buffer -= length;
    return TRUE;
}

void alcedo_jpeg_init_markers(alcedo_jpeg_decoder *d) {
    jpeg_set_marker_processor(&d->cinfo, JPEG_APP0 + 1, on_segment);
    jpeg_set_marker_processor(&d->cinfo, JPEG_APP0 + 2, on_segment);
    jpeg_set_marker_processor(&d->cinfo, JPEG_APP0 + 13, on_segment);
}

size_t alcedo_jpeg_profile_size(const alcedo_jpeg_decoder *d) {
    const alcedo_jpeg_profile *profile = &d->profile;
    return profile->is_broken || profile->found != profile->count ? 0 : profile->size;
}

void alcedo_jpeg_copy_profile(const alcedo_jpeg_decoder *d, uint8_t *out) {
    for (int number = 1; number <= d->profile.count; number++) {
        const alcedo_jpeg_segment *part = &d->profile.parts[number];
        memcpy(out, d->base + part->offset, part->size);
        out += part->size;
    }
}
