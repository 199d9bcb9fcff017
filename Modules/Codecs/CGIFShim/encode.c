#include "CGIFShim.h"

#include <gif_lib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#if GIFLIB_MAJOR * 10000 + GIFLIB_MINOR * 100 + GIFLIB_RELEASE < 50109
#error "AlcedoGIF needs giflib 5.1.9 or later"
#endif

struct alcedo_gif_encoder {
    GifFileType *gif;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    size_t limit;
    /// Whether bytes were refused because of the limit.
    int is_full;
    int error;
};

static int write_output(GifFileType *gif, const GifByteType *bytes, int count) {
    alcedo_gif_encoder *e = gif->UserData;
    const size_t needed = e->count + (size_t)count;
    if (needed > e->limit) {
        e->is_full = 1;
        return 0;
    }
    if (needed > e->capacity) {
        size_t capacity = e->capacity ? e->capacity * 2 : 4096;
        while (capacity < needed) capacity *= 2;
        if (capacity > e->limit) capacity = e->limit;
        uint8_t *grown = realloc(e->bytes, capacity);
        if (!grown) return 0;
        e->bytes = grown;
        e->capacity = capacity;
    }
    memcpy(e->bytes + e->count, bytes, (size_t)count);
    e->count = needed;
    return count;
}

alcedo_gif_encoder *alcedo_gif_encoder_create(size_t limit) {
    alcedo_gif_encoder *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->limit = limit;
    e->gif = EGifOpen(e, write_output, &e->error);
    if (!e->gif) {
        free(e);
        return NULL;
    }
    return e;
}

/// Writes the trailer and closes the file. Returns 0 on failure. giflib frees its object even then, and does not report
/// a trailer that could not be written.
static int close_file(alcedo_gif_encoder *e) {
    if (!e->gif) return 1;
    const int result = EGifCloseFile(e->gif, &e->error);
    e->gif = NULL;
    return result != GIF_ERROR;
}

void alcedo_gif_encoder_destroy(alcedo_gif_encoder *e) {
    close_file(e);
    free(e->bytes);
    free(e);
}

static int put_application(GifFileType *gif, const char *name, const uint8_t *data, size_t count) {
    if (EGifPutExtensionLeader(gif, APPLICATION_EXT_FUNC_CODE) == GIF_ERROR) return 0;
    if (EGifPutExtensionBlock(gif, 11, name) == GIF_ERROR) return 0;
    for (size_t offset = 0; offset < count; offset += 255) {
        const size_t left = count - offset;
        if (EGifPutExtensionBlock(gif, left < 255 ? (int)left : 255, data + offset) == GIF_ERROR) return 0;
    }
    return EGifPutExtensionTrailer(gif) != GIF_ERROR;
}

/// Writes an XMP packet, which is not divided into blocks. A reader that does not know it jumps to the trailer, in
/// which every length leads to the terminator. Source: XMP specification part 3, section 1.1.2.
static int put_xmp(alcedo_gif_encoder *e, const uint8_t *xmp, size_t count) {
    uint8_t trailer[257] = {1};
    for (int i = 0; i < 256; i++) trailer[i + 1] = (uint8_t)(255 - i);
    return EGifPutExtensionLeader(e->gif, APPLICATION_EXT_FUNC_CODE) != GIF_ERROR &&
        EGifPutExtensionBlock(e->gif, 11, "XMP DataXMP") != GIF_ERROR &&
        write_output(e->gif, xmp, (int)count) == (int)count &&
        write_output(e->gif, trailer, sizeof trailer) == sizeof trailer && EGifPutExtensionTrailer(e->gif) != GIF_ERROR;
}

int alcedo_gif_encoder_begin(
    alcedo_gif_encoder *e, uint32_t width, uint32_t height, int32_t loop_count, const uint8_t *icc, size_t icc_size,
    const uint8_t *xmp, size_t xmp_size) {
    EGifSetGifVersion(e->gif, true);
    if (EGifPutScreenDesc(e->gif, (int)width, (int)height, 8, 0, NULL) == GIF_ERROR) return 0;
    if (loop_count >= 0) {
        const uint8_t block[3] = {1, (uint8_t)(loop_count & 255), (uint8_t)(loop_count >> 8 & 255)};
        if (!put_application(e->gif, "NETSCAPE2.0", block, sizeof block)) return 0;
    }
    if (icc && icc_size && !put_application(e->gif, "ICCRGBG1012", icc, icc_size)) return 0;
    return !xmp || !xmp_size || xmp_size > INT_MAX || put_xmp(e, xmp, xmp_size);
}

/// Creates a color map. giflib requires the number of colors to be a power of two. Returns NULL when memory is
/// exhausted.
static ColorMapObject *make_map(const alcedo_gif_image *image) {
    int count = 2;
    while (count < (int)image->color_count) count *= 2;
    ColorMapObject *map = GifMakeMapObject(count, NULL);
    for (uint32_t i = 0; map && i < image->color_count; i++) {
        map->Colors[i] = (GifColorType){image->palette[3 * i], image->palette[3 * i + 1], image->palette[3 * i + 2]};
    }
    return map;
}

int alcedo_gif_encoder_add(alcedo_gif_encoder *e, const alcedo_gif_image *image) {
    const GraphicsControlBlock control = {
        .DisposalMode = (int)image->disposal,
        .UserInputFlag = false,
        .DelayTime = (int)image->delay,
        .TransparentColor = image->transparent_index,
    };
    GifByteType block[4];
    EGifGCBToExtension(&control, block);
    if (EGifPutExtension(e->gif, GRAPHICS_EXT_FUNC_CODE, sizeof block, block) == GIF_ERROR) return 0;
    ColorMapObject *map = make_map(image);
    if (!map) {
        e->error = E_GIF_ERR_NOT_ENOUGH_MEM;
        return 0;
    }
    const int described = EGifPutImageDesc(
        e->gif, (int)image->left, (int)image->top, (int)image->width, (int)image->height, false, map);
    GifFreeMapObject(map);
    if (described == GIF_ERROR) return 0;
    for (uint32_t y = 0; y < image->height; y++) {
        if (image->is_canceled && image->is_canceled()) return 0;
        GifByteType *row = image->indices + (size_t)y * image->width;
        if (EGifPutLine(e->gif, row, (int)image->width) == GIF_ERROR) return 0;
    }
    return 1;
}

int alcedo_gif_encoder_finish(alcedo_gif_encoder *e, uint8_t **bytes, size_t *count) {
    if (!close_file(e) || e->is_full) return 0;
    *bytes = e->bytes;
    *count = e->count;
    e->bytes = NULL;
    return 1;
}

int alcedo_gif_encoder_is_full(const alcedo_gif_encoder *e) { return e->is_full; }

void alcedo_gif_free(uint8_t *bytes) { free(bytes); }

const char *alcedo_gif_encoder_message(const alcedo_gif_encoder *e) {
    const char *text = GifErrorString(e->gif && e->gif->Error ? e->gif->Error : e->error);
    return text ? text : "giflib failed";
}
