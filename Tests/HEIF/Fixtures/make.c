// Makes the fixtures, as README.md describes.
#include <libheif/heif.h>
#include <stdint.h>
#include <stdio.h>

#define SIDE 64

typedef int (*formula)(int x, int y);

static int luma8(int x, int y) { return 40 + 2 * x + y; }
static int blue8(int x, int y) { return 90 + x + y / 2; }
static int red8(int x, int y) { return 200 - x / 2 - 3 * (y / 2); }
static int gray8(int x, int y) { return 3 * x + y; }
static int luma10(int x, int y) { return 100 + 12 * x + 2 * y; }
static int blue10(int x, int y) { return 400 + 5 * (x / 2) + 3 * (y / 2); }
static int red10(int x, int y) { return 800 - 4 * (x / 2) - 9 * (y / 2); }

/// Adds a plane whose samples are those of every `across`-th column and every `down`-th row.
static void add_plane(struct heif_image *image, enum heif_channel channel, int bits, formula f, int across, int down) {
    heif_image_add_plane(image, channel, SIDE / across, SIDE / down, bits);
    int stride = 0;
    uint8_t *plane = heif_image_get_plane(image, channel, &stride);
    for (int y = 0; y < SIDE / down; y++) {
        for (int x = 0; x < SIDE / across; x++) {
            const int value = f(x * across, y * down);
            if (bits > 8) {
                ((uint16_t *)(void *)(plane + y * stride))[x] = (uint16_t)value;
            } else {
                plane[y * stride + x] = (uint8_t)value;
            }
        }
    }
}

static struct heif_image *make_image(enum heif_chroma chroma, int bits) {
    const int is_gray = chroma == heif_chroma_monochrome;
    struct heif_image *image = NULL;
    heif_image_create(SIDE, SIDE, is_gray ? heif_colorspace_monochrome : heif_colorspace_YCbCr, chroma, &image);
    add_plane(image, heif_channel_Y, bits, is_gray ? gray8 : bits > 8 ? luma10 : luma8, 1, 1);
    if (is_gray) return image;
    const int across = chroma == heif_chroma_444 ? 1 : 2;
    const int down = chroma == heif_chroma_420 ? 2 : 1;
    add_plane(image, heif_channel_Cb, bits, bits > 8 ? blue10 : blue8, across, down);
    add_plane(image, heif_channel_Cr, bits, bits > 8 ? red10 : red8, across, down);
    return image;
}

static int make(const char *name, enum heif_chroma chroma, const char *layout, int bits) {
    struct heif_image *image = make_image(chroma, bits);
    struct heif_color_profile_nclx *color = heif_nclx_color_profile_alloc();
    color->color_primaries = 1;
    color->transfer_characteristics = 13;
    color->matrix_coefficients = 6;
    color->full_range_flag = 1;
    heif_image_set_nclx_color_profile(image, color);
    struct heif_context *context = heif_context_alloc();
    struct heif_encoder *encoder = NULL;
    heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder);
    heif_encoder_set_lossless(encoder, 1);
    if (layout) heif_encoder_set_parameter_string(encoder, "chroma", layout);
    // Without the settings of the encoder as text.
    heif_encoder_set_parameter_string(encoder, "x265:info", "0");
    struct heif_encoding_options *options = heif_encoding_options_alloc();
    options->output_nclx_profile = color;
    struct heif_image_handle *handle = NULL;
    const struct heif_error error = heif_context_encode_image(context, image, encoder, options, &handle);
    if (error.code != heif_error_Ok) return fprintf(stderr, "%s: %s\n", name, error.message), 1;
    return heif_context_write_to_file(context, name).code != heif_error_Ok;
}

int main(void) {
    return make("half.heic", heif_chroma_420, "420", 8) || make("halfwidth.heic", heif_chroma_422, "422", 8)
           || make("full.heic", heif_chroma_444, "444", 8) || make("gray.heic", heif_chroma_monochrome, NULL, 8)
           || make("deep.heic", heif_chroma_420, "420", 10);
}
