// Without the trait TIFF, the package builds without libtiff.
#ifdef ALCEDO_TIFF
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tmsize_t read_bytes(thandle_t handle, void *out, tmsize_t size) {
    alcedo_tiff_source *source = handle;
    if (size <= 0 || source->position >= source->count) return 0;
    const size_t left = source->count - source->position;
    const size_t count = (size_t)size < left ? (size_t)size : left;
    memcpy(out, source->bytes + source->position, count);
    source->position += count;
    return (tmsize_t)count;
}

static tmsize_t write_nothing(thandle_t handle, void *bytes, tmsize_t size) {
    (void)handle, (void)bytes, (void)size;
    return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    alcedo_tiff_source *source = handle;
    const toff_t base = whence == SEEK_CUR ? source->position : whence == SEEK_END ? source->count : 0;
    // An offset from the current position may be negative, as the two's complement of a positive one.
    const toff_t position = base + offset;
    if (position > SIZE_MAX) return (toff_t)-1;
    source->position = (size_t)position;
    return position;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((alcedo_tiff_source *)handle)->count; }

/// Returns the bytes themselves, so that libtiff copies no strips.
static int map(thandle_t handle, void **base, toff_t *size) {
    const alcedo_tiff_source *source = handle;
    // libtiff does not write to the bytes of a file that is opened for reading.
    *base = (void *)(uintptr_t)source->bytes;
    *size = source->count;
    return 1;
}

static void unmap(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

static int on_error(TIFF *tif, void *context, const char *module, const char *format, va_list arguments) {
    (void)tif, (void)module;
    alcedo_tiff_decoder *d = context;
    // The first error is the cause of the others.
    if (d->error_count++ == 0) vsnprintf(d->message, sizeof d->message, format, arguments);
    return 1;
}

/// libjpeg and the decoders of fax warn of damaged pixels. Other warnings are about tags.
static int on_warning(TIFF *tif, void *context, const char *module, const char *format, va_list arguments) {
    (void)tif;
    alcedo_tiff_decoder *d = context;
    const int is_jpeg = module && strcmp(module, "JPEGLib") == 0;
    const int is_fax = module && strncmp(module, "Fax", 3) == 0;
    if (!is_jpeg && !is_fax) return 1;
    if (d->error_count == 0 && d->warning_count++ == 0) vsnprintf(d->message, sizeof d->message, format, arguments);
    return 1;
}

void alcedo_tiff_reset_errors(alcedo_tiff_decoder *d) {
    d->error_count = 0;
    d->warning_count = 0;
    d->message[0] = 0;
}

alcedo_tiff_status alcedo_tiff_fail(alcedo_tiff_decoder *d, alcedo_tiff_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(d->message, sizeof d->message, format, arguments);
    va_end(arguments);
    return status;
}

/// Beside the arrays of a directory, whose numbers can be four times as long as in the file, libtiff allocates buffers
/// of rows. Their memory is limited by that of the rows.
static tmsize_t allocation_limit(const alcedo_tiff_decoder *d) {
    const size_t fixed = (size_t)64 << 20, maximum = (size_t)1 << 40;
    return (tmsize_t)(d->count < (maximum - fixed) / 4 ? 4 * d->count + fixed : maximum);
}

TIFF *alcedo_tiff_open(alcedo_tiff_decoder *d, uint32_t plane) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, allocation_limit(d));
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, d);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, d);
    d->sources[plane] = (alcedo_tiff_source){.bytes = d->bytes, .count = d->count};
    // The header only, because the first directory may be damaged or not be that of the page; and without a division of
    // long strips, whose rows are read one by one anyway.
    TIFF *tif = TIFFClientOpenExt(
        "TIFF", "rhc", &d->sources[plane], read_bytes, write_nothing, seek, close_nothing, size_of, map, unmap,
        options);
    TIFFOpenOptionsFree(options);
    d->files[plane] = tif;
    return tif;
}
#endif
