#ifdef ALCEDO_TIFF
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

alcedo_tiff_decoder *alcedo_tiff_create(const uint8_t *bytes, size_t count, int (*is_canceled)(void)) {
    alcedo_tiff_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->bytes = bytes;
    d->count = count;
    d->is_canceled = is_canceled;
    return d;
}

void alcedo_tiff_destroy(alcedo_tiff_decoder *d) {
    for (uint32_t i = 0; i < ALCEDO_TIFF_MAX_PLANES; i++) {
        if (d->files[i]) TIFFClose(d->files[i]);
        free(d->raw[i]);
    }
    free(d->samples);
    free(d->band);
    free(d->scale);
    free(d->ycbcr);
    free(d);
}

const char *alcedo_tiff_message(const alcedo_tiff_decoder *d) { return d->message; }

alcedo_tiff_damage alcedo_tiff_found_damage(const alcedo_tiff_decoder *d, alcedo_tiff_status *status) {
    *status = d->damage_status;
    return d->damage;
}

const char *alcedo_tiff_damage_message(const alcedo_tiff_decoder *d) { return d->damage_message; }

static void note_damage(alcedo_tiff_decoder *d, alcedo_tiff_damage damage, alcedo_tiff_status status) {
    if (damage <= d->damage) return;
    d->damage = damage;
    d->damage_status = status;
    memcpy(d->damage_message, d->message, sizeof d->message);
    if (!d->damage_message[0]) strcpy(d->damage_message, "the pixels are damaged");
}

static int is_canceled(const alcedo_tiff_decoder *d) { return d->is_canceled && d->is_canceled(); }

/// Returns the product, or UINT64_MAX when it overflows.
static uint64_t product(uint64_t a, uint64_t b) {
    uint64_t result;
    return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

static uint64_t sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static uint64_t quotient_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/// Whether the size of the libraries and their memory per row are known, and their decoders take hostile input. Others,
/// such as JBIG, LERC, LZMA and the old form of JPEG, are for maps and old scanners.
static int is_supported(uint16_t compression) {
    switch (compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTRLEW:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
    case COMPRESSION_LZW:
    case COMPRESSION_JPEG:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_PACKBITS:
        return TIFFIsCODECConfigured(compression) != 0;
    default:
        return 0;
    }
}

static int is_fax(uint16_t compression) {
    return compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTRLEW ||
           compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
}

/// Sets the color model. Returns the number of samples of color, or 0 for a model that is not supported.
static uint32_t read_model(alcedo_tiff_decoder *d, TIFF *tif) {
    uint16_t photometric = 0, inks = INKSET_CMYK;
    if (!TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &photometric)) {
        photometric = d->samples_per_pixel >= 3    ? PHOTOMETRIC_RGB
                      : is_fax(d->compression) ? PHOTOMETRIC_MINISWHITE
                                               : PHOTOMETRIC_MINISBLACK;
    }
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
        d->is_inverted = 1;
        d->info.model = ALCEDO_TIFF_MODEL_GRAY;
        return 1;
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MASK:
        d->info.model = ALCEDO_TIFF_MODEL_GRAY;
        return 1;
    case PHOTOMETRIC_RGB:
        d->info.model = ALCEDO_TIFF_MODEL_RGB;
        return 3;
    case PHOTOMETRIC_PALETTE:
        d->info.model = ALCEDO_TIFF_MODEL_PALETTE;
        return d->info.depth <= 8 ? 1 : 0;
    case PHOTOMETRIC_YCBCR:
        d->info.model = ALCEDO_TIFF_MODEL_YCBCR;
        return d->info.depth == 8 ? 3 : 0;
    case PHOTOMETRIC_SEPARATED:
        d->is_inverted = 1;
        d->info.model = ALCEDO_TIFF_MODEL_CMYK;
        TIFFGetField(tif, TIFFTAG_INKSET, &inks);
        return inks == INKSET_CMYK ? 4 : 0;
    default:
        return 0;
    }
}

/// Finds alpha among the samples after those of color. A sample of an unknown meaning is not alpha.
static void find_alpha(alcedo_tiff_decoder *d, TIFF *tif, uint32_t color_count) {
    uint16_t count = 0, *kinds = NULL;
    if (!TIFFGetField(tif, TIFFTAG_EXTRASAMPLES, &count, &kinds)) return;
    for (uint32_t i = 0; i < count && color_count + i < d->samples_per_pixel; i++) {
        if (kinds[i] != EXTRASAMPLE_ASSOCALPHA && kinds[i] != EXTRASAMPLE_UNASSALPHA) continue;
        d->info.has_alpha = 1;
        d->info.is_premultiplied = kinds[i] == EXTRASAMPLE_ASSOCALPHA;
        d->alpha_index = color_count + i;
        return;
    }
}

static void read_metadata(alcedo_tiff_decoder *d, TIFF *tif) {
    uint16_t orientation = 1, unit = RESUNIT_INCH;
    TIFFGetField(tif, TIFFTAG_ORIENTATION, &orientation);
    d->info.orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
    float x = 0, y = 0;
    TIFFGetFieldDefaulted(tif, TIFFTAG_RESOLUTIONUNIT, &unit);
    const double scale = unit == RESUNIT_INCH ? 1 : unit == RESUNIT_CENTIMETER ? 2.54 : 0;
    if (TIFFGetField(tif, TIFFTAG_XRESOLUTION, &x) && TIFFGetField(tif, TIFFTAG_YRESOLUTION, &y) && isfinite(x) &&
        isfinite(y)) {
        d->info.horizontal_resolution = x * scale;
        d->info.vertical_resolution = y * scale;
    }
    uint32_t size = 0;
    void *bytes = NULL;
    if (TIFFGetField(tif, TIFFTAG_ICCPROFILE, &size, &bytes) && size) {
        d->info.icc = bytes;
        d->info.icc_size = size;
    }
    if (TIFFGetField(tif, TIFFTAG_XMLPACKET, &size, &bytes) && size) {
        d->info.xmp = bytes;
        d->info.xmp_size = size;
    }
}

/// Reads the size of tiles or strips, and what reading them needs.
static alcedo_tiff_status read_layout(alcedo_tiff_decoder *d, TIFF *tif) {
    d->is_tiled = TIFFIsTiled(tif);
    d->block_width = d->info.width;
    if (d->is_tiled) {
        if (!TIFFGetField(tif, TIFFTAG_TILEWIDTH, &d->block_width) ||
            !TIFFGetField(tif, TIFFTAG_TILELENGTH, &d->block_height) || !d->block_width || !d->block_height) {
            return alcedo_tiff_fail(d, ALCEDO_TIFF_CORRUPT, "the size of the tiles is missing");
        }
    } else {
        TIFFGetFieldDefaulted(tif, TIFFTAG_ROWSPERSTRIP, &d->block_height);
        if (d->block_height == 0 || d->block_height > d->info.height) d->block_height = d->info.height;
    }
    d->reads_blocks = d->is_tiled || d->is_subsampled;
    d->info.coded_pixels =
        d->is_tiled ? product(product(quotient_up(d->info.width, d->block_width), d->block_width),
                              product(quotient_up(d->info.height, d->block_height), d->block_height))
                    : product(d->info.width, d->info.height);
    if (d->is_subsampled) {
        const uint64_t unit = (uint64_t)d->horizontal_subsampling * d->vertical_subsampling + 2;
        d->row_size = product(quotient_up(d->block_width, d->horizontal_subsampling), unit);
        d->read_size = product(d->row_size, quotient_up(d->block_height, d->vertical_subsampling));
    } else {
        d->row_size = quotient_up(product(product(d->block_width, d->samples_per_plane), d->info.depth), 8);
        d->read_size = d->reads_blocks ? product(d->row_size, d->block_height) : d->row_size;
    }
    // What libtiff reads must have the size that is expected.
    const uint64_t size = d->is_tiled         ? TIFFTileSize64(tif)
                          : d->is_subsampled ? TIFFVStripSize64(tif, d->block_height)
                                             : TIFFScanlineSize64(tif);
    if (d->read_size == UINT64_MAX || size != d->read_size) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_UNSUPPORTED, "the layout of the samples is not supported");
    }
    const uint64_t pixel = alcedo_tiff_pixel_size(d->info.depth > 8 ? ALCEDO_TIFF_RGBA16 : ALCEDO_TIFF_RGBA8);
    const uint64_t band = d->reads_blocks ? product(product(d->info.width, d->block_height), pixel) : 0;
    const uint64_t samples = product(product(d->block_width, d->samples_per_pixel), sizeof(uint16_t));
    // The decoders of fax hold the lengths of runs, and that of JPEG rows of blocks.
    const uint64_t codec = product(d->block_width, is_fax(d->compression) ? 32 : 128);
    const uint64_t strips = product(d->is_tiled ? TIFFNumberOfTiles(tif) : TIFFNumberOfStrips(tif), 16);
    const uint64_t plane = sum(sum(d->read_size, codec), strips);
    d->info.memory = sum(sum(product(plane, d->plane_count), band), samples);
    return ALCEDO_TIFF_OK;
}

static alcedo_tiff_status read_samples(alcedo_tiff_decoder *d, TIFF *tif) {
    uint16_t depth = 1, samples = 1, kind = SAMPLEFORMAT_UINT, planar = PLANARCONFIG_CONTIG;
    TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &depth);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &kind);
    TIFFGetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &planar);
    if (kind != SAMPLEFORMAT_UINT && kind != SAMPLEFORMAT_VOID) {
        return alcedo_tiff_fail(
            d, ALCEDO_TIFF_UNSUPPORTED, "%s samples are not supported",
            kind == SAMPLEFORMAT_IEEEFP ? "floating-point" : kind == SAMPLEFORMAT_INT ? "signed" : "complex");
    }
    if (depth < 1 || depth > 16) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_UNSUPPORTED, "samples of %u bits are not supported", depth);
    }
    if (samples < 1 || samples > ALCEDO_TIFF_MAX_SAMPLES) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_UNSUPPORTED, "%u samples per pixel are not supported", samples);
    }
    d->info.depth = depth;
    d->samples_per_pixel = samples;
    const uint32_t color_count = read_model(d, tif);
    if (color_count == 0) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_UNSUPPORTED, "the color model is not supported");
    }
    if (samples < color_count) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_CORRUPT, "%u samples per pixel are too few", samples);
    }
    find_alpha(d, tif, color_count);
    const int is_separate = planar == PLANARCONFIG_SEPARATE && samples > 1;
    d->plane_count = is_separate ? color_count + (d->info.has_alpha ? 1 : 0) : 1;
    d->samples_per_plane = is_separate ? 1 : samples;
    if (d->info.model != ALCEDO_TIFF_MODEL_YCBCR) return ALCEDO_TIFF_OK;
    if (d->compression == COMPRESSION_JPEG && !is_separate) {
        // libjpeg converts color, and interpolates it.
        TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        return ALCEDO_TIFF_OK;
    }
    uint16_t across = 2, down = 2;
    TIFFGetFieldDefaulted(tif, TIFFTAG_YCBCRSUBSAMPLING, &across, &down);
    d->is_subsampled = across != 1 || down != 1;
    const int is_known = (across == 1 || across == 2 || across == 4) && (down == 1 || down == 2 || down == 4);
    if (!is_known || (d->is_subsampled && (is_separate || samples != 3))) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_UNSUPPORTED, "the subsampling of color is not supported");
    }
    d->horizontal_subsampling = across;
    d->vertical_subsampling = down;
    return ALCEDO_TIFF_OK;
}

/// Returns the status of a directory that cannot be read, with the message of libtiff.
static alcedo_tiff_status unreadable(alcedo_tiff_decoder *d) {
    return d->message[0] ? ALCEDO_TIFF_CORRUPT
                         : alcedo_tiff_fail(d, ALCEDO_TIFF_OUT_OF_MEMORY, "cannot open the file: out of memory");
}

alcedo_tiff_status alcedo_tiff_read_page(alcedo_tiff_decoder *d, uint64_t directory, alcedo_tiff_info *info) {
    alcedo_tiff_reset_errors(d);
    d->directory = directory;
    TIFF *tif = alcedo_tiff_open(d, 0);
    if (!tif || !TIFFSetSubDirectory(tif, directory)) return unreadable(d);
    if (!TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &d->info.width) ||
        !TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &d->info.height) || !d->info.width || !d->info.height) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_CORRUPT, "the image has no size");
    }
    TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &d->compression);
    if (!is_supported(d->compression)) {
        const TIFFCodec *codec = TIFFFindCODEC(d->compression);
        return codec ? alcedo_tiff_fail(d, ALCEDO_TIFF_UNSUPPORTED, "the compression %s is not supported", codec->name)
                     : alcedo_tiff_fail(d, ALCEDO_TIFF_UNSUPPORTED, "the compression %u is unknown", d->compression);
    }
    alcedo_tiff_status status = read_samples(d, tif);
    if (status == ALCEDO_TIFF_OK) status = read_layout(d, tif);
    if (status != ALCEDO_TIFF_OK) return status;
    read_metadata(d, tif);
    *info = d->info;
    return ALCEDO_TIFF_OK;
}

/// Ends the strips and tiles at the end of the file, so that libtiff decodes the rows before it. Otherwise, it does not
/// read a strip of which a byte is missing.
static void clamp_byte_counts(alcedo_tiff_decoder *d, TIFF *tif) {
    uint64_t *offsets = NULL, *counts = NULL;
    const int is_tiled = d->is_tiled;
    if (!TIFFGetField(tif, is_tiled ? TIFFTAG_TILEOFFSETS : TIFFTAG_STRIPOFFSETS, &offsets) || !offsets) return;
    // The arrays belong to libtiff, which returns them without `const`.
    if (!TIFFGetField(tif, is_tiled ? TIFFTAG_TILEBYTECOUNTS : TIFFTAG_STRIPBYTECOUNTS, &counts) || !counts) return;
    const uint32_t number = is_tiled ? TIFFNumberOfTiles(tif) : TIFFNumberOfStrips(tif);
    for (uint32_t i = 0; i < number; i++) {
        const uint64_t left = offsets[i] < d->count ? d->count - offsets[i] : 0;
        if (counts[i] <= left) continue;
        counts[i] = left;
        d->is_cut = 1;
    }
}

/// Opens the file for one more plane.
static alcedo_tiff_status open_plane(alcedo_tiff_decoder *d, uint32_t plane) {
    TIFF *tif = d->files[plane];
    if (!tif) {
        tif = alcedo_tiff_open(d, plane);
        if (!tif || !TIFFSetSubDirectory(tif, d->directory)) return unreadable(d);
    }
    clamp_byte_counts(d, tif);
    return ALCEDO_TIFF_OK;
}

/// Whether the page can be converted to rows of a format.
static int has_format(const alcedo_tiff_decoder *d, alcedo_tiff_format format) {
    const alcedo_tiff_model model = d->info.model;
    switch (format) {
    case ALCEDO_TIFF_GRAY8:
        return model == ALCEDO_TIFF_MODEL_GRAY && !d->info.has_alpha;
    case ALCEDO_TIFF_GRAY16:
        return model == ALCEDO_TIFF_MODEL_GRAY && !d->info.has_alpha && d->info.depth > 8;
    case ALCEDO_TIFF_RGBA16:
        return d->info.depth > 8;
    case ALCEDO_TIFF_INKS:
        return model == ALCEDO_TIFF_MODEL_CMYK;
    default:
        return format == ALCEDO_TIFF_RGBA8;
    }
}

static void *allocate(uint64_t size) { return size <= SIZE_MAX ? calloc(1, (size_t)size) : NULL; }

alcedo_tiff_status alcedo_tiff_start(alcedo_tiff_decoder *d, alcedo_tiff_format format) {
    alcedo_tiff_reset_errors(d);
    if (!has_format(d, format)) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_UNSUPPORTED, "the page does not have this pixel format");
    }
    d->format = format;
    for (uint32_t plane = 0; plane < d->plane_count; plane++) {
        const alcedo_tiff_status status = open_plane(d, plane);
        if (status != ALCEDO_TIFF_OK) return status;
        d->raw[plane] = allocate(sum(d->read_size, ALCEDO_TIFF_ROW_PADDING));
        if (!d->raw[plane]) return alcedo_tiff_fail(d, ALCEDO_TIFF_OUT_OF_MEMORY, "out of memory");
    }
    d->samples = allocate(product(product(d->block_width, d->samples_per_pixel), sizeof *d->samples));
    if (d->reads_blocks) {
        d->band = allocate(product(product(d->info.width, d->block_height), alcedo_tiff_pixel_size(format)));
    }
    if (!d->samples || (d->reads_blocks && !d->band)) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_OUT_OF_MEMORY, "out of memory");
    }
    if (d->is_cut) {
        alcedo_tiff_fail(d, ALCEDO_TIFF_TRUNCATED, "the data ends within the pixels");
        note_damage(d, ALCEDO_TIFF_HARMLESS, ALCEDO_TIFF_TRUNCATED);
    }
    return alcedo_tiff_prepare_conversion(d);
}

/// Returns the sample of a plane that is stored separately.
static uint16_t sample_of_plane(const alcedo_tiff_decoder *d, uint32_t plane) {
    const int is_alpha = d->info.has_alpha && plane + 1 == d->plane_count && d->plane_count > 1;
    return (uint16_t)(is_alpha ? d->alpha_index : plane);
}

/// Whether a strip or tile ends at the end of a file that is too short.
static int is_cut(const alcedo_tiff_decoder *d, TIFF *tif, uint32_t index) {
    if (!d->is_cut) return 0;
    const uint64_t offset = TIFFGetStrileOffset(tif, index);
    return offset >= d->count || TIFFGetStrileByteCount(tif, index) >= d->count - offset;
}

/// Records the damage of pixels that were read. Returns whether they are missing.
static int check_pixels(alcedo_tiff_decoder *d, TIFF *tif, uint32_t index, int has_failed) {
    const int is_truncated = is_cut(d, tif, index), is_wrong = d->error_count || d->warning_count;
    // Where bytes are missing, the decoders of fax and JPEG continue with white or gray.
    const int is_missing = has_failed || (is_wrong && is_truncated);
    if (is_missing) {
        note_damage(d, ALCEDO_TIFF_MISSING_PIXELS, is_truncated ? ALCEDO_TIFF_TRUNCATED : ALCEDO_TIFF_CORRUPT);
    } else if (is_wrong) {
        note_damage(d, ALCEDO_TIFF_WRONG_PIXELS, ALCEDO_TIFF_CORRUPT);
    }
    return is_missing;
}

/// Reads a row of all planes. Returns whether it is missing.
static int read_planes(alcedo_tiff_decoder *d) {
    int is_missing = 0;
    for (uint32_t plane = 0; plane < d->plane_count && !is_missing; plane++) {
        TIFF *tif = d->files[plane];
        const uint16_t sample = d->plane_count > 1 ? sample_of_plane(d, plane) : 0;
        alcedo_tiff_reset_errors(d);
        const int has_failed = TIFFReadScanline(tif, d->raw[plane], d->row, sample) != 1;
        is_missing = check_pixels(d, tif, TIFFComputeStrip(tif, d->row, sample), has_failed);
    }
    return is_missing;
}

/// Reads the block at a position from all planes. Returns whether it is missing.
static int read_block(alcedo_tiff_decoder *d, uint32_t x, uint32_t y) {
    int is_missing = 0;
    for (uint32_t plane = 0; plane < d->plane_count && !is_missing; plane++) {
        TIFF *tif = d->files[plane];
        const uint16_t sample = d->plane_count > 1 ? sample_of_plane(d, plane) : 0;
        const uint32_t index =
            d->is_tiled ? TIFFComputeTile(tif, x, y, 0, sample) : TIFFComputeStrip(tif, y, sample);
        alcedo_tiff_reset_errors(d);
        // The last strip has fewer rows, and libtiff reads as many bytes as it has.
        const tmsize_t size = (tmsize_t)d->read_size;
        const tmsize_t count = d->is_tiled ? TIFFReadEncodedTile(tif, index, d->raw[plane], size)
                                           : TIFFReadEncodedStrip(tif, index, d->raw[plane], size);
        is_missing = check_pixels(d, tif, index, count < 0);
    }
    return is_missing;
}

/// Reads the row of blocks that begins with the current row, and converts it.
static alcedo_tiff_status read_band(alcedo_tiff_decoder *d) {
    const size_t pixel = alcedo_tiff_pixel_size(d->format), stride = d->info.width * pixel;
    const uint32_t left = d->info.height - d->row;
    const uint32_t rows = left < d->block_height ? left : d->block_height;
    uint32_t block_count = 0, missing_count = 0;
    for (uint64_t x = 0; x < d->info.width; x += d->block_width) {
        if (is_canceled(d)) return alcedo_tiff_fail(d, ALCEDO_TIFF_CANCELED, "decoding was canceled");
        const uint32_t rest = d->info.width - (uint32_t)x;
        const uint32_t width = rest < d->block_width ? rest : d->block_width;
        const int is_missing = read_block(d, (uint32_t)x, d->row);
        block_count++;
        if (is_missing) missing_count++;
        for (uint32_t y = 0; y < rows; y++) {
            uint8_t *out = d->band + y * stride + x * pixel;
            if (is_missing) {
                memset(out, 0, width * pixel);
            } else if (d->is_subsampled) {
                alcedo_tiff_convert_subsampled(d, d->raw[0], y, width, out);
            } else {
                const uint8_t *planes[ALCEDO_TIFF_MAX_PLANES];
                for (uint32_t i = 0; i < d->plane_count; i++) planes[i] = d->raw[i] + y * d->row_size;
                alcedo_tiff_convert(d, planes, width, out);
            }
        }
    }
    d->band_state = missing_count == 0             ? ALCEDO_TIFF_WHOLE
                    : missing_count == block_count ? ALCEDO_TIFF_MISSING
                                                   : ALCEDO_TIFF_PARTIAL;
    return ALCEDO_TIFF_OK;
}

alcedo_tiff_status alcedo_tiff_read_row(
    alcedo_tiff_decoder *d, void *out, size_t capacity, alcedo_tiff_row_state *state) {
    const size_t size = d->info.width * alcedo_tiff_pixel_size(d->format);
    if (d->row >= d->info.height || capacity < size) {
        return alcedo_tiff_fail(d, ALCEDO_TIFF_CORRUPT, "there is no such row");
    }
    if (is_canceled(d)) return alcedo_tiff_fail(d, ALCEDO_TIFF_CANCELED, "decoding was canceled");
    if (d->reads_blocks) {
        const uint32_t y = d->row % d->block_height;
        if (y == 0) {
            const alcedo_tiff_status status = read_band(d);
            if (status != ALCEDO_TIFF_OK) return status;
        }
        memcpy(out, d->band + y * size, size);
        *state = d->band_state;
    } else {
        if (d->row >= d->missing_end && read_planes(d)) {
            // The codes of a row depend on those before it, so the rest of the strip is missing, too.
            const uint64_t end = (uint64_t)(d->row / d->block_height + 1) * d->block_height;
            d->missing_end = end < d->info.height ? (uint32_t)end : d->info.height;
        }
        *state = d->row < d->missing_end ? ALCEDO_TIFF_MISSING : ALCEDO_TIFF_WHOLE;
        if (*state == ALCEDO_TIFF_MISSING) {
            memset(out, 0, size);
        } else {
            alcedo_tiff_convert(d, (const uint8_t *const *)d->raw, d->info.width, out);
        }
    }
    d->row++;
    return ALCEDO_TIFF_OK;
}
#endif
