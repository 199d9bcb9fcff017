#include "internal.h"
#include "pack.h"

#include <stdlib.h>

struct alcedo_png_encoder {
    png_structp png;
    png_infop info;
    alcedo_png_packer *packer;  // NULL when libpng filters and compresses the rows
    alcedo_png_settings settings;  // without pointers
    int64_t sequence;  // the number of the fdAT chunk of the current frame, or -1 for IDAT
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    int was_taken;
    int out_of_memory;
    jmp_buf escape;
    char message[96];
};

static void on_error(png_structp png, png_const_charp message) {
    alcedo_png_encoder *e = png_get_error_ptr(png);
    strncpy(e->message, message, sizeof e->message - 1);
    longjmp(e->escape, 1);
}

static alcedo_png_status failure(const alcedo_png_encoder *e) {
    return e->out_of_memory ? ALCEDO_PNG_OUT_OF_MEMORY : ALCEDO_PNG_CORRUPT;
}

/// Makes room for `count` more bytes. May jump.
static void reserve(alcedo_png_encoder *e, size_t count) {
    if (e->was_taken) {
        e->was_taken = 0;
        e->count = 0;
    }
    if (count > e->capacity - e->count) {
        size_t capacity = e->capacity < 4096 ? 4096 : e->capacity;
        while (capacity - e->count < count) {
            if (capacity > SIZE_MAX / 2) png_error(e->png, "the encoded image does not fit in memory");
            capacity *= 2;
        }
        uint8_t *grown = realloc(e->bytes, capacity);
        if (!grown) {
            e->out_of_memory = 1;
            png_error(e->png, "out of memory");
        }
        e->bytes = grown;
        e->capacity = capacity;
    }
}

static void write_output(png_structp png, png_bytep bytes, size_t count) {
    alcedo_png_encoder *e = png_get_io_ptr(png);
    reserve(e, count);
    memcpy(e->bytes + e->count, bytes, count);
    e->count += count;
}

static void flush_output(png_structp png) { (void)png; }

/// Starts libpng. Returns 0, or -1 on failure.
static int start(alcedo_png_encoder *e, const alcedo_png_settings *settings) {
    if (setjmp(e->escape)) return -1;
    e->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, e, on_error, alcedo_png_ignore_warning,
                                       &e->out_of_memory, alcedo_png_allocate, NULL);
    if (e->png) e->info = png_create_info_struct(e->png);
    if (!e->info) return -1;
    png_set_write_fn(e->png, e, write_output, flush_output);
    png_set_user_limits(e->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(e->png, settings->level < 9 ? settings->level : 9);
    return 0;
}

alcedo_png_encoder *alcedo_png_encoder_create(const alcedo_png_settings *settings) {
    alcedo_png_encoder *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    if (start(e, settings)) {
        alcedo_png_encoder_destroy(e);
        return NULL;
    }
    return e;
}

void alcedo_png_encoder_destroy(alcedo_png_encoder *e) {
    png_destroy_write_struct(&e->png, &e->info);
    alcedo_png_packer_destroy(e->packer);
    free(e->bytes);
    free(e);
}

static void set_palette(alcedo_png_encoder *e, const alcedo_png_settings *s) {
    png_color colors[PNG_MAX_PALETTE_LENGTH];
    png_byte alphas[PNG_MAX_PALETTE_LENGTH];
    const size_t count = s->palette_count < PNG_MAX_PALETTE_LENGTH ? s->palette_count : PNG_MAX_PALETTE_LENGTH;
    for (size_t i = 0; s->palette && i < count; i++) {
        const uint8_t *color = s->palette + 4 * i;
        colors[i] = (png_color){color[0], color[1], color[2]};
        alphas[i] = color[3];
    }
    png_set_PLTE(e->png, e->info, colors, (int)count);
    const size_t transparent = s->transparent_count < count ? s->transparent_count : count;
    if (transparent) png_set_tRNS(e->png, e->info, alphas, (int)transparent, NULL);
}

static alcedo_png_status begin(alcedo_png_encoder *e, const alcedo_png_settings *s, int writes_profile) {
    static const uint16_t one = 1;
    if (setjmp(e->escape)) return failure(e);
    png_set_IHDR(e->png, e->info, s->width, s->height, s->bit_depth, s->color_type,
                 s->is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (s->color_type == PNG_COLOR_TYPE_PALETTE) set_palette(e, s);
    if (writes_profile) {
        // Most versions of libpng omit a damaged profile with a warning.
        png_set_benign_errors(e->png, 1);
        png_set_iCCP(e->png, e->info, "ICC", PNG_COMPRESSION_TYPE_BASE, s->icc, (png_uint_32)s->icc_size);
    }
    // libpng warns here of a profile that resembles sRGB.
    png_write_info_before_PLTE(e->png, e->info);
    if (s->color && s->color_size) write_output(e->png, (png_bytep)(uintptr_t)s->color, s->color_size);
    png_write_info(e->png, e->info);
    png_set_benign_errors(e->png, 0);
    if (s->chunks && s->chunks_size) write_output(e->png, (png_bytep)(uintptr_t)s->chunks, s->chunks_size);
    if (s->drops_alpha) png_set_filler(e->png, 0, PNG_FILLER_AFTER);
    if (s->bit_depth < 8) png_set_packing(e->png);
    if (s->bit_depth == 16 && *(const uint8_t *)&one) png_set_swap(e->png);
    if (s->is_interlaced) png_set_interlace_handling(e->png);
    return ALCEDO_PNG_OK;
}

static alcedo_png_status begin_file(alcedo_png_encoder *e, const alcedo_png_settings *s) {
    const int has_profile = s->icc && s->icc_size && s->icc_size <= PNG_UINT_31_MAX;
    const alcedo_png_status status = begin(e, s, has_profile);
    if (status != ALCEDO_PNG_CORRUPT || !has_profile) return status;
    // Since 1.6.45, libpng fails when it writes a damaged profile. The profile is optional, so encoding begins again
    // without it.
    png_destroy_write_struct(&e->png, &e->info);
    e->count = 0;
    e->message[0] = 0;
    if (start(e, s)) return failure(e);
    return begin(e, s, 0);
}

alcedo_png_status alcedo_png_encoder_begin(alcedo_png_encoder *e, const alcedo_png_settings *s) {
    const alcedo_png_status status = begin_file(e, s);
    if (status == ALCEDO_PNG_OK) e->packer = alcedo_png_packer_create(s);
    e->settings = *s;
    e->settings.palette = e->settings.icc = e->settings.color = e->settings.chunks = NULL;
    e->sequence = -1;
    return status;
}

alcedo_png_status alcedo_png_encoder_write(
    alcedo_png_encoder *e, const uint8_t *pixels, size_t stride, size_t rows) {
    if (setjmp(e->escape)) return failure(e);
    for (size_t y = 0; y < rows; y++) {
        const uint8_t *row = pixels + y * stride;
        if (!e->packer) {
            png_write_row(e->png, row);
        } else if (!alcedo_png_packer_add(e->packer, row)) {
            png_error(e->png, "there are more rows than the header says");
        }
    }
    return ALCEDO_PNG_OK;
}

/// Writes the chunk with the rows of the packer. May jump.
static void write_packed(alcedo_png_encoder *e) {
    if (!alcedo_png_packer_is_full(e->packer)) png_error(e->png, "there are fewer rows than the header says");
    reserve(e, alcedo_png_packer_bound(e->packer));
    const size_t count =
        alcedo_png_packer_write(e->packer, e->sequence, e->bytes + e->count, e->capacity - e->count);
    if (!count) png_error(e->png, "libdeflate cannot compress the rows");
    e->count += count;
}

alcedo_png_status alcedo_png_encoder_begin_frame(
    alcedo_png_encoder *e, uint32_t width, uint32_t height, const uint8_t *control, size_t control_size,
    uint32_t sequence) {
    if (setjmp(e->escape)) return failure(e);
    if (!e->packer) png_error(e->png, "a frame is too large, or memory is exhausted");
    write_packed(e);
    alcedo_png_packer_destroy(e->packer);
    e->settings.width = width;
    e->settings.height = height;
    e->sequence = sequence;
    e->packer = alcedo_png_packer_create(&e->settings);
    if (!e->packer) {
        e->out_of_memory = 1;
        png_error(e->png, "out of memory");
    }
    write_output(e->png, (png_bytep)(uintptr_t)control, control_size);
    return ALCEDO_PNG_OK;
}

alcedo_png_status alcedo_png_encoder_finish(alcedo_png_encoder *e) {
    if (setjmp(e->escape)) return failure(e);
    if (e->packer) {
        write_packed(e);
        png_write_chunk(e->png, (png_const_bytep)"IEND", NULL, 0);
    } else {
        // The second parameter is for chunks to write after the pixels. There are none.
        png_write_end(e->png, NULL);
    }
    return ALCEDO_PNG_OK;
}

size_t alcedo_png_encoder_count(const alcedo_png_encoder *e) { return e->was_taken ? 0 : e->count; }

alcedo_png_segment alcedo_png_encoder_take(alcedo_png_encoder *e) {
    const alcedo_png_segment result = {e->bytes, e->was_taken ? 0 : e->count};
    e->was_taken = 1;
    return result;
}

alcedo_png_segment alcedo_png_encoder_detach(alcedo_png_encoder *e) {
    // Compressed rows are far shorter than the memory that was reserved for them.
    uint8_t *shrunk = e->count ? realloc(e->bytes, e->count) : NULL;
    if (shrunk) e->bytes = shrunk;
    const alcedo_png_segment result = {e->bytes, e->count};
    e->bytes = NULL;
    e->count = e->capacity = 0;
    return result;
}

const char *alcedo_png_encoder_message(const alcedo_png_encoder *e) { return e->message; }
