// Without the trait AVIF, the package builds without libavif.
#ifdef ALCEDO_AVIF
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/// The size that libavif assumes for a file whose bytes arrive in pieces. It limits what damaged boxes may allocate.
#define STREAM_SIZE_HINT ((uint64_t)1 << 28)
/// The maximum limit that libavif accepts.
#define PIXEL_LIMIT ((uint32_t)AVIF_DEFAULT_IMAGE_SIZE_LIMIT)

static avifResult read_bytes(avifIO *io, uint32_t flags, uint64_t offset, size_t size, avifROData *out) {
    (void)flags;
    const alcedo_avif_decoder *d = io->data;
    const avifResult missing = d->is_stream ? AVIF_RESULT_WAITING_ON_IO : AVIF_RESULT_IO_ERROR;
    if (offset > d->count) return missing;
    const size_t available = d->count - (size_t)offset;
    if (size > available) {
        if (d->is_stream) return AVIF_RESULT_WAITING_ON_IO;
        size = available;
    }
    out->data = d->bytes + offset;
    // libavif reads a header, or the contents of a box.
    const size_t start = (size_t)offset;
    if (d->repaired && start >= d->repaired_start && start - d->repaired_start < d->repaired_size) {
        const size_t rest = d->repaired_size - (start - d->repaired_start);
        if (size <= rest) out->data = d->repaired + (start - d->repaired_start);
    }
    out->size = size;
    return AVIF_RESULT_OK;
}

alcedo_avif_status alcedo_avif_status_of(avifResult result) {
    switch (result) {
        case AVIF_RESULT_OK:
            return ALCEDO_AVIF_OK;
        case AVIF_RESULT_TRUNCATED_DATA:
        case AVIF_RESULT_IO_ERROR:
            return ALCEDO_AVIF_TRUNCATED;
        case AVIF_RESULT_WAITING_ON_IO:
            return ALCEDO_AVIF_WAITING;
        case AVIF_RESULT_OUT_OF_MEMORY:
            return ALCEDO_AVIF_OUT_OF_MEMORY;
        // The conversion from YCbCr fails for matrix coefficients that libavif does not support.
        case AVIF_RESULT_REFORMAT_FAILED:
        case AVIF_RESULT_UNSUPPORTED_DEPTH:
        case AVIF_RESULT_NO_CODEC_AVAILABLE:
        case AVIF_RESULT_NOT_IMPLEMENTED:
            return ALCEDO_AVIF_UNSUPPORTED;
        default:
            return ALCEDO_AVIF_CORRUPT;
    }
}

static alcedo_avif_status status(alcedo_avif_decoder *d, avifResult result) {
    if (result != AVIF_RESULT_OK) {
        d->message = d->decoder->diag.error[0] ? d->decoder->diag.error : avifResultToString(result);
    }
    return alcedo_avif_status_of(result);
}

alcedo_avif_decoder *alcedo_avif_create(
    const uint8_t *bytes, size_t count, const alcedo_avif_decoder_settings *settings) {
    alcedo_avif_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->decoder = avifDecoderCreate();
    if (!d->decoder) {
        free(d);
        return NULL;
    }
    static const uint8_t none;
    d->bytes = bytes ? bytes : &none;
    d->count = bytes ? count : 0;
    d->is_stream = settings->is_stream;
    d->ignores_alpha = settings->ignores_alpha;
    d->frame_pixel_limit = settings->frame_pixel_limit;
    d->message = "";
    d->io.read = read_bytes;
    d->io.sizeHint = settings->is_stream ? STREAM_SIZE_HINT : count;
    d->io.persistent = settings->is_stream ? AVIF_FALSE : AVIF_TRUE;
    d->io.data = d;
    avifDecoderSetIO(d->decoder, &d->io);
    d->decoder->maxThreads = settings->threads;
    d->decoder->allowProgressive = settings->is_stream ? AVIF_TRUE : AVIF_FALSE;
    d->decoder->allowIncremental = settings->is_stream ? AVIF_TRUE : AVIF_FALSE;
    d->decoder->ignoreExif = settings->ignores_metadata ? AVIF_TRUE : AVIF_FALSE;
    d->decoder->ignoreXMP = settings->ignores_metadata ? AVIF_TRUE : AVIF_FALSE;
    d->decoder->imageSizeLimit = settings->pixel_limit < PIXEL_LIMIT ? settings->pixel_limit : PIXEL_LIMIT;
    // The limit of AV1. The number of pixels has its own limit.
    d->decoder->imageDimensionLimit = 65536;
    d->decoder->imageCountLimit = settings->frame_limit;
    // Many files violate the rules that libavif checks only in its strict mode. The caller checks the crop itself.
    d->decoder->strictFlags = AVIF_STRICT_DISABLED;
    if (!d->is_stream) alcedo_avif_repair(d, settings->hides_alpha);
    return d;
}

void alcedo_avif_destroy(alcedo_avif_decoder *d) {
    avifDecoderDestroy(d->decoder);
    free(d->rows);
    free(d->repaired);
    free(d);
}

void alcedo_avif_feed(alcedo_avif_decoder *d, const uint8_t *bytes, size_t count) {
    d->bytes = bytes;
    d->count = count;
    if (count > d->io.sizeHint) d->io.sizeHint = count;
}

static void read_transforms(const avifImage *image, alcedo_avif_info *info) {
    info->has_clap = (image->transformFlags & AVIF_TRANSFORM_CLAP) != 0;
    if (info->has_clap) {
        const uint32_t clap[8] = {
            image->clap.widthN,    image->clap.widthD,    image->clap.heightN,  image->clap.heightD,
            image->clap.horizOffN, image->clap.horizOffD, image->clap.vertOffN, image->clap.vertOffD,
        };
        memcpy(info->clap, clap, sizeof clap);
    }
    if (image->transformFlags & AVIF_TRANSFORM_IROT) info->rotation = image->irot.angle & 3;
    info->mirror = -1;
    if (image->transformFlags & AVIF_TRANSFORM_IMIR) {
#if AVIF_VERSION >= 1000000  // libavif 1.0 renamed the member
        info->mirror = image->imir.axis & 1;
#else
        info->mirror = image->imir.mode & 1;
#endif
    }
}

alcedo_avif_status alcedo_avif_read_header(alcedo_avif_decoder *d, alcedo_avif_info *info) {
    const alcedo_avif_status result = status(d, avifDecoderParse(d->decoder));
    if (result != ALCEDO_AVIF_OK) return result;
    // libavif passes its limit to the AV1 decoder when a frame is decoded. Before, it checks the size of a grid, which
    // is larger than that of its tiles.
    if (d->frame_pixel_limit < d->decoder->imageSizeLimit) d->decoder->imageSizeLimit = d->frame_pixel_limit;
    const avifDecoder *decoder = d->decoder;
    const avifImage *image = decoder->image;
    *info = (alcedo_avif_info){0};
    info->width = d->width = image->width;
    info->height = d->height = image->height;
    info->depth = image->depth;
    info->is_monochrome = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400;
    info->is_rgb = image->matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_IDENTITY && !info->is_monochrome;
    info->has_alpha = decoder->alphaPresent && !d->ignores_alpha;
    info->is_premultiplied = info->has_alpha && image->alphaPremultiplied;
    info->primaries = image->colorPrimaries;
    info->transfer = image->transferCharacteristics;
    info->matrix = image->matrixCoefficients;
    info->is_full_range = image->yuvRange == AVIF_RANGE_FULL;
    read_transforms(image, info);
    const uint32_t count = decoder->imageCount > 0 ? (uint32_t)decoder->imageCount : 1;
    const int has_layers = decoder->progressiveState == AVIF_PROGRESSIVE_STATE_ACTIVE;
    info->frame_count = has_layers ? 1 : count;
    info->layer_count = has_layers ? count : 1;
    info->timescale = decoder->timescale;
    info->icc = image->icc.size ? image->icc.data : NULL;
    info->icc_size = image->icc.size;
    info->exif = image->exif.size ? image->exif.data : NULL;
    info->exif_size = image->exif.size;
    info->xmp = image->xmp.size ? image->xmp.data : NULL;
    info->xmp_size = image->xmp.size;
    return ALCEDO_AVIF_OK;
}

alcedo_avif_status alcedo_avif_data_end(const alcedo_avif_decoder *d, uint32_t frame, uint64_t *end) {
    *end = 0;
    for (uint32_t index = 0; index <= frame; index++) {
        // The extent of a frame covers the frames before it up to the key frame.
        if (index < frame && !avifDecoderIsKeyframe(d->decoder, index + 1)) continue;
        avifExtent extent = {0, 0};
        const avifResult result = avifDecoderNthImageMaxExtent(d->decoder, index, &extent);
        if (result != AVIF_RESULT_OK) return alcedo_avif_status_of(result);
        if (extent.size > UINT64_MAX - extent.offset) return ALCEDO_AVIF_CORRUPT;
        if (extent.size && extent.offset + extent.size > *end) *end = extent.offset + extent.size;
    }
    return ALCEDO_AVIF_OK;
}

alcedo_avif_status alcedo_avif_read_frame(alcedo_avif_decoder *d, uint32_t frame) {
    const avifResult result = avifDecoderNthImage(d->decoder, frame);
    if (result == AVIF_RESULT_OK) {
        const avifImage *image = d->decoder->image;
        if (image->width != d->width || image->height != d->height || !image->yuvPlanes[AVIF_CHAN_Y]) {
            d->message = "a frame does not have the size in the header";
            return ALCEDO_AVIF_CORRUPT;
        }
    }
    return status(d, result);
}

uint32_t alcedo_avif_row_count(const alcedo_avif_decoder *d) {
    const avifImage *image = d->decoder->image;
    const uint32_t count = avifDecoderDecodedRowCount(d->decoder);
    const int is_usable = image->width == d->width && image->height == d->height && image->yuvPlanes[AVIF_CHAN_Y];
    return !is_usable ? 0 : count < d->height ? count : d->height;
}

const char *alcedo_avif_message(const alcedo_avif_decoder *d) { return d->message; }
#endif
