#ifdef ALCEDO_TIFF
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct alcedo_tiff_encoder {
    TIFF *tif;
    alcedo_tiff_encoder_settings settings;
    size_t limit;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    size_t position;
    uint32_t row;
    /// The samples of a row as they are written.
    uint8_t *samples;
    uint32_t sample_count;
    int is_exceeded;
    int is_exhausted;
    char message[ALCEDO_TIFF_MESSAGE_SIZE];
};

/// Makes room up to a position. Returns 0 on failure.
static int reserve(alcedo_tiff_encoder *e, size_t end) {
    if (end > e->limit) {
        e->is_exceeded = 1;
        return 0;
    }
    if (end <= e->capacity) return 1;
    size_t capacity = e->capacity < 65536 ? 65536 : e->capacity;
    while (capacity < end) capacity = capacity <= SIZE_MAX / 2 ? capacity * 2 : end;
    uint8_t *grown = realloc(e->bytes, capacity);
    if (!grown) {
        e->is_exhausted = 1;
        return 0;
    }
    e->bytes = grown;
    e->capacity = capacity;
    return 1;
}

static tmsize_t write_bytes(thandle_t handle, void *bytes, tmsize_t size) {
    alcedo_tiff_encoder *e = handle;
    if (size < 0 || (size_t)size > SIZE_MAX - e->position || !reserve(e, e->position + (size_t)size)) return -1;
    // libtiff leaves gaps of at most a few bytes, to align numbers.
    if (e->position > e->count) memset(e->bytes + e->count, 0, e->position - e->count);
    memcpy(e->bytes + e->position, bytes, (size_t)size);
    e->position += (size_t)size;
    if (e->position > e->count) e->count = e->position;
    return size;
}

static tmsize_t read_written(thandle_t handle, void *out, tmsize_t size) {
    alcedo_tiff_encoder *e = handle;
    if (size <= 0 || e->position >= e->count) return 0;
    const size_t left = e->count - e->position;
    const size_t count = (size_t)size < left ? (size_t)size : left;
    memcpy(out, e->bytes + e->position, count);
    e->position += count;
    return (tmsize_t)count;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    alcedo_tiff_encoder *e = handle;
    const toff_t base = whence == SEEK_CUR ? e->position : whence == SEEK_END ? e->count : 0;
    e->position = (size_t)(base + offset);
    return e->position;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((alcedo_tiff_encoder *)handle)->count; }

static int on_error(TIFF *tif, void *context, const char *module, const char *format, va_list arguments) {
    (void)tif, (void)module;
    alcedo_tiff_encoder *e = context;
    if (!e->message[0]) vsnprintf(e->message, sizeof e->message, format, arguments);
    return 1;
}

static int on_warning(TIFF *tif, void *context, const char *module, const char *format, va_list arguments) {
    (void)tif, (void)context, (void)module, (void)format, (void)arguments;
    return 1;
}

alcedo_tiff_encoder *alcedo_tiff_encoder_create(size_t limit) {
    alcedo_tiff_encoder *e = calloc(1, sizeof *e);
    if (e) e->limit = limit;
    return e;
}

void alcedo_tiff_encoder_destroy(alcedo_tiff_encoder *e) {
    // The file is incomplete, so that what libtiff writes when it closes it is not needed.
    if (e->tif) {
        e->limit = 0;
        TIFFCleanup(e->tif);
    }
    free(e->samples);
    free(e->bytes);
    free(e);
}

const char *alcedo_tiff_encoder_message(const alcedo_tiff_encoder *e) { return e->message; }

static alcedo_tiff_status failure(const alcedo_tiff_encoder *e) {
    if (e->is_exceeded) return ALCEDO_TIFF_EXCEEDS_LIMIT;
    return e->is_exhausted ? ALCEDO_TIFF_OUT_OF_MEMORY : ALCEDO_TIFF_CORRUPT;
}

static int is_deep(alcedo_tiff_format format) { return format == ALCEDO_TIFF_RGBA16 || format == ALCEDO_TIFF_GRAY16; }

static TIFF *open_file(alcedo_tiff_encoder *e, uint64_t pixel_bytes) {
    const alcedo_tiff_encoder_settings *s = &e->settings;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, e);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, e);
    // Offsets of 32 bits, which every reader knows, unless the pixels may need more. The byte order does not depend on
    // the processor, so that files are equal.
    const char *mode = pixel_bytes >= (uint64_t)3 << 30 ? "wl8" : s->is_big_endian ? "wb" : "wl";
    TIFF *tif = TIFFClientOpenExt(
        "TIFF", mode, e, read_written, write_bytes, seek, close_nothing, size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tif;
}

/// Writes the directories of EXIF and GPS after the header. libtiff appends the strips.
static int write_directories(alcedo_tiff_encoder *e) {
    const alcedo_tiff_encoder_settings *s = &e->settings;
    // The offsets of BigTIFF have another size.
    if (!s->directories_size || TIFFIsBigTIFF(e->tif)) return 1;
    e->position = ALCEDO_TIFF_DIRECTORIES_OFFSET;
    if (write_bytes(e, (void *)s->directories, (tmsize_t)s->directories_size) < 0) return 0;
    return (!s->exif_directory || TIFFSetField(e->tif, TIFFTAG_EXIFIFD, (uint64_t)s->exif_directory)) &&
           (!s->gps_directory || TIFFSetField(e->tif, TIFFTAG_GPSIFD, (uint64_t)s->gps_directory));
}

static int set_texts(TIFF *tif, const alcedo_tiff_encoder_settings *s) {
    static const uint32_t tags[] = {
        TIFFTAG_IMAGEDESCRIPTION, TIFFTAG_MAKE,   TIFFTAG_MODEL,     TIFFTAG_SOFTWARE,
        TIFFTAG_DATETIME,         TIFFTAG_ARTIST, TIFFTAG_COPYRIGHT,
    };
    const char *text = (const char *)s->texts;
    for (size_t i = 0; text && i < sizeof tags / sizeof *tags; i++, text += strlen(text) + 1) {
        if (*text && !TIFFSetField(tif, tags[i], text)) return 0;
    }
    return 1;
}

static int set_tags(TIFF *tif, const alcedo_tiff_encoder_settings *s, uint32_t sample_count, uint32_t rows) {
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE};
    const int is_gray = sample_count < 3;
    int is_set = TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, s->width) && TIFFSetField(tif, TIFFTAG_IMAGELENGTH, s->height) &&
                 TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, is_deep(s->format) ? 16 : 8) &&
                 TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, sample_count) &&
                 TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, is_gray ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB) &&
                 TIFFSetField(tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                 TIFFSetField(tif, TIFFTAG_ORIENTATION, s->orientation) &&
                 TIFFSetField(tif, TIFFTAG_COMPRESSION, compressions[s->compression]) &&
                 TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, rows);
    if (is_set && s->compression != ALCEDO_TIFF_NONE) {
        is_set = TIFFSetField(tif, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    }
    if (is_set && s->has_alpha) {
        const uint16_t kind = EXTRASAMPLE_UNASSALPHA;
        is_set = TIFFSetField(tif, TIFFTAG_EXTRASAMPLES, 1, &kind);
    }
    if (is_set && s->horizontal_resolution > 0 && s->vertical_resolution > 0) {
        is_set = TIFFSetField(tif, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH) &&
                 TIFFSetField(tif, TIFFTAG_XRESOLUTION, s->horizontal_resolution) &&
                 TIFFSetField(tif, TIFFTAG_YRESOLUTION, s->vertical_resolution);
    }
    if (is_set && s->icc_size) is_set = TIFFSetField(tif, TIFFTAG_ICCPROFILE, (uint32_t)s->icc_size, s->icc);
    if (is_set && s->xmp_size) is_set = TIFFSetField(tif, TIFFTAG_XMLPACKET, (uint32_t)s->xmp_size, s->xmp);
    if (is_set && s->iptc_size) is_set = TIFFSetField(tif, TIFFTAG_RICHTIFFIPTC, (uint32_t)s->iptc_size, s->iptc);
    return is_set && set_texts(tif, s);
}

alcedo_tiff_status alcedo_tiff_encoder_begin(alcedo_tiff_encoder *e, const alcedo_tiff_encoder_settings *s) {
    enum { STRIP_SIZE = 1 << 16 };
    if (e->tif || s->format == ALCEDO_TIFF_INKS || s->icc_size > UINT32_MAX || s->xmp_size > UINT32_MAX ||
        s->iptc_size > UINT32_MAX || s->directories_size > INT32_MAX) {
        return ALCEDO_TIFF_UNSUPPORTED;
    }
    const int is_gray = s->is_gray || s->format == ALCEDO_TIFF_GRAY8 || s->format == ALCEDO_TIFF_GRAY16;
    e->settings = *s;
    e->sample_count = (is_gray ? 1 : 3) + (s->has_alpha ? 1 : 0);
    const uint64_t row_size = (uint64_t)s->width * e->sample_count * (is_deep(s->format) ? 2 : 1);
    uint64_t pixel_bytes;
    if (!row_size || row_size > INT32_MAX || __builtin_mul_overflow(row_size, s->height, &pixel_bytes)) {
        return ALCEDO_TIFF_UNSUPPORTED;
    }
    e->samples = malloc((size_t)row_size);
    if (e->samples) e->tif = open_file(e, pixel_bytes);
    if (!e->tif) {
        e->is_exhausted = !e->is_exceeded && !e->message[0];
        return failure(e);
    }
    const uint32_t rows = row_size >= STRIP_SIZE ? 1 : (uint32_t)(STRIP_SIZE / row_size);
    const int is_set = write_directories(e) && set_tags(e->tif, s, e->sample_count, rows);
    return is_set ? ALCEDO_TIFF_OK : failure(e);
}

/// Copies the samples that are written: gray or color, and alpha.
static void pick(const uint8_t *row, size_t size, size_t width, uint32_t count, int has_alpha, uint8_t *out) {
    const uint32_t color_count = count - (has_alpha ? 1 : 0);
    for (size_t i = 0; i < width; i++, row += 4 * size, out += count * size) {
        memcpy(out, row, color_count * size);
        if (has_alpha) memcpy(out + color_count * size, row + 3 * size, size);
    }
}

alcedo_tiff_status alcedo_tiff_encoder_write(alcedo_tiff_encoder *e, const void *row, size_t count) {
    const alcedo_tiff_encoder_settings *s = &e->settings;
    if (!e->tif || e->row >= s->height || count < s->width * alcedo_tiff_pixel_size(s->format)) {
        return ALCEDO_TIFF_UNSUPPORTED;
    }
    const size_t size = is_deep(s->format) ? 2 : 1;
    if (s->format == ALCEDO_TIFF_GRAY8 || s->format == ALCEDO_TIFF_GRAY16) {
        // libtiff changes the samples.
        memcpy(e->samples, row, s->width * size);
    } else {
        pick(row, size, s->width, e->sample_count, s->has_alpha, e->samples);
    }
    return TIFFWriteScanline(e->tif, e->samples, e->row++, 0) == 1 ? ALCEDO_TIFF_OK : failure(e);
}

alcedo_tiff_status alcedo_tiff_encoder_finish(alcedo_tiff_encoder *e) {
    if (!e->tif || e->row < e->settings.height) return ALCEDO_TIFF_CORRUPT;
    if (!TIFFWriteDirectory(e->tif)) return failure(e);
    TIFFCleanup(e->tif);
    e->tif = NULL;
    return ALCEDO_TIFF_OK;
}

uint8_t *alcedo_tiff_encoder_take(alcedo_tiff_encoder *e, size_t *count) {
    uint8_t *bytes = e->bytes;
    *count = e->count;
    e->bytes = NULL;
    return bytes;
}
#endif
