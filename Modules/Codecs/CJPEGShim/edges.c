#include "internal.h"

#include <math.h>
#include <string.h>

// The last blocks of rows and columns can lie partly outside of the image. What an encoder, or a tool that crops
// without decoding, has left there is not part of the image. libjpeg's scaled transforms mix it into the samples at the
// edge: each sample is computed from the whole block. Such blocks are therefore transformed here: at full size, with
// the last visible column and row continued to the end of the block, then reduced like the other blocks.

// The beginning of libjpeg's own structure, which no installed header has. It is the same in all versions since 6b.
struct jpeg_inverse_dct {
    void (*start_pass)(j_decompress_ptr cinfo);
    void (*inverse_DCT[MAX_COMPONENTS])(
        j_decompress_ptr cinfo, jpeg_component_info *component, JCOEFPTR block, JSAMPARRAY output, JDIMENSION column);
};

/// Returns the number of samples of a component at full size whose pixels are all visible, along one side of the image.
/// A sample that also covers pixels outside of the image is a mean with them and is left out, unless there is no other.
static JDIMENSION length(JDIMENSION side, int factor, int maximum) {
    const uint64_t count = (uint64_t)side * (uint64_t)factor / (uint64_t)maximum;
    return count == 0 ? 1 : (JDIMENSION)count;
}

static JDIMENSION component_width(const struct jpeg_decompress_struct *c, const jpeg_component_info *component) {
    return length(c->image_width, component->h_samp_factor, c->max_h_samp_factor);
}

static JDIMENSION component_height(const struct jpeg_decompress_struct *c, const jpeg_component_info *component) {
    return length(c->image_height, component->v_samp_factor, c->max_v_samp_factor);
}

int alcedo_jpeg_has_cut_blocks(const struct jpeg_decompress_struct *c, const jpeg_component_info *component) {
    return component_width(c, component) != component->width_in_blocks * DCTSIZE ||
           component_height(c, component) != component->height_in_blocks * DCTSIZE;
}

int alcedo_jpeg_shows_padding(const alcedo_jpeg_decoder *d) {
    const struct jpeg_decompress_struct *c = &d->cinfo;
    if (c->progressive_mode) return 0;
    for (int i = 0; i < c->num_components; i++) {
        const jpeg_component_info *component = &c->comp_info[i];
        if (alcedo_jpeg_block_side(component) == 1 && alcedo_jpeg_has_cut_blocks(c, component)) return 1;
    }
    return 0;
}

/// Returns the cosine of wave `frequency` at the center of sample `index` of `count`, for an orthonormal transform.
static float wave(int frequency, int index, int count) {
    const double pi = 3.14159265358979323846;
    const double scale = sqrt((frequency == 0 ? 1.0 : 2.0) / count);
    return (float)(scale * cos((2 * index + 1) * frequency * pi / (2 * count)));
}

/// Sets the factors of ``transform``, which reduces each block to `side` * `side` samples.
static void prepare(alcedo_jpeg_edge *edge, int side) {
    for (int u = 0; u < DCTSIZE; u++) {
        for (int x = 0; x < DCTSIZE; x++) edge->waves[u][x] = wave(u, x, DCTSIZE);
    }
    for (int s = 0; s < side; s++) {
        for (int x = 0; x < DCTSIZE; x++) {
            float sum = 0;
            for (int u = 0; u < side; u++) sum += edge->waves[u][x] * wave(u, s, side);
            edge->reduction[s][x] = sum * sqrtf((float)side / DCTSIZE);
        }
    }
}

/// Transforms a block of which `width` columns and `height` rows are visible to `side` * `side` samples.
static void transform(
    const alcedo_jpeg_edge *edge, const jpeg_component_info *component, const JCOEF *block, int width, int height,
    int side, JSAMPARRAY output, JDIMENSION column) {
    float full[DCTSIZE], half[DCTSIZE][DCTSIZE], samples[DCTSIZE][DCTSIZE], reduced[DCTSIZE][DCTSIZE];
    const float(*const waves)[DCTSIZE] = edge->waves, (*const reduction)[DCTSIZE] = edge->reduction;
    for (int v = 0; v < DCTSIZE; v++) {
        for (int u = 0; u < DCTSIZE; u++) {
            full[u] = (float)block[v * DCTSIZE + u] * component->quant_table->quantval[v * DCTSIZE + u];
        }
        for (int x = 0; x < DCTSIZE; x++) {
            half[v][x] = 0;
            for (int u = 0; u < DCTSIZE; u++) half[v][x] += full[u] * waves[u][x < width ? x : width - 1];
        }
    }
    for (int y = 0; y < DCTSIZE; y++) {
        for (int x = 0; x < DCTSIZE; x++) {
            float sum = CENTERJSAMPLE;
            for (int v = 0; v < DCTSIZE; v++) sum += half[v][x] * waves[v][y < height ? y : height - 1];
            samples[y][x] = fminf(fmaxf(sum, 0), MAXJSAMPLE);
        }
        for (int s = 0; s < side; s++) {
            reduced[y][s] = 0;
            for (int x = 0; x < DCTSIZE; x++) reduced[y][s] += samples[y][x] * reduction[s][x];
        }
    }
    for (int t = 0; t < side; t++) {
        for (int s = 0; s < side; s++) {
            float sum = 0.5f;
            for (int y = 0; y < DCTSIZE; y++) sum += reduced[y][s] * reduction[t][y];
            output[t][column + (JDIMENSION)s] = (JSAMPLE)fminf(fmaxf(sum, 0), MAXJSAMPLE);
        }
    }
}

/// Returns how many of the eight samples of block `index` are visible, in a component of `length` samples.
static JDIMENSION visible_count(JDIMENSION length, JDIMENSION index) {
    const JDIMENSION first = index * DCTSIZE;
    if (first >= length) return 0;
    return length - first < DCTSIZE ? length - first : DCTSIZE;
}

static void transform_visible(
    j_decompress_ptr cinfo, jpeg_component_info *component, JCOEFPTR block, JSAMPARRAY output, JDIMENSION column) {
    alcedo_jpeg_decoder *d = cinfo->client_data;
    alcedo_jpeg_edge *edge = &d->edges[component->component_index];
    // The first block of a row of MCUs is in its first row of blocks.
    if (!edge->rows || edge->mcu_row != cinfo->output_iMCU_row) {
        edge->mcu_row = cinfo->output_iMCU_row;
        edge->rows = output;
    }
    const JDIMENSION side = (JDIMENSION)alcedo_jpeg_block_side(component);
    const JDIMENSION row = cinfo->output_iMCU_row * (JDIMENSION)component->v_samp_factor +
                           (JDIMENSION)(output - edge->rows) / side;
    const JDIMENSION width = visible_count(component_width(cinfo, component), column / side);
    const JDIMENSION height = visible_count(component_height(cinfo, component), row);
    // The first block of each row and column has a visible sample.
    if (height == 0) {
        for (JDIMENSION y = 0; y < side; y++) memcpy(output[y] + column, edge->above + column, side);
    } else if (width == 0) {
        for (JDIMENSION y = 0; y < side; y++) memset(output[y] + column, output[y][column - 1], side);
    } else if (width == DCTSIZE && height == DCTSIZE) {
        edge->transform(cinfo, component, block, output, column);
    } else {
        transform(edge, component, block, (int)width, (int)height, (int)side, output, column);
    }
    if (row + 2 == component->height_in_blocks) memcpy(edge->above + column, output[side - 1] + column, side);
}

void alcedo_jpeg_hide_padding(alcedo_jpeg_decoder *d) {
    struct jpeg_decompress_struct *c = &d->cinfo;
    // At full size, pixels outside of the image have samples of their own, which are not shown.
    if (c->scale_num >= c->scale_denom) return;
    if (c->idct->inverse_DCT[0] == alcedo_jpeg_examine_block) return;
    for (int i = 0; i < c->num_components; i++) {
        const jpeg_component_info *component = &c->comp_info[i];
        if (!component->component_needed || !component->quant_table || !alcedo_jpeg_has_cut_blocks(c, component)) {
            continue;
        }
        if (c->idct->inverse_DCT[i] == transform_visible) continue;
        alcedo_jpeg_edge *edge = &d->edges[i];
        edge->transform = c->idct->inverse_DCT[i];
        edge->rows = NULL;
        if (!edge->above) {
            prepare(edge, alcedo_jpeg_block_side(component));
            const size_t size = (size_t)component->width_in_blocks * (size_t)alcedo_jpeg_block_side(component);
            edge->above = memset(c->mem->alloc_large((j_common_ptr)c, JPOOL_IMAGE, size), 0, size);
        }
        c->idct->inverse_DCT[i] = transform_visible;
    }
    // At an eighth, the other coefficients are not decoded.
    const jpeg_component_info *first = &c->comp_info[0];
    if (d->details.is_watched && first->quant_table && alcedo_jpeg_block_side(first) > 1) {
        d->details.transform = c->idct->inverse_DCT[0];
        d->details.side = alcedo_jpeg_block_side(first);
        c->idct->inverse_DCT[0] = alcedo_jpeg_examine_block;
    }
}
