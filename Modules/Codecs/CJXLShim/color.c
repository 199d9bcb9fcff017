#ifdef ALCEDO_JXL
#include "internal.h"

#include <jxl/encode.h>
#include <stdlib.h>

#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)  // libjxl 0.9 removed an unused parameter
#define WITH_FORMAT(d) (d)
#else
#define WITH_FORMAT(d) (d), NULL
#endif

static int is_srgb(const JxlColorEncoding *color) {
    if (color->transfer_function != JXL_TRANSFER_FUNCTION_SRGB || color->white_point != JXL_WHITE_POINT_D65) return 0;
    return color->color_space == JXL_COLOR_SPACE_GRAY ||
           (color->color_space == JXL_COLOR_SPACE_RGB && color->primaries == JXL_PRIMARIES_SRGB);
}

/// Sets the code points of a color space of HDR. Those of libjxl are equal, except that D65 turns 11 into 12.
static void set_hdr(alcedo_jxl_info *info, const JxlColorEncoding *color) {
    const int is_hdr = color->transfer_function == JXL_TRANSFER_FUNCTION_PQ ||
                       color->transfer_function == JXL_TRANSFER_FUNCTION_HLG;
    if (!is_hdr || color->white_point != JXL_WHITE_POINT_D65) return;
    int primaries = 1;
    if (color->color_space == JXL_COLOR_SPACE_RGB) {
        primaries = color->primaries == JXL_PRIMARIES_P3 ? 12 : (int)color->primaries;
        if (primaries != 1 && primaries != 9 && primaries != 12) return;
    }
    info->hdr_primaries = (uint8_t)primaries;
    info->hdr_transfer = (uint8_t)color->transfer_function;
}

/// Returns a copy of a profile, or NULL when there is none within the limit.
static uint8_t *copy_profile(const alcedo_jxl_decoder *d, JxlColorProfileTarget target, size_t *size) {
    *size = 0;
    size_t count = 0;
    if (JxlDecoderGetICCProfileSize(WITH_FORMAT(d->decoder), target, &count) != JXL_DEC_SUCCESS) return NULL;
    if (count == 0 || count > d->profile_limit) return NULL;
    uint8_t *profile = malloc(count);
    if (!profile) return NULL;
    if (JxlDecoderGetColorAsICCProfile(WITH_FORMAT(d->decoder), target, profile, count) != JXL_DEC_SUCCESS) {
        free(profile);
        return NULL;
    }
    *size = count;
    return profile;
}

void alcedo_jxl_read_color(alcedo_jxl_decoder *d, alcedo_jxl_info *info) {
    JxlColorEncoding color;
    const JxlColorProfileTarget original = JXL_COLOR_PROFILE_TARGET_ORIGINAL;
    info->has_profile =
        JxlDecoderGetColorAsEncodedProfile(WITH_FORMAT(d->decoder), original, &color) != JXL_DEC_SUCCESS;
    free(d->file_icc);
    d->file_icc = info->has_profile ? copy_profile(d, original, &info->file_icc_size) : NULL;
    info->file_icc = d->file_icc;
    // Without a request, libjxl decodes XYB to linear samples, for which 8 bits are too few, if the file has a profile
    // or is linear itself. Of a linear file, the primaries are kept.
    const int is_linear = !info->has_profile && color.transfer_function == JXL_TRANSFER_FUNCTION_LINEAR;
    if ((info->has_profile || is_linear) && !d->basic.uses_original_profile) {
        if (info->has_profile) JxlColorEncodingSetToSRGB(&color, info->is_gray);
        color.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
        JxlDecoderSetPreferredColorProfile(d->decoder, &color);
    }
    const JxlColorProfileTarget samples = JXL_COLOR_PROFILE_TARGET_DATA;
    const int is_encoded =
        JxlDecoderGetColorAsEncodedProfile(WITH_FORMAT(d->decoder), samples, &color) == JXL_DEC_SUCCESS;
    info->is_srgb = is_encoded && is_srgb(&color);
    info->hdr_primaries = info->hdr_transfer = 0;
    if (is_encoded) set_hdr(info, &color);
    free(d->samples_icc);
    d->samples_icc = info->is_srgb ? NULL : copy_profile(d, samples, &info->samples_icc_size);
    info->samples_icc = d->samples_icc;
}
#endif
