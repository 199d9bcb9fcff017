#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The maximum size of one allocation of Little CMS. It allocates a table before it finds that the profile ends within
/// it. A table with 8-bit samples in the largest profile, of 4 MiB, needs twice the bytes of the profile.
enum { MAXIMUM_ALLOCATION_SIZE = 16 << 20 };

void alcedo_color_set_message(char *message, const char *text) {
    snprintf(message, ALCEDO_COLOR_MESSAGE_SIZE, "%s", text);
}

static void keep_message(cmsContext context, cmsUInt32Number code, const char *text) {
    (void)code;
    struct alcedo_color_transform *t = cmsGetContextUserData(context);
    // The first message names the cause.
    if (t && t->message && !t->message[0]) alcedo_color_set_message(t->message, text);
}

static void *allocate(cmsContext context, cmsUInt32Number size) {
    (void)context;
    return size > 0 && size <= MAXIMUM_ALLOCATION_SIZE ? malloc(size) : NULL;
}

static void *reallocate(cmsContext context, void *memory, cmsUInt32Number size) {
    (void)context;
    return size > 0 && size <= MAXIMUM_ALLOCATION_SIZE ? realloc(memory, size) : NULL;
}

static void release(cmsContext context, void *memory) {
    (void)context;
    free(memory);
}

static cmsContext make_context(struct alcedo_color_transform *t) {
    cmsPluginMemHandler plugin = {
        .base = {.Magic = cmsPluginMagicNumber, .ExpectedVersion = 2060, .Type = cmsPluginMemHandlerSig},
        .MallocPtr = allocate,
        .FreePtr = release,
        .ReallocPtr = reallocate,
    };
    cmsContext context = cmsCreateContext(&plugin, t);
    if (context) cmsSetLogErrorHandlerTHR(context, keep_message);
    return context;
}

/// Creates a profile of the target with the curve of sRGB.
static cmsHPROFILE target_profile(cmsContext context, alcedo_color_target target) {
    const cmsCIExyY white = {0.3127, 0.3290, 1};
    const cmsCIExyYTRIPLE primaries[2] = {
        {{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}},
        {{0.68, 0.32, 1}, {0.265, 0.69, 1}, {0.15, 0.06, 1}},
    };
    const double parameters[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *curve = cmsBuildParametricToneCurve(context, 4, parameters);
    if (!curve) return NULL;
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsHPROFILE profile = cmsCreateRGBProfileTHR(context, &white, &primaries[target], curves);
    cmsFreeToneCurve(curve);
    return profile;
}

static cmsHTRANSFORM make_transform(
    struct alcedo_color_transform *t, cmsHPROFILE profile, cmsUInt32Number from, cmsUInt32Number to,
    const alcedo_color_settings *settings, cmsUInt32Number flags) {
    cmsHPROFILE target = target_profile(t->context, settings->target);
    if (!target) return NULL;
    // Without its cache of one pixel, a transform can be used by several threads in all versions of the library.
    flags |= cmsFLAGS_NOCACHE | (settings->compensates_black_point ? cmsFLAGS_BLACKPOINTCOMPENSATION : 0);
    cmsHTRANSFORM transform = cmsCreateTransformTHR(
        t->context, profile, from, target, to, INTENT_RELATIVE_COLORIMETRIC, flags);
    cmsCloseProfile(target);
    return transform;
}

/// Makes the curve for a gray profile: the result for each of its 256 or 65,536 samples.
static alcedo_color_status make_curve(
    struct alcedo_color_transform *t, cmsHPROFILE profile, const alcedo_color_settings *settings) {
    const size_t count = t->depth == 8 ? 256 : 65536;
    uint16_t *samples = malloc(count * 4 * sizeof(uint16_t));
    t->curve = malloc(count * sizeof(uint16_t));
    if (!samples || !t->curve) {
        free(samples);
        return ALCEDO_COLOR_OUT_OF_MEMORY;
    }
    cmsHTRANSFORM transform = make_transform(
        t, profile, TYPE_GRAY_16, TYPE_RGB_16, settings, cmsFLAGS_NOOPTIMIZE);
    if (transform) {
        uint16_t *in = samples + 3 * count;
        for (size_t i = 0; i < count; i++) in[i] = (uint16_t)(t->depth == 8 ? i * 257 : i);
        cmsDoTransform(transform, in, samples, (cmsUInt32Number)count);
        for (size_t i = 0; i < count; i++) {
            const uint16_t green = samples[3 * i + 1];
            t->curve[i] = t->depth == 8 ? (uint16_t)((green + 128) / 257) : green;
        }
        cmsDeleteTransform(transform);
    }
    free(samples);
    return transform ? ALCEDO_COLOR_OK : ALCEDO_COLOR_INVALID;
}

/// Removes multi-process elements, which Little CMS prefers to tables and curves. Their parts can overlap: a few
/// kilobytes describe thousands of curves of thousands of segments each, which need minutes and gigabytes to read. A
/// profile that has them must also have tables or a matrix, for programs that do not support them. Source: ICC.1:2022,
/// section 8.
static void remove_elements(cmsHPROFILE profile) {
    static const cmsTagSignature tags[] = {
        cmsSigDToB0Tag, cmsSigDToB1Tag, cmsSigDToB2Tag, cmsSigDToB3Tag,
        cmsSigBToD0Tag, cmsSigBToD1Tag, cmsSigBToD2Tag, cmsSigBToD3Tag};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        // A damaged profile can have a tag several times.
        while (cmsIsTag(profile, tags[i]) && cmsWriteTag(profile, tags[i], NULL)) {}
    }
}

/// Whether Little CMS takes the colors from tables of the profile.
static int has_tables(cmsHPROFILE profile) {
    return cmsIsTag(profile, cmsSigAToB0Tag) || cmsIsTag(profile, cmsSigAToB1Tag);
}

/// Reads the color space. Returns a message if images cannot have the profile, or NULL.
static const char *read_space(struct alcedo_color_transform *t, cmsHPROFILE profile) {
    switch (cmsGetDeviceClass(profile)) {
    case cmsSigInputClass:
    case cmsSigDisplayClass:
    case cmsSigOutputClass:
    case cmsSigColorSpaceClass:
        break;
    default:
        return "the profile does not describe a device or a color space";
    }
    switch (cmsGetColorSpace(profile)) {
    case cmsSigRgbData:
        t->source = ALCEDO_COLOR_RGB;
        return NULL;
    case cmsSigGrayData:
        t->source = ALCEDO_COLOR_GRAY;
        return NULL;
    case cmsSigCmykData:
        t->source = ALCEDO_COLOR_CMYK;
        return t->depth == 8 ? NULL : "inks must have 8 bits per sample";
    default:
        return "the color space is neither gray, RGB nor CMYK";
    }
}

static alcedo_color_status make(
    struct alcedo_color_transform *t, cmsHPROFILE profile, const alcedo_color_settings *settings) {
    alcedo_color_status status = ALCEDO_COLOR_INVALID;
    if (t->source == ALCEDO_COLOR_GRAY) return make_curve(t, profile, settings);
    if (t->source == ALCEDO_COLOR_RGB && (!profile || !has_tables(profile))) {
        t->matrix = alcedo_color_matrix_create(profile, settings, &status, t->message);
        return status;
    }
    if (t->source == ALCEDO_COLOR_CMYK) {
        t->lut = make_transform(t, profile, TYPE_CMYK_8_REV, TYPE_RGBA_8, settings, 0);
    } else if (t->depth == 8) {
        t->lut = make_transform(t, profile, TYPE_RGBA_8, TYPE_RGBA_8, settings, 0);
    } else {
        t->lut = make_transform(t, profile, TYPE_RGBA_16, TYPE_RGBA_16, settings, cmsFLAGS_HIGHRESPRECALC);
    }
    return t->lut ? ALCEDO_COLOR_OK : ALCEDO_COLOR_INVALID;
}

static void set_pixel(void *pixels, int depth, size_t i, int r, int g, int b) {
    const int values[4] = {r, g, b, 255};
    for (size_t j = 0; j < 4; j++) {
        if (depth == 8) {
            ((uint8_t *)pixels)[4 * i + j] = (uint8_t)values[j];
        } else {
            ((uint16_t *)pixels)[4 * i + j] = (uint16_t)(values[j] * 257);
        }
    }
}

static int level(const void *pixels, int depth, size_t i) {
    return depth == 8 ? ((const uint8_t *)pixels)[i] : (((const uint16_t *)pixels)[i] + 128) / 257;
}

/// Converts all grays and a grid of colors, and sets `gray` and `is_identity` from the results.
static int probe(struct alcedo_color_transform *t) {
    enum { SIDE = 18, COUNT = 256 + SIDE * SIDE * SIDE };
    if (t->source == ALCEDO_COLOR_CMYK) return 1;
    uint16_t *before = malloc(COUNT * 4 * sizeof(uint16_t)), *after = malloc(COUNT * 4 * sizeof(uint16_t));
    if (before && after) {
        for (int i = 0; i < 256; i++) set_pixel(before, t->depth, (size_t)i, i, i, i);
        for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
            set_pixel(
                before, t->depth, (size_t)(256 + i), i % SIDE * 15, i / SIDE % SIDE * 15, i / (SIDE * SIDE) * 15);
        }
        memcpy(after, before, COUNT * 4 * sizeof(uint16_t));
        alcedo_color_convert(t, after, COUNT);
        t->is_identity = 1;
        for (size_t i = 0; i < COUNT * 4; i++) {
            if (abs(level(before, t->depth, i) - level(after, t->depth, i)) > 1) t->is_identity = 0;
        }
        for (size_t i = 0; i < 256; i++) t->gray[i] = (uint8_t)level(after, t->depth, 4 * i + 1);
    }
    const int is_done = before && after;
    free(before);
    free(after);
    return is_done;
}

alcedo_color_transform *alcedo_color_create(
    const alcedo_color_settings *settings, alcedo_color_status *status, char *message) {
    message[0] = 0;
    *status = ALCEDO_COLOR_OUT_OF_MEMORY;
    struct alcedo_color_transform *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->depth = settings->depth;
    t->message = message;
    t->context = make_context(t);
    if (!t->context) {
        alcedo_color_destroy(t);
        return NULL;
    }
    cmsHPROFILE profile = NULL;
    if (settings->profile) {
        *status = ALCEDO_COLOR_INVALID;
        if (settings->profile_size <= UINT32_MAX) {
            profile = cmsOpenProfileFromMemTHR(
                t->context, settings->profile, (cmsUInt32Number)settings->profile_size);
        }
        const char *problem = profile ? read_space(t, profile) : "the profile cannot be read";
        if (problem) {
            if (profile) *status = ALCEDO_COLOR_UNSUPPORTED;
            if (!message[0]) alcedo_color_set_message(message, problem);
            if (profile) cmsCloseProfile(profile);
            alcedo_color_destroy(t);
            return NULL;
        }
    }
    if (profile) remove_elements(profile);
    *status = make(t, profile, settings);
    if (*status == ALCEDO_COLOR_OK && !probe(t)) *status = ALCEDO_COLOR_OUT_OF_MEMORY;
    if (profile) cmsCloseProfile(profile);
    t->message = NULL;
    if (*status == ALCEDO_COLOR_OK) return t;
    if (*status == ALCEDO_COLOR_OUT_OF_MEMORY) {
        alcedo_color_set_message(message, "out of memory");
    } else if (!message[0]) {
        alcedo_color_set_message(message, "a part of the profile is missing or invalid");
    }
    alcedo_color_destroy(t);
    return NULL;
}

void alcedo_color_destroy(alcedo_color_transform *t) {
    if (t->matrix) alcedo_color_matrix_destroy(t->matrix);
    if (t->lut) cmsDeleteTransform(t->lut);
    if (t->context) cmsDeleteContext(t->context);
    free(t->curve);
    free(t);
}

alcedo_color_space alcedo_color_source(const alcedo_color_transform *t) { return t->source; }

int alcedo_color_is_identity(const alcedo_color_transform *t) { return t->is_identity; }

static void convert_by_curve(const struct alcedo_color_transform *t, void *pixels, size_t count) {
    for (size_t i = 0; i < 4 * count; i += 4) {
        for (size_t j = i; j < i + 3; j++) {
            if (t->depth == 8) {
                ((uint8_t *)pixels)[j] = (uint8_t)t->curve[((uint8_t *)pixels)[j]];
            } else {
                ((uint16_t *)pixels)[j] = t->curve[((uint16_t *)pixels)[j]];
            }
        }
    }
}

void alcedo_color_convert(const alcedo_color_transform *t, void *pixels, size_t count) {
    if (t->curve) {
        convert_by_curve(t, pixels, count);
    } else if (t->matrix && t->depth == 8) {
        alcedo_color_matrix_convert8(t->matrix, pixels, count);
    } else if (t->matrix) {
        alcedo_color_matrix_convert16(t->matrix, pixels, count);
    } else {
        while (count > 0) {
            const cmsUInt32Number part = count < (1 << 20) ? (cmsUInt32Number)count : 1 << 20;
            cmsDoTransform(t->lut, pixels, pixels, part);
            if (t->source == ALCEDO_COLOR_CMYK) {
                // Little CMS leaves the fourth byte, which was black ink.
                for (size_t i = 3; i < (size_t)part * 4; i += 4) ((uint8_t *)pixels)[i] = 255;
            }
            pixels = (uint8_t *)pixels + (size_t)part * (t->depth == 8 ? 4 : 8);
            count -= part;
        }
    }
}

void alcedo_color_convert_gray(const alcedo_color_transform *t, uint8_t *samples, size_t count) {
    for (size_t i = 0; i < count; i++) samples[i] = t->gray[samples[i]];
}
