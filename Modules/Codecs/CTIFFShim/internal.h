#ifndef ALCEDO_CTIFFSHIM_INTERNAL_H
#define ALCEDO_CTIFFSHIM_INTERNAL_H

#include "CTIFFShim.h"

#if !__has_include(<tiffio.h>)
#error "libtiff is missing: install Debian's package libtiff-dev, or build without the package trait TIFF"
#endif
#include <tiffio.h>
#if TIFFLIB_VERSION < 20221213
#error "libtiff 4.5 or later is needed: older versions have no error handlers for single files"
#endif
#include <stdarg.h>

enum {
    /// The maximum number of samples per pixel, with those that are ignored.
    ALCEDO_TIFF_MAX_SAMPLES = 32,
    /// Four inks and alpha.
    ALCEDO_TIFF_MAX_PLANES = 5,
    /// The bytes after a row that the conversion may read.
    ALCEDO_TIFF_ROW_PADDING = 8,
    ALCEDO_TIFF_MESSAGE_SIZE = 160,
};

/// The bytes of a file, and the position at which libtiff reads.
typedef struct {
    const uint8_t *bytes;
    size_t count;
    size_t position;
} alcedo_tiff_source;

struct alcedo_tiff_decoder {
    const uint8_t *bytes;
    size_t count;
    int (*is_canceled)(void);
    /// Files that are open at the same position. A file whose planes are stored one after the other is opened once for
    /// each plane, so that its rows can be read at the same time.
    TIFF *files[ALCEDO_TIFF_MAX_PLANES];
    alcedo_tiff_source sources[ALCEDO_TIFF_MAX_PLANES];
    uint64_t directory;
    alcedo_tiff_info info;
    uint16_t compression;
    /// The number of samples per pixel of the file, and of a plane.
    uint32_t samples_per_pixel;
    uint32_t samples_per_plane;
    /// The number of planes that are read.
    uint32_t plane_count;
    /// The position of alpha among the samples, if there is any.
    uint32_t alpha_index;
    int is_tiled;
    /// Whether the smallest samples are white or, of inks, none.
    int is_inverted;
    /// Whether color has another number of samples than luminance, in units of several pixels.
    int is_subsampled;
    uint32_t horizontal_subsampling;
    uint32_t vertical_subsampling;
    /// The size of a tile, or of a strip.
    uint32_t block_width;
    uint32_t block_height;
    /// Whether rows are read from whole blocks. Otherwise they are read one by one.
    int reads_blocks;
    /// The number of bytes of a row of a plane, and of what is read of it at once: a row or a block.
    uint64_t row_size;
    uint64_t read_size;

    alcedo_tiff_format format;
    /// The next row.
    uint32_t row;
    uint8_t *raw[ALCEDO_TIFF_MAX_PLANES];
    /// The samples of a row, those of a plane after those of another.
    uint16_t *samples;
    /// The converted rows of the current row of blocks.
    uint8_t *band;
    alcedo_tiff_row_state band_state;
    /// Whether a strip or tile ends after the file. Its byte count is then reduced.
    int is_cut;
    /// The end of the rows of the current strip that cannot be decoded.
    uint32_t missing_end;
    /// The output sample for each sample of color.
    uint16_t *scale;
    uint8_t palette[256][4];
    TIFFYCbCrToRGB *ycbcr;

    /// The number of errors and of warnings that mean damaged pixels since the last reset.
    uint32_t error_count;
    uint32_t warning_count;
    alcedo_tiff_damage damage;
    alcedo_tiff_status damage_status;
    char message[ALCEDO_TIFF_MESSAGE_SIZE];
    char damage_message[ALCEDO_TIFF_MESSAGE_SIZE];
};

/// Opens the file, without reading a directory. Returns NULL on failure.
TIFF *alcedo_tiff_open(alcedo_tiff_decoder *d, uint32_t plane);

/// Sets the message of the next error, and returns the status.
alcedo_tiff_status alcedo_tiff_fail(alcedo_tiff_decoder *d, alcedo_tiff_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Forgets errors and warnings.
void alcedo_tiff_reset_errors(alcedo_tiff_decoder *d);

/// Returns the number of bytes of a pixel.
size_t alcedo_tiff_pixel_size(alcedo_tiff_format format);

/// Creates the tables of the conversion for the format of the rows.
alcedo_tiff_status alcedo_tiff_prepare_conversion(alcedo_tiff_decoder *d);

/// Converts `count` pixels of a row, whose samples are in one or several planes.
void alcedo_tiff_convert(alcedo_tiff_decoder *d, const uint8_t *const *planes, uint32_t count, uint8_t *out);

/// Converts `count` pixels of row `y` of a block with subsampled color.
void alcedo_tiff_convert_subsampled(
    const alcedo_tiff_decoder *d, const uint8_t *block, uint32_t y, uint32_t count, uint8_t *out);

#endif
