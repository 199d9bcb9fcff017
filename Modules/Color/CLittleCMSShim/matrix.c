// RGB to RGB by curves and a matrix. Little CMS uses such a path for 8 bits only, with tables of fixed-point numbers
// that are coarse for linear samples. With 16 bits it interpolates in a cube or computes each pixel with generic code.
//
// The tones of HDR are mapped between the matrix and the curves of the target. All three components are multiplied by
// one factor, which depends on the largest of them, as in Chromium. The hue stays, and no component exceeds 1. Curves
// for each component, which are all that the matrix of a profile permits, would turn a bright red orange. A cube of 33
// points per side would be up to 18 levels off for grays, because the largest component has a kink there.
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The colorants of the targets, adapted to D50, by row: X, Y, Z of red, green and blue.
static const double colorants[2][9] = {
    {0.4360747, 0.3850649, 0.1430804, 0.2225045, 0.7168786, 0.0606169, 0.0139322, 0.0971045, 0.7141733},
    {0.5151187, 0.2919778, 0.1571035, 0.2411892, 0.6922441, 0.0665668, -0.0010505, 0.0418791, 0.7840713},
};

/// The luminance of red, green and blue of the targets for their white D65.
static const float luminances[2][3] = {{0.2126f, 0.7152f, 0.0722f}, {0.2290f, 0.6917f, 0.0793f}};

static double decode_srgb(double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); }

static double encode_srgb(double v) { return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055; }

static double determinant(const double *m) {
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6])
        + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/// Sets `out` to the inverse of the target's colorants times `source`.
static void make_matrix(const double *target, const double *source, float *out) {
    const double d = determinant(target);
    for (int column = 0; column < 3; column++) {
        for (int row = 0; row < 3; row++) {
            // Cramer's rule
            double m[9];
            memcpy(m, target, sizeof m);
            for (int i = 0; i < 3; i++) m[3 * i + row] = source[3 * i + column];
            out[3 * row + column] = (float)(determinant(m) / d);
        }
    }
}

/// Reads the colorants. Returns 0 unless equal amounts of all make the white D50, with a wide tolerance.
static int read_colorants(cmsHPROFILE profile, double *out) {
    static const cmsTagSignature tags[3] = {
        cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag};
    const double white[3] = {0.9642, 1, 0.8249};
    double sum[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        const cmsCIEXYZ *color = cmsReadTag(profile, tags[i]);
        if (!color) return 0;
        const double xyz[3] = {color->X, color->Y, color->Z};
        for (int j = 0; j < 3; j++) {
            out[3 * j + i] = xyz[j];
            sum[j] += xyz[j];
        }
    }
    for (int j = 0; j < 3; j++) {
        if (!(fabs(sum[j] - white[j]) < 0.15)) return 0;
    }
    return 1;
}

static float clamped(float v) { return v > 0 ? (v < 1 ? v : 1) : 0; }

/// Fills `out` with the linear values of all samples. `curve` is NULL for sRGB.
static void fill_linear(const cmsToneCurve *curve, float *out, int count) {
    for (int i = 0; i < count; i++) {
        const double v = (double)i / (count - 1);
        out[i] = clamped(curve ? cmsEvalToneCurveFloat(curve, (float)v) : (float)decode_srgb(v));
    }
}

/// Whether two curves are equal, as far as their values at 256 points tell.
static int are_equal(const cmsToneCurve *a, const cmsToneCurve *b) {
    for (int i = 0; i < 256; i++) {
        if (cmsEvalToneCurveFloat(a, i / 255.0f) != cmsEvalToneCurveFloat(b, i / 255.0f)) return 0;
    }
    return 1;
}

static int read_curves(alcedo_color_matrix *m, cmsHPROFILE profile, int count) {
    static const cmsTagSignature tags[3] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    const cmsToneCurve *curves[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; i++) {
        if (profile) {
            curves[i] = cmsReadTag(profile, tags[i]);
            if (!curves[i]) return ALCEDO_COLOR_INVALID;
        }
        if (i > 0 && (!profile || are_equal(curves[i], curves[0]))) {
            m->linear[i] = m->linear[0];
            continue;
        }
        m->linear[i] = malloc((size_t)count * sizeof(float));
        if (!m->linear[i]) return ALCEDO_COLOR_OUT_OF_MEMORY;
        fill_linear(curves[i], m->linear[i], count);
    }
    return ALCEDO_COLOR_OK;
}

/// Copies the tables of HDR, and makes that of the system gamma.
static int copy_tones(alcedo_color_matrix *m, const alcedo_color_settings *settings) {
    // One value more than points, for the interpolation at the end.
    enum { COUNT = ALCEDO_COLOR_TONE_STEPS + 2 };
    const size_t count = settings->depth == 8 ? 256 : 65536;
    m->linear[0] = m->linear[1] = m->linear[2] = malloc(count * sizeof(float));
    m->tone_factors = malloc(COUNT * sizeof(float));
    if (!m->linear[0] || !m->tone_factors) return ALCEDO_COLOR_OUT_OF_MEMORY;
    memcpy(m->linear[0], settings->light, count * sizeof(float));
    memcpy(m->tone_factors, settings->tone_factors, (COUNT - 1) * sizeof(float));
    m->tone_factors[COUNT - 1] = m->tone_factors[COUNT - 2];
    memcpy(m->luminance, luminances[settings->target], sizeof m->luminance);
    if (settings->system_gamma == 1) return ALCEDO_COLOR_OK;
    m->system_factors = malloc(COUNT * sizeof(float));
    if (!m->system_factors) return ALCEDO_COLOR_OUT_OF_MEMORY;
    for (int i = 0; i < COUNT; i++) {
        const double root = fmin(1, (double)i / ALCEDO_COLOR_TONE_STEPS);
        m->system_factors[i] = (float)pow(root * root, settings->system_gamma - 1);
    }
    return ALCEDO_COLOR_OK;
}

static int make_encoded(alcedo_color_matrix *m, int depth) {
    // One value more than steps, and one more for the interpolation at the end.
    const size_t count = ENCODED_STEPS + 2;
    m->encoded8 = depth == 8 ? malloc(count) : NULL;
    m->encoded16 = depth == 8 ? NULL : malloc(count * sizeof(float));
    if (!m->encoded8 && !m->encoded16) return 0;
    for (size_t i = 0; i < count; i++) {
        const double v = encode_srgb(fmin(1, (double)i / ENCODED_STEPS));
        if (m->encoded8) m->encoded8[i] = (uint8_t)(v * 255 + 0.5);
        if (m->encoded16) m->encoded16[i] = (float)(v * 65535);
    }
    return 1;
}

alcedo_color_matrix *alcedo_color_matrix_create(
    cmsHPROFILE profile, const alcedo_color_settings *settings, alcedo_color_status *status, char *message) {
    double source[9];
    memcpy(source, colorants[ALCEDO_COLOR_SRGB], sizeof source);
    *status = ALCEDO_COLOR_INVALID;
    if (profile && !read_colorants(profile, source)) {
        alcedo_color_set_message(message, "the primary colors are missing or do not add up to white");
        return NULL;
    }
    *status = ALCEDO_COLOR_OUT_OF_MEMORY;
    alcedo_color_matrix *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    make_matrix(colorants[settings->target], source, m->matrix);
    const int result = profile && settings->light && settings->tone_factors
        ? copy_tones(m, settings) : read_curves(m, profile, settings->depth == 8 ? 256 : 65536);
    if (result != ALCEDO_COLOR_OK || !make_encoded(m, settings->depth)) {
        if (result == ALCEDO_COLOR_INVALID) {
            *status = ALCEDO_COLOR_INVALID;
            alcedo_color_set_message(message, "a tone curve is missing or invalid");
        }
        alcedo_color_matrix_destroy(m);
        return NULL;
    }
    *status = ALCEDO_COLOR_OK;
    return m;
}

void alcedo_color_matrix_destroy(alcedo_color_matrix *m) {
    for (int i = 2; i >= 0; i--) {
        if (i == 0 || m->linear[i] != m->linear[0]) free(m->linear[i]);
    }
    free(m->tone_factors);
    free(m->system_factors);
    free(m->encoded8);
    free(m->encoded16);
    free(m);
}

/// Returns the value of a table for `v` from 0 to 1. The table has `steps` + 2 values.
static float interpolated(const float *table, int steps, float v) {
    const float position = v * (float)steps;
    const int i = (int)position;
    return table[i] + (table[i + 1] - table[i]) * (position - (float)i);
}

/// Maps the tones of linear light in the target color space.
static void map_tones(const alcedo_color_matrix *m, float *color) {
    float system = 1, maximum = 0;
    if (m->system_factors) {
        const float *k = m->luminance;
        const float luminance = clamped(k[0] * color[0] + k[1] * color[1] + k[2] * color[2]);
        system = interpolated(m->system_factors, ALCEDO_COLOR_TONE_STEPS, sqrtf(luminance));
    }
    for (int i = 0; i < 3; i++) {
        if (color[i] > maximum) maximum = color[i];
    }
    const float light = system * maximum;
    const float factor = light < 1
        ? system * interpolated(m->tone_factors, ALCEDO_COLOR_TONE_STEPS, sqrtf(light)) : 1 / maximum;
    for (int i = 0; i < 3; i++) color[i] *= factor;
}

void alcedo_color_matrix_convert8(const alcedo_color_matrix *m, uint8_t *pixels, size_t count) {
    const float *k = m->matrix;
    const float *red = m->linear[0], *green = m->linear[1], *blue = m->linear[2];
    const uint8_t *encoded = m->encoded8;
    for (uint8_t *p = pixels; p < pixels + 4 * count; p += 4) {
        const float r = red[p[0]], g = green[p[1]], b = blue[p[2]];
        float color[3] = {
            k[0] * r + k[1] * g + k[2] * b, k[3] * r + k[4] * g + k[5] * b, k[6] * r + k[7] * g + k[8] * b};
        if (m->tone_factors) map_tones(m, color);
        for (int i = 0; i < 3; i++) p[i] = encoded[(int)(clamped(color[i]) * ENCODED_STEPS + 0.5f)];
    }
}

void alcedo_color_matrix_convert16(const alcedo_color_matrix *m, uint16_t *pixels, size_t count) {
    const float *k = m->matrix;
    for (uint16_t *p = pixels; p < pixels + 4 * count; p += 4) {
        const float r = m->linear[0][p[0]], g = m->linear[1][p[1]], b = m->linear[2][p[2]];
        float color[3] = {
            k[0] * r + k[1] * g + k[2] * b, k[3] * r + k[4] * g + k[5] * b, k[6] * r + k[7] * g + k[8] * b};
        if (m->tone_factors) map_tones(m, color);
        for (int i = 0; i < 3; i++) {
            p[i] = (uint16_t)(interpolated(m->encoded16, ENCODED_STEPS, clamped(color[i])) + 0.5f);
        }
    }
}
