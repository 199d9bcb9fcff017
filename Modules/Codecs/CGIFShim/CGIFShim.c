#include "CGIFShim.h"

#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

struct alcedo_gif_decoder {
    const uint8_t *bytes;
    size_t count;
    size_t offset;
    // Set when the library wanted more than there is: tells a cut file from a damaged one.
    int ended;
    GifFileType *file;
    int error;
    size_t rows_left;
};

static int read_bytes(GifFileType *file, GifByteType *out, int wanted) {
    alcedo_gif_decoder *decoder = file->UserData;
    if (wanted <= 0) return 0;
    size_t length = (size_t)wanted;
    size_t available = decoder->count - decoder->offset;
    if (length > available) {
        decoder->ended = 1;
        length = available;
    }
    memcpy(out, decoder->bytes + decoder->offset, length);
    decoder->offset += length;
    return (int)length;
}

static alcedo_gif_status failure(alcedo_gif_decoder *decoder) {
    if (decoder->file != NULL) decoder->error = decoder->file->Error;
    if (decoder->error == D_GIF_ERR_NOT_ENOUGH_MEM) return ALCEDO_GIF_OUT_OF_MEMORY;
    return decoder->ended ? ALCEDO_GIF_TRUNCATED : ALCEDO_GIF_CORRUPT;
}

// Reads one extension. A graphic control counts for the next image, unless a plain text uses it up first.
static int read_extension(GifFileType *file, int32_t *transparent_index) {
    int code;
    GifByteType *block;
    if (DGifGetExtension(file, &code, &block) == GIF_ERROR) return GIF_ERROR;
    if (code == PLAINTEXT_EXT_FUNC_CODE) *transparent_index = NO_TRANSPARENT_COLOR;
    GraphicsControlBlock control;
    if (code == GRAPHICS_EXT_FUNC_CODE && block != NULL
        && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        *transparent_index = control.TransparentColor;
    }
    while (block != NULL) {
        if (DGifGetExtensionNext(file, &block) == GIF_ERROR) return GIF_ERROR;
    }
    return GIF_OK;
}

alcedo_gif_decoder *alcedo_gif_create(const uint8_t *bytes, size_t count) {
    alcedo_gif_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) return NULL;
    decoder->bytes = bytes;
    decoder->count = count;
    return decoder;
}

void alcedo_gif_destroy(alcedo_gif_decoder *decoder) {
    if (decoder == NULL) return;
    int error;
    if (decoder->file != NULL) DGifCloseFile(decoder->file, &error);
    free(decoder);
}

alcedo_gif_status alcedo_gif_read_header(alcedo_gif_decoder *decoder, alcedo_gif_frame *frame) {
    if (decoder->file != NULL) return ALCEDO_GIF_CORRUPT;
    decoder->file = DGifOpen(decoder, read_bytes, &decoder->error);
    if (decoder->file == NULL) return failure(decoder);

    GifFileType *file = decoder->file;
    int32_t transparent_index = NO_TRANSPARENT_COLOR;
    for (;;) {
        GifRecordType type;
        if (DGifGetRecordType(file, &type) == GIF_ERROR) return failure(decoder);
        if (type == TERMINATE_RECORD_TYPE) return ALCEDO_GIF_NO_IMAGE;
        if (type == EXTENSION_RECORD_TYPE) {
            if (read_extension(file, &transparent_index) == GIF_ERROR) return failure(decoder);
            continue;
        }
        if (type != IMAGE_DESC_RECORD_TYPE) return ALCEDO_GIF_CORRUPT;
        if (DGifGetImageDesc(file) == GIF_OK) break;
        alcedo_gif_status status = failure(decoder);
        // With the bytes and the memory there, all that the library refuses is a first code of more than 8 bits.
        return status == ALCEDO_GIF_CORRUPT ? ALCEDO_GIF_UNSUPPORTED : status;
    }
    frame->left = (uint32_t)file->Image.Left;
    frame->top = (uint32_t)file->Image.Top;
    frame->width = (uint32_t)file->Image.Width;
    frame->height = (uint32_t)file->Image.Height;
    frame->interlaced = file->Image.Interlace;
    frame->transparent_index = transparent_index;
    // The library takes a row of no width for a whole row, so such an image has no rows here.
    decoder->rows_left = frame->width == 0 ? 0 : frame->height;
    return ALCEDO_GIF_OK;
}

size_t alcedo_gif_copy_palette(const alcedo_gif_decoder *decoder, uint8_t *rgb, size_t capacity) {
    if (decoder->file == NULL) return 0;
    const ColorMapObject *map = decoder->file->Image.ColorMap;
    if (map == NULL) map = decoder->file->SColorMap;
    if (map == NULL || map->ColorCount <= 0) return 0;
    size_t count = (size_t)map->ColorCount < capacity ? (size_t)map->ColorCount : capacity;
    for (size_t index = 0; index < count; index++) {
        *rgb++ = map->Colors[index].Red;
        *rgb++ = map->Colors[index].Green;
        *rgb++ = map->Colors[index].Blue;
    }
    return count;
}

alcedo_gif_status alcedo_gif_read_row(alcedo_gif_decoder *decoder, uint8_t *indices, size_t capacity) {
    if (decoder->file == NULL || decoder->rows_left == 0) return ALCEDO_GIF_CORRUPT;
    int width = decoder->file->Image.Width;
    if (width <= 0 || (size_t)width > capacity) return ALCEDO_GIF_CORRUPT;
    if (DGifGetLine(decoder->file, indices, width) == GIF_ERROR) return failure(decoder);
    decoder->rows_left--;
    return ALCEDO_GIF_OK;
}

const char *alcedo_gif_message(const alcedo_gif_decoder *decoder) {
    const char *message = GifErrorString(decoder->error);
    return message != NULL ? message : "the blocks of the GIF contradict its format";
}
