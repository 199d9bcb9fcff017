#ifndef ALCEDO_CJPEGSHIM_INTERNAL_H
#define ALCEDO_CJPEGSHIM_INTERNAL_H

#include "CJPEGShim.h"

#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

#include <setjmp.h>

/// The position of a metadata segment in the bytes. An offset of 0 means that there is no such segment.
typedef struct {
    size_t offset;
    size_t size;
} alcedo_jpeg_segment;

/// An ICC profile in parts, which are numbered from 1.
typedef struct {
    alcedo_jpeg_segment parts[256];
    size_t size;
    int count;  // the declared number of parts
    int found;
    int is_broken;
} alcedo_jpeg_profile;

/// The maximum number of ranges of a file that are omitted.
enum { ALCEDO_JPEG_MAXIMUM_CUTS = 16 };

/// The pieces of a file between the ranges that are omitted.
typedef struct {
    const uint8_t *starts[ALCEDO_JPEG_MAXIMUM_CUTS + 1];
    const uint8_t *ends[ALCEDO_JPEG_MAXIMUM_CUTS + 1];
    int current;
    int count;  // the number of pieces after the first
} alcedo_jpeg_pieces;

/// The transform that libjpeg has selected for the blocks of a component, the place of the current row of MCUs, the
/// samples above the last row of blocks, and the factors of the transform for blocks that are not all visible.
typedef struct {
    void (*transform)(j_decompress_ptr, jpeg_component_info *, JCOEFPTR, JSAMPARRAY, JDIMENSION);
    JSAMPARRAY rows;
    JDIMENSION mcu_row;
    JSAMPROW above;
    float waves[DCTSIZE][DCTSIZE];
    float reduction[DCTSIZE][DCTSIZE];
} alcedo_jpeg_edge;

/// The search for details that a scaled transform loses, and the filter of the full rows of an image that has them.
typedef struct {
    int is_watched;
    int are_lost;
    int64_t excess;  // the number of details in the last rows beyond what photos can have, in thousandths
    int64_t block_excess;  // the same of blocks
    int side;  // the number of samples per side to which the examined blocks are decoded, a power of two
    void (*transform)(j_decompress_ptr, jpeg_component_info *, JCOEFPTR, JSAMPARRAY, JDIMENSION);
    uint8_t *above[2];  // the last rows of a group that is being examined
    int factor;  // the number of pixels per side of a reduced sample, or 0 if the image is not decoded at full size
    JDIMENSION next, width, height;  // the next reduced row, and the size of the reduced image
    uint64_t position;  // the number of full rows that were filtered, including those above the first
    JDIMENSION row_count;  // the number of full rows that were decoded from data
    int is_at_end;  // whether the other full rows are missing
    uint8_t *rows[2];  // the last full row, and memory for the next
    int16_t *sums[3];  // the weighted sums of the full rows of the next reduced rows
} alcedo_jpeg_details;

struct alcedo_jpeg_decoder {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    alcedo_jpeg_segment exif;
    alcedo_jpeg_segment xmp;
    alcedo_jpeg_segment resources;
    alcedo_jpeg_profile profile;
    uint8_t *row;  // memory for one output row, or NULL
    int is_stream;  // whether decoding suspends at the end of the bytes
    alcedo_jpeg_rows kind;
    alcedo_jpeg_details details;
    int keeps_inks;  // whether rows have inks instead of the colors that a formula makes of them
    const uint8_t *base;  // the bytes that the source reads
    size_t size;  // the number of bytes, unless they arrive in pieces
    size_t skipped;  // the number of bytes to skip when they arrive
    alcedo_jpeg_pieces pieces;
    alcedo_jpeg_edge edges[MAX_COMPONENTS];
    int ran_out;
    int too_many_scans;
    int (*is_canceled)(void);  // whether the caller was canceled, or NULL
    int was_canceled;
    int is_started;  // whether libjpeg may have read data of a scan
    int gave_up;  // whether the scans after an error are ignored
    alcedo_jpeg_damage tolerated;
    alcedo_jpeg_damage damage;  // the worst damage
    alcedo_jpeg_status damage_status;
    char damage_message[JMSG_LENGTH_MAX];
    JDIMENSION real_rows;  // the number of output rows that can be decoded from data
    const uint8_t *first_scan;  // the first byte of the data of the first scan
    uint64_t sixteenth;  // a 16th of the number of MCUs of the first scan, or 0
    size_t read_bytes[2];  // the bytes of the first scan that were read for a 16th and an 8th of its MCUs
    uint64_t mcu_count;  // the number of MCUs of the current scan that were decoded
    void (*start_pass)(j_decompress_ptr);
    boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW *);
    char message[JMSG_LENGTH_MAX];
};

/// Installs handlers that jump to `escape` after an error and never print.
void alcedo_jpeg_init_errors(alcedo_jpeg_decoder *d);
/// Installs a source that reads from memory. At the end of the bytes, it suspends. If it has all bytes, it jumps before
/// the first scan, and ends the image after that.
void alcedo_jpeg_init_source(alcedo_jpeg_decoder *d, const uint8_t *bytes, size_t count);
/// Installs marker processors that record the positions of EXIF, XMP and the ICC profile.
void alcedo_jpeg_init_markers(alcedo_jpeg_decoder *d);
/// Omits the scans of a complete progressive file that contain only coefficients without effect on the output, which is
/// then the same. In an image that is reduced eightfold, only the mean of each block has an effect, except in
/// components that are stored at a lower resolution. Omits nothing from a file that is not valid up to its end. Damage
/// within the omitted scans is not found. Must be called after the header has been read and the scale has been set.
void alcedo_jpeg_omit_details(alcedo_jpeg_decoder *d);
/// Makes a scaled image independent of what its blocks contain outside of the image. Must be called after the scale has
/// been set and decoding has started.
void alcedo_jpeg_hide_padding(alcedo_jpeg_decoder *d);
/// Counts the MCUs of each scan from now on. Must be called after libjpeg has selected its entropy decoder, and before
/// it decodes the first MCU. Later calls have no effect.
void alcedo_jpeg_count_mcus(alcedo_jpeg_decoder *d);
/// Makes the decoder ready to read the header again. Frees the memory of decoding. Requires all bytes.
void alcedo_jpeg_rewind(alcedo_jpeg_decoder *d);
/// Allocates memory for one output row.
uint8_t *alcedo_jpeg_make_row(alcedo_jpeg_decoder *d);
/// Returns how many of the rows that libjpeg has just produced were decoded from data.
JDIMENSION alcedo_jpeg_real_count(const alcedo_jpeg_decoder *d, JDIMENSION count);
/// Converts the inks of a row that libjpeg has produced if the output is in colors.
void alcedo_jpeg_convert_row(const alcedo_jpeg_decoder *d, uint8_t *row);
/// Examines a row of a scaled image. Must be called for each row from the first to the last.
void alcedo_jpeg_examine(alcedo_jpeg_decoder *d, const uint8_t *row, JDIMENSION index);
/// Transforms a block of the first component and examines the coefficients that the scaled transform leaves out.
void alcedo_jpeg_examine_block(
    j_decompress_ptr cinfo, jpeg_component_info *component, JCOEFPTR block, JSAMPARRAY output, JDIMENSION column);
/// Starts decoding again at full size. `row` is the index of the next reduced row.
alcedo_jpeg_status alcedo_jpeg_begin_full_size(alcedo_jpeg_decoder *d, JDIMENSION row);
/// Writes rows as alcedo_jpeg_read_rows does, after alcedo_jpeg_begin_full_size. Increases `count`.
alcedo_jpeg_status alcedo_jpeg_read_reduced_rows(
    alcedo_jpeg_decoder *d, uint8_t *out, size_t stride, size_t first, size_t end, size_t *count);
/// Whether a marker can be between two scans.
int alcedo_jpeg_separates_scans(int marker);
/// Whether blocks of a component lie partly outside of the image.
int alcedo_jpeg_has_cut_blocks(const struct jpeg_decompress_struct *c, const jpeg_component_info *component);
/// Returns the number of samples per side to which each block of a component is decoded.
int alcedo_jpeg_block_side(const jpeg_component_info *component);
/// Returns the size of the profile, or 0 when it is absent, incomplete or contradictory.
size_t alcedo_jpeg_profile_size(const alcedo_jpeg_decoder *d);
/// Records damage, unless the same or worse damage is known. `message` must not be longer than JMSG_LENGTH_MAX.
void alcedo_jpeg_note_damage(alcedo_jpeg_decoder *d, alcedo_jpeg_damage damage, const char *message);
/// Ends the input at the decoder's position, as if the image ended there.
void alcedo_jpeg_end_input(alcedo_jpeg_decoder *d);
/// Returns ALCEDO_JPEG_OK, or the status of damage that is not tolerated.
alcedo_jpeg_status alcedo_jpeg_verdict(alcedo_jpeg_decoder *d);
/// Returns the status for the error that caused the last jump.
alcedo_jpeg_status alcedo_jpeg_failure(const alcedo_jpeg_decoder *d);

#endif
