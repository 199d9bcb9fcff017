#include "CReferenceDecoders.h"

#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *bytes;
    size_t count;
    size_t offset;
} reference_input;

static int read_input(GifFileType *gif, GifByteType *out, int count) {
    reference_input *input = gif->UserData;
    const size_t left = input->count - input->offset;
    const size_t taken = (size_t)count < left ? (size_t)count : left;
    memcpy(out, input->bytes + input->offset, taken);
    input->offset += taken;
    return (int)taken;
}

static void draw_row(
    const GifFileType *gif, const ColorMapObject *map, int transparent, const GifByteType *row, uint8_t *out, int y) {
    if (y >= gif->SHeight) return;
    out += ((size_t)y * (size_t)gif->SWidth + (size_t)gif->Image.Left) * 4;
    for (int x = 0; x < gif->Image.Width && gif->Image.Left + x < gif->SWidth; x++) {
        if (row[x] == transparent || row[x] >= map->ColorCount) continue;
        const GifColorType color = map->Colors[row[x]];
        out[4 * x] = color.Red;
        out[4 * x + 1] = color.Green;
        out[4 * x + 2] = color.Blue;
        out[4 * x + 3] = 255;
    }
}

/// Returns the image's pixels, 0 on any error.
static size_t draw_image(GifFileType *gif, uint8_t *canvas, int transparent) {
    static const int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    if (DGifGetImageDesc(gif) == GIF_ERROR) return 0;
    const ColorMapObject *map = gif->Image.ColorMap ? gif->Image.ColorMap : gif->SColorMap;
    GifByteType *row = malloc((size_t)gif->Image.Width);
    size_t rows = 0;
    const int passes = gif->Image.Interlace ? 4 : 1;
    for (int pass = 0; map && row && pass < passes; pass++) {
        const int step = passes == 1 ? 1 : steps[pass];
        for (int y = passes == 1 ? 0 : starts[pass]; y < gif->Image.Height; y += step) {
            if (DGifGetLine(gif, row, gif->Image.Width) == GIF_ERROR) break;
            draw_row(gif, map, transparent, row, canvas, gif->Image.Top + y);
            rows++;
        }
    }
    free(row);
    return rows == (size_t)gif->Image.Height ? rows * (size_t)gif->Image.Width : 0;
}

size_t alcedo_reference_decode_gif_frames(const uint8_t *bytes, size_t count, size_t limit) {
    reference_input input = {bytes, count, 0};
    GifFileType *gif = DGifOpen(&input, read_input, NULL);
    if (!gif) return 0;
    uint8_t *canvas = calloc((size_t)gif->SWidth * (size_t)gif->SHeight, 4);
    size_t result = 0, frame_count = 0;
    int transparent = -1;
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    while (canvas && frame_count < limit && type != TERMINATE_RECORD_TYPE) {
        if (DGifGetRecordType(gif, &type) == GIF_ERROR) break;
        if (type == IMAGE_DESC_RECORD_TYPE) {
            const size_t pixels = draw_image(gif, canvas, transparent);
            if (!pixels) break;
            result += pixels;
            frame_count++;
            transparent = -1;
        } else if (type == EXTENSION_RECORD_TYPE) {
            int code = 0;
            GifByteType *block = NULL;
            if (DGifGetExtension(gif, &code, &block) == GIF_ERROR) break;
            GraphicsControlBlock control;
            if (code == GRAPHICS_EXT_FUNC_CODE && block && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
                transparent = control.TransparentColor;
            }
            while (block && DGifGetExtensionNext(gif, &block) != GIF_ERROR) {}
        }
    }
    free(canvas);
    DGifCloseFile(gif, NULL);
    return frame_count == limit || type == TERMINATE_RECORD_TYPE ? result : 0;
}

size_t alcedo_reference_decode_gif(const uint8_t *bytes, size_t count) {
    return alcedo_reference_decode_gif_frames(bytes, count, SIZE_MAX);
}
