// Declarations that the files of the shim share.
#ifndef ALCEDO_CLITTLECMSSHIM_INTERNAL_H
#define ALCEDO_CLITTLECMSSHIM_INTERNAL_H

#include "CLittleCMSShim.h"

#include <lcms2.h>
#include <lcms2_plugin.h>

/// The number of steps between linear 0 and 1 in the tables of encoded samples. The largest step, near black, is about
/// a fifth of an 8-bit level.
enum { ENCODED_STEPS = 16384 };

/// The conversion by a matrix: linear samples, a matrix and encoded samples.
typedef struct {
    /// The linear values of the samples of red, green and blue: 256 or 65,536 each. Equal curves share memory.
    float *linear[3];
    float matrix[9];
    /// The factors of HDR for the square root of light; NULL for SDR. Those of the system gamma, which depend on
    /// luminance, are NULL for a gamma of 1.
    float *tone_factors;
    float *system_factors;
    /// The luminance of red, green and blue of the target.
    float luminance[3];
    /// The samples for ENCODED_STEPS + 1 linear values, in one of the two tables.
    uint8_t *encoded8;
    float *encoded16;
} alcedo_color_matrix;

struct alcedo_color_transform {
    alcedo_color_space source;
    int depth;
    int is_identity;
    /// One of the three is set: a matrix, one curve for gray, or a transform of Little CMS.
    alcedo_color_matrix *matrix;
    uint16_t *curve;
    cmsHTRANSFORM lut;
    cmsContext context;
    uint8_t gray[256];
    /// The message of Little CMS, during creation only.
    char *message;
};

/// Creates a matrix conversion from a profile with colorants and curves, or from sRGB if `profile` is NULL. Returns
/// NULL on failure.
alcedo_color_matrix *alcedo_color_matrix_create(
    cmsHPROFILE profile, const alcedo_color_settings *settings, alcedo_color_status *status, char *message);
void alcedo_color_matrix_destroy(alcedo_color_matrix *matrix);
void alcedo_color_matrix_convert8(const alcedo_color_matrix *matrix, uint8_t *pixels, size_t count);
void alcedo_color_matrix_convert16(const alcedo_color_matrix *matrix, uint16_t *pixels, size_t count);

void alcedo_color_set_message(char *message, const char *text);

#endif
