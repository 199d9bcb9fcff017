// Without the trait HEIF, the package builds without libde265.
#ifdef ALCEDO_HEIF
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct alcedo_heif_picture {
    de265_decoder_context *context;
    alcedo_heif_planes planes;
};

/// The time in which a picture must be decoded, in nanoseconds.
typedef struct {
    uint64_t start;
    uint64_t limit;
} time_limit;

static uint64_t elapsed_since(uint64_t start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - start;
}

/// Passes the units to the decoder, which copies them. Returns an error for lengths that exceed the bytes.
static de265_error push_units(de265_decoder_context *context, const uint8_t *bytes, size_t count) {
    while (count >= 4) {
        const size_t size = (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
        bytes += 4;
        count -= 4;
        if (size > count || size > INT32_MAX) return DE265_ERROR_PARAMETER_PARSING;
        const de265_error error = de265_push_NAL(context, bytes, (int)size, 0, NULL);
        if (error != DE265_OK) return error;
        bytes += size;
        count -= size;
    }
    return count == 0 ? de265_flush_data(context) : DE265_ERROR_PARAMETER_PARSING;
}

/// Whether a picture with this warning is complete.
static int is_harmless(de265_error warning) {
    switch (warning) {
        case DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING:
        case DE265_WARNING_INCORRECT_ENTRY_POINT_OFFSET:
        case DE265_WARNING_NUMBER_OF_THREADS_LIMITED_TO_MAXIMUM:
        case DE265_WARNING_SPS_MISSING_CANNOT_DECODE_SEI:
            return 1;
        default:
            return 0;
    }
}

/// Decodes the picture. libde265 reports most kinds of damage as warnings, and shows the picture all the same. Sets
/// `is_late` when the time ends before the picture is complete.
static de265_error decode_units(de265_decoder_context *context, const time_limit *time, int *is_late) {
    int more = 1;
    // At the end of the units there is more until the picture is taken.
    while (more && !de265_peek_next_picture(context)) {
        // Every slice of a small file may cover the whole picture. One call decodes at most one slice.
        *is_late = elapsed_since(time->start) >= time->limit;
        if (*is_late) return DE265_OK;
        more = 0;
        const de265_error error = de265_decode(context, &more);
        if (error != DE265_OK) return error;
    }
    for (de265_error warning = de265_get_warning(context); warning != DE265_OK;
         warning = de265_get_warning(context)) {
        if (!is_harmless(warning)) return warning;
    }
    return DE265_OK;
}

/// Returns a plane, or NULL when it does not have the size.
static uint8_t *plane(
    const struct de265_image *image, int channel, alcedo_heif_size size, uint32_t depth, size_t *stride) {
    if (de265_get_bits_per_pixel(image, channel) != (int)depth) return NULL;
    if (de265_get_image_width(image, channel) != (int)size.width) return NULL;
    if (de265_get_image_height(image, channel) != (int)size.height) return NULL;
    int step = 0;
    const uint8_t *bytes = de265_get_image_plane(image, channel, &step);
    if (step < 0 || (size_t)step < (size_t)size.width * (depth > 8 ? 2 : 1)) return NULL;
    *stride = (size_t)step;
    // The planes of pictures are only read. Those of the caller's own memory have the same type.
    return (uint8_t *)(uintptr_t)bytes;
}

/// Reads the planes of the decoded picture. Returns 0 when they have unexpected sizes or depths.
static int read_planes(const struct de265_image *image, alcedo_heif_planes *planes) {
    static const alcedo_heif_chroma layouts[] = {
        [de265_chroma_mono] = ALCEDO_HEIF_MONOCHROME,
        [de265_chroma_420] = ALCEDO_HEIF_420,
        [de265_chroma_422] = ALCEDO_HEIF_422,
        [de265_chroma_444] = ALCEDO_HEIF_444,
    };
    const int width = de265_get_image_width(image, 0);
    const int height = de265_get_image_height(image, 0);
    const int depth = de265_get_bits_per_pixel(image, 0);
    const unsigned chroma = de265_get_chroma_format(image);
    if (width <= 0 || height <= 0 || depth < 8 || depth > 12 || chroma > de265_chroma_444) return 0;
    planes->width = (uint32_t)width;
    planes->height = (uint32_t)height;
    planes->depth = (uint32_t)depth;
    planes->chroma = layouts[chroma];
    const alcedo_heif_size size = {planes->width, planes->height};
    planes->luma = plane(image, 0, size, planes->depth, &planes->luma_stride);
    if (planes->chroma == ALCEDO_HEIF_MONOCHROME || !planes->luma) return planes->luma != NULL;
    const alcedo_heif_size color = alcedo_heif_color_size(planes);
    size_t red_stride = 0;
    planes->blue = plane(image, 1, color, planes->depth, &planes->color_stride);
    planes->red = plane(image, 2, color, planes->depth, &red_stride);
    return planes->blue && planes->red && red_stride == planes->color_stride;
}

static alcedo_heif_status decode(
    alcedo_heif_picture *p, const uint8_t *bytes, size_t count, const time_limit *time, const char **message) {
    int is_late = 0;
    de265_error error = push_units(p->context, bytes, count);
    if (error == DE265_OK) error = decode_units(p->context, time, &is_late);
    if (is_late) return ALCEDO_HEIF_TIMEOUT;
    if (error != DE265_OK) {
        *message = de265_get_error_text(error);
        const int is_memory =
            error == DE265_ERROR_OUT_OF_MEMORY || error == DE265_WARNING_CANNOT_APPLY_SAO_OUT_OF_MEMORY;
        return is_memory                                 ? ALCEDO_HEIF_OUT_OF_MEMORY
               : error == DE265_ERROR_NOT_IMPLEMENTED_YET ? ALCEDO_HEIF_UNSUPPORTED
                                                         : ALCEDO_HEIF_CORRUPT;
    }
    const struct de265_image *image = de265_peek_next_picture(p->context);
    *message = image ? "the planes have unexpected sizes" : "no picture was decoded";
    return image && read_planes(image, &p->planes) ? ALCEDO_HEIF_OK : ALCEDO_HEIF_CORRUPT;
}

/// Keeps the tables of libde265, which take two milliseconds to compute. Otherwise they are freed with the last
/// decoder.
static void keep_tables(void) { de265_init(); }

alcedo_heif_status alcedo_heif_decode(
    const uint8_t *bytes, size_t count, uint64_t *time, alcedo_heif_picture **picture, const char **message) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, keep_tables);
    *message = NULL;
    *picture = NULL;
    alcedo_heif_picture *p = calloc(1, sizeof *p);
    if (!p) return ALCEDO_HEIF_OUT_OF_MEMORY;
    const time_limit limit = {elapsed_since(0), *time};
    p->context = de265_new_decoder();
    const alcedo_heif_status status =
        p->context ? decode(p, bytes, count, &limit, message) : ALCEDO_HEIF_OUT_OF_MEMORY;
    const uint64_t elapsed = elapsed_since(limit.start);
    *time = elapsed < limit.limit ? limit.limit - elapsed : 0;
    if (status == ALCEDO_HEIF_OK) {
        *picture = p;
    } else {
        alcedo_heif_destroy(p);
    }
    return status;
}

void alcedo_heif_destroy(alcedo_heif_picture *p) {
    if (p->context) de265_free_decoder(p->context);
    free(p);
}

alcedo_heif_planes alcedo_heif_planes_of(const alcedo_heif_picture *p) { return p->planes; }
#endif
