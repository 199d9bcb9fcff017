// Conversions of pixels between color spaces over Little CMS for Swift.
#ifndef ALCEDO_CLITTLECMSSHIM_H
#define ALCEDO_CLITTLECMSSHIM_H

#include <stddef.h>
#include <stdint.h>

/// A conversion. It does not change after its creation, so that several threads can use it at the same time.
typedef struct alcedo_color_transform alcedo_color_transform;

typedef enum {
    ALCEDO_COLOR_OK = 0,
    ALCEDO_COLOR_INVALID,
    ALCEDO_COLOR_UNSUPPORTED,
    ALCEDO_COLOR_OUT_OF_MEMORY,
} alcedo_color_status;

typedef enum {
    ALCEDO_COLOR_RGB = 0,
    ALCEDO_COLOR_GRAY,
    ALCEDO_COLOR_CMYK,
} alcedo_color_space;

typedef enum {
    ALCEDO_COLOR_SRGB = 0,
    ALCEDO_COLOR_DISPLAY_P3,
} alcedo_color_target;

typedef struct {
    /// The ICC profile, or NULL for sRGB.
    const uint8_t *_Nullable profile;
    size_t profile_size;
    alcedo_color_target target;
    /// The number of bits per sample: 8, or 16 in native byte order.
    int depth;
    int compensates_black_point;
    /// The linear light of all 256 or 65,536 samples of an HDR color space, used instead of the curves of a profile
    /// with a matrix. NULL for SDR.
    const float *_Nullable light;
    /// The factors by which the tones of HDR are mapped, for light of (i / ALCEDO_COLOR_TONE_STEPS)², i from 0 to
    /// ALCEDO_COLOR_TONE_STEPS. The last factor is 1. NULL for SDR.
    const float *_Nullable tone_factors;
    /// The exponent that turns the luminance of HDR light into that of a display: 1 or more.
    double system_gamma;
} alcedo_color_settings;

enum { ALCEDO_COLOR_MESSAGE_SIZE = 160, ALCEDO_COLOR_TONE_STEPS = 4096 };

/// Creates a conversion with relative colorimetric intent. Returns NULL on failure, and sets `status` and `message`,
/// which has ALCEDO_COLOR_MESSAGE_SIZE bytes.
alcedo_color_transform *_Nullable alcedo_color_create(
    const alcedo_color_settings *_Nonnull settings, alcedo_color_status *_Nonnull status, char *_Nonnull message);
void alcedo_color_destroy(alcedo_color_transform *_Nonnull transform);

/// The device color space of the profile.
alcedo_color_space alcedo_color_source(const alcedo_color_transform *_Nonnull transform);

/// Whether the conversion changes no sample by more than one 8-bit level.
int alcedo_color_is_identity(const alcedo_color_transform *_Nonnull transform);

/// Converts `count` pixels of four samples in place. For RGB and gray profiles, the samples are red, green, blue and
/// alpha, and alpha is not changed. For a gray profile, each of the first three samples is converted on its own. For a
/// CMYK profile, the depth must be 8, the samples are C, M, Y, K, of which 255 means no ink, and become R, G, B, 255.
void alcedo_color_convert(
    const alcedo_color_transform *_Nonnull transform, void *_Nonnull pixels, size_t count);

/// Converts `count` 8-bit gray samples in place. The depth must be 8, and the profile must not be CMYK.
void alcedo_color_convert_gray(
    const alcedo_color_transform *_Nonnull transform, uint8_t *_Nonnull samples, size_t count);

#endif
