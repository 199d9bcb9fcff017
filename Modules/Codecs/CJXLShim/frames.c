#ifdef ALCEDO_JXL
#include "internal.h"

#include <stdlib.h>

/// A reader of the bits of a codestream, the lowest bit of each byte first.
typedef struct {
    const uint8_t *bytes;
    size_t bit_count;
    size_t position;
    /// Whether bits after the end were read, which are zero.
    int is_over;
} bit_reader;

/// Reads at most 32 bits.
static uint32_t read_bits(bit_reader *r, int count) {
    uint32_t value = 0;
    for (int bit = 0; bit < count; bit++, r->position++) {
        if (r->position >= r->bit_count) {
            r->is_over = 1;
            return 0;
        }
        value |= (uint32_t)(r->bytes[r->position / 8] >> (r->position % 8) & 1) << bit;
    }
    return value;
}

static void skip_bits(bit_reader *r, uint64_t count) {
    if (count > r->bit_count - r->position) {
        r->is_over = 1;
        r->position = r->bit_count;
    } else {
        r->position += (size_t)count;
    }
}

static void align(bit_reader *r) { skip_bits(r, (8 - r->position % 8) % 8); }

/// One of the four distributions of a number: `count` bits that are added to `offset`.
typedef struct {
    int count;
    uint32_t offset;
} number_range;

/// Reads a number, after two bits that select its distribution. Source: ISO/IEC 18181-1, section B.2.1.
static uint32_t read_number(bit_reader *r, const number_range ranges[4]) {
    const number_range range = ranges[read_bits(r, 2)];
    return range.offset + read_bits(r, range.count);
}

/// Reads a number of 64 bits. Source: ISO/IEC 18181-1, section B.2.3.
static uint64_t read_large(bit_reader *r) {
    switch (read_bits(r, 2)) {
    case 0:
        return 0;
    case 1:
        return 1 + read_bits(r, 4);
    case 2:
        return 17 + read_bits(r, 8);
    }
    uint64_t value = read_bits(r, 12);
    for (int shift = 12; read_bits(r, 1); shift += 8) {
        if (shift == 60) return value | (uint64_t)read_bits(r, 4) << shift;
        value |= (uint64_t)read_bits(r, 8) << shift;
    }
    return value;
}

static const number_range size_ranges[4] = {{8, 0}, {11, 256}, {14, 2304}, {30, 18688}};
static const number_range small_ranges[4] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
static const number_range upsampling_ranges[4] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}};

enum { REGULAR = 0, LOW_FREQUENCY, REFERENCE_ONLY, SKIP_PROGRESSIVE };

/// The part of a frame header that determines its size in the file and the work to decode it.
typedef struct {
    uint64_t width;
    uint64_t height;
    uint32_t type;
    int is_modular;
    uint32_t upsampling;
    /// Whether color differences have half the width or height.
    int has_half_width;
    int has_half_height;
    uint32_t group_shift;
    uint32_t pass_count;
    int is_shown;
    int is_last;
} frame_header;

static void read_passes(bit_reader *r, frame_header *f) {
    static const number_range counts[4] = {{0, 1}, {0, 2}, {0, 3}, {3, 4}};
    static const number_range downsample_counts[4] = {{0, 0}, {0, 1}, {0, 2}, {1, 3}};
    static const number_range last_passes[4] = {{0, 0}, {0, 1}, {0, 2}, {3, 0}};
    f->pass_count = read_number(r, counts);
    if (f->pass_count == 1) return;
    const uint32_t count = read_number(r, downsample_counts);
    skip_bits(r, 2 * (f->pass_count - 1));
    for (uint32_t index = 0; index < count; index++) read_number(r, upsampling_ranges);
    for (uint32_t index = 0; index < count; index++) read_number(r, last_passes);
}

static uint32_t read_blending(bit_reader *r, uint32_t extra_count, int is_partial) {
    static const number_range modes[4] = {{0, 0}, {0, 1}, {0, 2}, {2, 3}};
    static const number_range channels[4] = {{0, 0}, {0, 1}, {0, 2}, {3, 3}};
    const uint32_t mode = read_number(r, modes);
    const int uses_alpha = extra_count > 0 && (mode == 2 || mode == 3);
    if (uses_alpha) read_number(r, channels);
    if (uses_alpha || mode == 4) read_bits(r, 1);
    if (mode != 0 || is_partial) read_number(r, small_ranges);
    return mode;
}

/// Skips the extensions of a bundle.
static void skip_extensions(bit_reader *r) {
    const uint64_t extensions = read_large(r);
    uint64_t total = 0;
    for (int bit = 0; bit < 64; bit++) {
        if (!(extensions >> bit & 1)) continue;
        const uint64_t count = read_large(r);
        total = count > UINT64_MAX - total ? UINT64_MAX : total + count;
    }
    skip_bits(r, total);
}

static void skip_filters(bit_reader *r, int is_modular) {
    if (read_bits(r, 1)) return;
    if (read_bits(r, 1) && read_bits(r, 1)) skip_bits(r, 6 * 16);
    if (read_bits(r, 2) > 0) {
        if (!is_modular && read_bits(r, 1)) skip_bits(r, 8 * 16);
        if (read_bits(r, 1)) skip_bits(r, 5 * 16);
        if (read_bits(r, 1)) skip_bits(r, (is_modular ? 3 : 4) * 16);
        if (is_modular) skip_bits(r, 16);
    }
    skip_extensions(r);
}

/// Reads the size of a frame that differs from that of the image. Returns whether it does not cover the image.
static int read_size(bit_reader *r, const JxlBasicInfo *image, frame_header *f, int has_origin) {
    int64_t origin[2] = {0, 0};
    for (int axis = 0; axis < 2 && has_origin; axis++) {
        const uint32_t packed = read_number(r, size_ranges);
        origin[axis] = packed & 1 ? -(int64_t)(packed / 2) - 1 : (int64_t)(packed / 2);
    }
    f->width = read_number(r, size_ranges);
    f->height = read_number(r, size_ranges);
    return has_origin && (origin[0] > 0 || origin[1] > 0 || (int64_t)f->width + origin[0] < image->xsize ||
                          (int64_t)f->height + origin[1] < image->ysize);
}

/// Reads the fields between the size and the filters.
static void read_blending_and_name(bit_reader *r, const JxlBasicInfo *image, frame_header *f, int is_partial) {
    static const number_range durations[4] = {{0, 0}, {0, 1}, {8, 0}, {32, 0}};
    static const number_range name_lengths[4] = {{0, 0}, {4, 0}, {5, 16}, {10, 48}};
    const int is_drawn = f->type == REGULAR || f->type == SKIP_PROGRESSIVE;
    uint32_t mode = 0;
    uint32_t duration = 0;
    f->is_last = 0;
    if (is_drawn) {
        const uint32_t count = image->num_extra_channels;
        mode = read_blending(r, count, is_partial);
        for (uint32_t index = 0; index < count && !r->is_over; index++) read_blending(r, count, is_partial);
        if (image->have_animation) {
            duration = read_number(r, durations);
            if (image->animation.have_timecodes) skip_bits(r, 32);
        }
        f->is_last = (int)read_bits(r, 1) && f->type == REGULAR;
    }
    f->is_shown = duration > 0 || f->is_last;
    uint32_t reference = 0;
    if (f->type != LOW_FREQUENCY && !f->is_last) reference = read_number(r, small_ranges);
    const int can_be_referenced = !f->is_last && f->type != LOW_FREQUENCY && (duration == 0 || reference != 0);
    if (f->type == REFERENCE_ONLY || (is_drawn && can_be_referenced && mode == 0 && !is_partial)) read_bits(r, 1);
    skip_bits(r, 8 * (uint64_t)read_number(r, name_lengths));
}

/// Reads the header of a frame. Source: ISO/IEC 18181-1, section F.2.
static void read_frame_header(bit_reader *r, const JxlBasicInfo *image, frame_header *f) {
    *f = (frame_header){.width = image->xsize, .height = image->ysize, .upsampling = 1, .group_shift = 1,
                        .pass_count = 1, .is_shown = 1, .is_last = 1};
    if (read_bits(r, 1)) return;
    f->type = read_bits(r, 2);
    f->is_modular = (int)read_bits(r, 1);
    const int uses_low_frequency = (read_large(r) & 0x20) != 0;
    const int is_xyb = !image->uses_original_profile;
    if (!is_xyb && read_bits(r, 1) && !uses_low_frequency) {
        for (int channel = 0; channel < 3; channel++) {
            const uint32_t shape = read_bits(r, 2);
            f->has_half_width |= shape == 1 || shape == 2;
            f->has_half_height |= shape == 1 || shape == 3;
        }
    }
    if (!uses_low_frequency) {
        f->upsampling = read_number(r, upsampling_ranges);
        skip_bits(r, 2 * (uint64_t)image->num_extra_channels);
    }
    if (f->is_modular) f->group_shift = read_bits(r, 2);
    if (!f->is_modular && is_xyb) skip_bits(r, 6);
    if (f->type != REFERENCE_ONLY) read_passes(r, f);
    int is_partial = 0;
    if (f->type == LOW_FREQUENCY) {
        const int shift = 3 * (int)(read_bits(r, 2) + 1);
        f->width = (f->width + ((uint64_t)1 << shift) - 1) >> shift;
        f->height = (f->height + ((uint64_t)1 << shift) - 1) >> shift;
    } else if (read_bits(r, 1)) {
        is_partial = read_size(r, image, f, f->type != REFERENCE_ONLY);
    }
    read_blending_and_name(r, image, f, is_partial);
    skip_filters(r, f->is_modular);
    skip_extensions(r);
}

static uint64_t quotient(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

/// Returns the number of sections of a frame. Source: ISO/IEC 18181-1, section F.3.
static uint64_t section_count(const frame_header *f) {
    const uint64_t group = (uint64_t)128 << f->group_shift;
    const uint64_t width = quotient(f->width, f->upsampling), height = quotient(f->height, f->upsampling);
    const uint64_t columns = quotient(width, 8u << f->has_half_width) << f->has_half_width;
    const uint64_t rows = quotient(height, 8u << f->has_half_height) << f->has_half_height;
    const uint64_t groups = quotient(width, group) * quotient(height, group);
    if (groups == 1 && f->pass_count == 1) return 1;
    return 2 + quotient(columns, group) * quotient(rows, group) + groups * f->pass_count;
}

/// Skips the sections of a frame. Returns ALCEDO_JXL_UNSUPPORTED when their order is coded, which is not read here.
static alcedo_jxl_status skip_sections(bit_reader *r, const frame_header *f) {
    static const number_range sizes[4] = {{10, 0}, {14, 1024}, {22, 17408}, {30, 4211712}};
    const uint64_t count = section_count(f);
    if (read_bits(r, 1)) return ALCEDO_JXL_UNSUPPORTED;
    align(r);
    uint64_t total = 0;
    for (uint64_t index = 0; index < count && !r->is_over; index++) total += read_number(r, sizes);
    align(r);
    skip_bits(r, 8 * total);
    return ALCEDO_JXL_OK;
}

struct alcedo_jxl_frame_check {
    alcedo_jxl_frame_limits limits;
    JxlBasicInfo basic;
    int has_header;
    /// Whether the next frame is the preview.
    int is_preview;
    /// Whether the following frames are not checked.
    int is_complete;
    /// The offset in the codestream of the next frame.
    size_t offset;
    /// The number of pixels since the previous shown frame.
    uint64_t total;
};

alcedo_jxl_frame_check *alcedo_jxl_frame_check_create(alcedo_jxl_frame_limits limits) {
    alcedo_jxl_frame_check *c = calloc(1, sizeof *c);
    if (c) c->limits = limits;
    return c;
}

void alcedo_jxl_frame_check_destroy(alcedo_jxl_frame_check *c) { free(c); }

size_t alcedo_jxl_frame_check_offset(const alcedo_jxl_frame_check *c) { return c->offset; }

int alcedo_jxl_frame_check_is_complete(const alcedo_jxl_frame_check *c) { return c->is_complete; }

/// Reads the header of a codestream. Does nothing when it is incomplete or damaged.
static alcedo_jxl_status read_header(alcedo_jxl_frame_check *c, const uint8_t *codestream, size_t count) {
    const alcedo_jxl_decoder_settings settings = {
        .purpose = ALCEDO_JXL_LAYERS, .memory_limit = (size_t)64 << 20, .threads = 1};
    alcedo_jxl_decoder *d = alcedo_jxl_create(&settings);
    if (!d) return ALCEDO_JXL_OUT_OF_MEMORY;
    alcedo_jxl_feed(d, codestream, count);
    alcedo_jxl_info info;
    if (alcedo_jxl_read_header(d, &info) == ALCEDO_JXL_OK) {
        c->basic = d->basic;
        c->has_header = 1;
        c->is_preview = d->basic.have_preview;
        // The next byte is the first one of the first frame.
        c->offset = count - alcedo_jxl_remaining(d);
    }
    alcedo_jxl_destroy(d);
    return ALCEDO_JXL_OK;
}

/// Checks the next frame, and advances to the following one. Sets `is_over` when its bytes are incomplete.
static alcedo_jxl_status check_frame(alcedo_jxl_frame_check *c, bit_reader *reader) {
    JxlBasicInfo image = c->basic;
    if (c->is_preview) {
        image.xsize = c->basic.preview.xsize;
        image.ysize = c->basic.preview.ysize;
    }
    const size_t start = reader->position;
    frame_header frame;
    read_frame_header(reader, &image, &frame);
    // libjxl rejects what cannot be read here.
    if (frame.width == 0 || frame.height == 0) reader->is_over = 1;
    if (reader->is_over) return ALCEDO_JXL_OK;
    const uint64_t limit = frame.type == REGULAR ? c->limits.layer : c->limits.hidden;
    if (frame.width > limit / frame.height) return ALCEDO_JXL_EXCEEDS_LIMIT;
    const uint64_t pixel_count = frame.width * frame.height;
    if (pixel_count > c->limits.total - c->total) return ALCEDO_JXL_EXCEEDS_LIMIT;
    if (frame.is_last && !c->is_preview) {
        c->is_complete = 1;
        return ALCEDO_JXL_OK;
    }
    const alcedo_jxl_status status = skip_sections(reader, &frame);
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 11, 0)  // libjxl 0.11 limits the memory of all frames
    if (status == ALCEDO_JXL_UNSUPPORTED) {
        c->is_complete = 1;
        return ALCEDO_JXL_OK;
    }
#endif
    if (status != ALCEDO_JXL_OK || reader->is_over) return status;
    c->total = frame.is_shown ? 0 : c->total + pixel_count;
    c->is_preview = 0;
    c->offset += (reader->position - start) / 8;
    return ALCEDO_JXL_OK;
}

alcedo_jxl_status alcedo_jxl_check_frames(alcedo_jxl_frame_check *c, const uint8_t *bytes, size_t count) {
    size_t start = 0;
    if (!c->has_header) {
        const alcedo_jxl_status status = read_header(c, bytes, count);
        if (status != ALCEDO_JXL_OK || !c->has_header) return status;
        start = c->offset;
    }
    bit_reader reader = {bytes, count * 8, start * 8, 0};
    while (!c->is_complete && !reader.is_over) {
        const alcedo_jxl_status status = check_frame(c, &reader);
        if (status != ALCEDO_JXL_OK) return status;
    }
    return ALCEDO_JXL_OK;
}
#endif
