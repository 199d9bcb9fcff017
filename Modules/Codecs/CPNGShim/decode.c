#include "internal.h"

#include "rows.h"

#include <stdlib.h>

/// The message of every error of the fast row reader. After such an error, the file is read again by another reader,
/// which reports the exact error or accepts the file.
static const char corrupt_file_message[] = "the file is corrupt";

static void on_error(png_structp png, png_const_charp message) {
    alcedo_png_decoder *d = png_get_error_ptr(png);
    strncpy(d->message, message, sizeof d->message - 1);
    longjmp(d->escape, 1);
}

/// Whether a warning says that a chunk is not as the specification requires. The name of the chunk precedes the text.
static int is_about_chunk(const char *message) {
    static const char *const texts[] = {": CRC error", ": invalid", ": out of place", ": duplicate"};
    if (strlen(message) < 4) return 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!strncmp(message + 4, texts[i], strlen(texts[i]))) return 1;
    }
    return 0;
}

/// Records chunks that are wrong. Of the other warnings before the pixels, many are about valid files.
static void on_warning(png_structp png, png_const_charp message) {
    alcedo_png_decoder *d = png_get_error_ptr(png);
    const int is_checksum = strstr(message, "CRC error") != NULL;
    if (!is_about_chunk(message) && !d->reads_end) return;
    // The checksum of the compressed stream decides whether the pixels are right.
    if (is_checksum && !strncmp(message, "IDAT", 4)) d->has_wrong_data_checksum = 1;
    if (strstr(message, "compressed data")) d->has_unverified_stream = 1;
    const int changes_pixels = is_checksum && !strncmp(message, "tRNS", 4);
    const alcedo_png_damage damage = changes_pixels ? ALCEDO_PNG_WRONG_PIXELS : ALCEDO_PNG_HARMLESS;
    if (damage <= d->progress.damage) return;
    d->progress.damage = damage;
    strncpy(d->damage_message, message, sizeof d->damage_message - 1);
}

alcedo_png_status alcedo_png_failure(const alcedo_png_decoder *d) {
    if (d->was_canceled) return ALCEDO_PNG_CANCELED;
    if (d->input.ran_out) return ALCEDO_PNG_TRUNCATED;
    return d->out_of_memory ? ALCEDO_PNG_OUT_OF_MEMORY : ALCEDO_PNG_CORRUPT;
}

png_voidp alcedo_png_allocate(png_structp png, png_alloc_size_t size) {
    void *memory = malloc(size);
    // libpng reports exhausted memory only as a message.
    if (!memory) *(int *)png_get_mem_ptr(png) = 1;
    return memory;
}

alcedo_png_decoder *alcedo_png_new(size_t chunk_limit) {
    alcedo_png_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    // Errors during creation jump here, too.
    if (setjmp(d->escape)) {
        alcedo_png_destroy(d);
        return NULL;
    }
    d->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, d, on_error, on_warning,
                                      &d->out_of_memory, alcedo_png_allocate, NULL);
    if (d->png) d->info = png_create_info_struct(d->png);
    if (!d->info) {
        alcedo_png_destroy(d);
        return NULL;
    }
    // The caller checks the size against its own limits after the header has been read.
    png_set_user_limits(d->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(d->png, chunk_limit);
    png_set_chunk_cache_max(d->png, 128);
    // These chunks are ignored, except for text when `alcedo_png_create` selects it. Text can expand to a thousand
    // times its size. For the others, libpng allocates and clears the declared length, up to 2 GiB, before it reads,
    // and only warns when its limit for chunks is exceeded.
    static const png_byte unused[] = "tEXt\0zTXt\0iTXt\0sPLT\0sCAL\0pCAL\0eXIf";
    png_set_keep_unknown_chunks(d->png, PNG_HANDLE_CHUNK_NEVER, unused, 7);
    // Some writers declare a smaller window than they use.
    png_set_option(d->png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
    return d;
}

alcedo_png_decoder *alcedo_png_create(
    const alcedo_png_segment *segments, size_t count, size_t chunk_limit, alcedo_png_purpose purpose) {
    alcedo_png_decoder *d = alcedo_png_new(chunk_limit);
    if (!d) return NULL;
    d->input = (alcedo_png_input){segments, count, 0, 0, 0};
    if (setjmp(d->escape)) {
        alcedo_png_destroy(d);
        return NULL;
    }
    d->checks_crc = purpose != ALCEDO_PNG_CHECKED_FILE;
    if (!d->checks_crc) {
        png_set_crc_action(d->png, PNG_CRC_QUIET_USE, PNG_CRC_DEFAULT);
#ifdef PNG_IGNORE_ADLER32 // since 1.6.45 only in builds with this option
        png_set_option(d->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
    }
    static const png_byte texts[] = "tEXt\0zTXt\0iTXt";
    if (purpose == ALCEDO_PNG_TEXT) png_set_keep_unknown_chunks(d->png, PNG_HANDLE_CHUNK_AS_DEFAULT, texts, 3);
    png_set_read_fn(d->png, &d->input, alcedo_png_read_input);
    return d;
}

void alcedo_png_destroy(alcedo_png_decoder *d) {
    alcedo_png_rows_destroy(d->rows);
    png_destroy_read_struct(&d->png, &d->info, NULL);
    free(d);
}

const char *alcedo_png_message(const alcedo_png_decoder *d) { return d->message; }

/// Whether pixels may be wrong, because the checksum of a pixel chunk is wrong, and the checksum of the compressed
/// stream is wrong, too, or has not been read.
static int has_wrong_data(const alcedo_png_decoder *d) {
    return d->has_wrong_data_checksum && (d->has_unverified_stream || !d->progress.is_whole);
}

const char *alcedo_png_damage_message(const alcedo_png_decoder *d) {
    return has_wrong_data(d) ? "IDAT: CRC error" : d->damage_message;
}

alcedo_png_progress alcedo_png_get_progress(const alcedo_png_decoder *d) {
    alcedo_png_progress progress = d->progress;
    if (has_wrong_data(d)) progress.damage = ALCEDO_PNG_WRONG_PIXELS;
    return progress;
}

alcedo_png_status alcedo_png_read_header(alcedo_png_decoder *d, alcedo_png_info *info) {
    if (setjmp(d->escape)) return alcedo_png_failure(d);
    png_read_info(d->png, d->info);
    memset(info, 0, sizeof *info);
    info->width = png_get_image_width(d->png, d->info);
    info->height = png_get_image_height(d->png, d->info);
    info->bit_depth = png_get_bit_depth(d->png, d->info);
    info->color_type = png_get_color_type(d->png, d->info);
    info->is_interlaced = png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE;
    info->has_alpha = (info->color_type & PNG_COLOR_MASK_ALPHA) != 0 ||
                      png_get_valid(d->png, d->info, PNG_INFO_tRNS) != 0;
    png_charp name = NULL;
    int compression = 0;
    png_bytep icc = NULL;
    png_uint_32 icc_size = 0;
    if (png_get_iCCP(d->png, d->info, &name, &compression, &icc, &icc_size)) {
        info->icc = icc;
        info->icc_size = icc_size;
    }
    png_textp text = NULL;
    if (png_get_text(d->png, d->info, &text, NULL) > 0) {
        info->text = (const uint8_t *)text->text;
        info->text_size = text->compression >= PNG_ITXT_COMPRESSION_NONE ? text->itxt_length : text->text_length;
    }
    info->damage = d->header_damage = d->progress.damage;
    return ALCEDO_PNG_OK;
}

void alcedo_png_transform(alcedo_png_decoder *d) {
    static const uint16_t one = 1;
    switch (d->format) {
    case ALCEDO_PNG_GRAY8:
        png_set_expand_gray_1_2_4_to_8(d->png);
        png_set_strip_16(d->png);
        break;
    case ALCEDO_PNG_GRAY16:
        if (*(const uint8_t *)&one) png_set_swap(d->png);
        break;
    case ALCEDO_PNG_RGBA16:
        png_set_expand(d->png);
        png_set_gray_to_rgb(d->png);
        png_set_add_alpha(d->png, 0xFFFF, PNG_FILLER_AFTER);
        if (*(const uint8_t *)&one) png_set_swap(d->png);
        break;
    case ALCEDO_PNG_RGBA8:
        png_set_expand(d->png);
        png_set_strip_16(d->png);
        png_set_gray_to_rgb(d->png);
        png_set_add_alpha(d->png, 0xFF, PNG_FILLER_AFTER);
        break;
    }
}

alcedo_png_status alcedo_png_start(alcedo_png_decoder *d, alcedo_png_format format, int premultiplies,
                                   size_t whole_limit) {
    d->format = format;
    d->premultiplies = premultiplies && format != ALCEDO_PNG_GRAY8 && format != ALCEDO_PNG_GRAY16;
    if (!d->input.segments) return ALCEDO_PNG_OK;
    d->reads_end = 1;
    if (setjmp(d->escape)) return alcedo_png_failure(d);
    d->rows = alcedo_png_rows_create(d, whole_limit);
    alcedo_png_transform(d);
    if (png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE) png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
    return ALCEDO_PNG_OK;
}

void alcedo_png_set_cancellation(alcedo_png_decoder *d, int (*is_canceled)(void)) { d->is_canceled = is_canceled; }

/// Jumps if the caller was canceled.
static void check_cancellation(alcedo_png_decoder *d) {
    if (!d->is_canceled || !d->is_canceled()) return;
    d->was_canceled = 1;
    png_error(d->png, "decoding was canceled");
}

size_t alcedo_png_check_room(alcedo_png_decoder *d, size_t stride, size_t rows, size_t capacity) {
    static const size_t sizes[] = {4, 1, 8, 2};
    const size_t row_bytes = png_get_rowbytes(d->png, d->info);
    if (row_bytes != (size_t)png_get_image_width(d->png, d->info) * sizes[d->format] || row_bytes > stride ||
        rows > capacity / stride) {
        png_error(d->png, "the output buffer is too small for the image");
    }
    return row_bytes;
}

alcedo_png_status alcedo_png_read_rows(
    alcedo_png_decoder *d, uint8_t *out, size_t stride, size_t rows, size_t capacity) {
    if (setjmp(d->escape)) return alcedo_png_failure(d);
    alcedo_png_check_room(d, stride, rows, capacity);
    const size_t width = png_get_image_width(d->png, d->info);
    if (rows > png_get_image_height(d->png, d->info) - d->progress.rows) {
        png_error(d->png, "the image has no more rows");
    }
    for (size_t y = 0; y < rows; y++) {
        uint8_t *row = out + y * stride;
        check_cancellation(d);
        if (!d->rows) {
            png_read_row(d->png, row, NULL);
        } else if (!alcedo_png_rows_read(d->rows, row)) {
            png_error(d->png, corrupt_file_message);
        }
        if (d->premultiplies) alcedo_png_premultiply(row, width, d->format == ALCEDO_PNG_RGBA16);
        d->progress.rows++;
    }
    return ALCEDO_PNG_OK;
}

alcedo_png_status alcedo_png_read_interlaced(alcedo_png_decoder *d, uint8_t *out, size_t stride, size_t capacity) {
    if (setjmp(d->escape)) return alcedo_png_failure(d);
    const size_t height = png_get_image_height(d->png, d->info);
    const size_t width = png_get_image_width(d->png, d->info);
    alcedo_png_check_room(d, stride, height, capacity);
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
        for (size_t y = 0; y < height; y++) {
            check_cancellation(d);
            png_read_row(d->png, out + y * stride, NULL);
        }
    }
    // Color is multiplied at the end, because later passes need the original samples.
    for (size_t y = 0; d->premultiplies && y < height; y++) {
        alcedo_png_premultiply(out + y * stride, width, d->format == ALCEDO_PNG_RGBA16);
    }
    return ALCEDO_PNG_OK;
}

alcedo_png_status alcedo_png_finish(alcedo_png_decoder *d) {
    if (setjmp(d->escape)) return alcedo_png_failure(d);
    if (!d->rows) {
        png_read_end(d->png, NULL);
    } else if (!alcedo_png_rows_finish(d->rows)) {
        png_error(d->png, corrupt_file_message);
    }
    if (d->progress.damage != d->header_damage) png_error(d->png, d->damage_message);
    return ALCEDO_PNG_OK;
}

void alcedo_png_premultiply(uint8_t *row, size_t width, int is_16_bit) {
    if (is_16_bit) {
        for (size_t x = 0; x < width; x++, row += 8) {
            uint16_t pixel[4];
            memcpy(pixel, row, 8);
            for (int c = 0; c < 3; c++) pixel[c] = (uint16_t)(((uint64_t)pixel[c] * pixel[3] + 32767) / 65535);
            memcpy(row, pixel, 8);
        }
        return;
    }
    for (size_t x = 0; x < width; x++, row += 4) {
        const uint32_t alpha = row[3];
        for (int c = 0; c < 3; c++) row[c] = (uint8_t)((row[c] * alpha + 127) / 255);
    }
}
