// Without the trait SVG, the package builds without librsvg.
#ifdef ALCEDO_SVG
#include "internal.h"

#include <fontconfig/fontconfig.h>
#include <glib.h>
#include <stdatomic.h>

static void discard(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data) {
    (void)domain, (void)level, (void)message, (void)data;
}

static GLogWriterOutput discard_fields(
    GLogLevelFlags level, const GLogField *fields, gsize count, gpointer data) {
    (void)level, (void)fields, (void)count, (void)data;
    return G_LOG_WRITER_HANDLED;
}

void alcedo_svg_discard_messages(void) {
    static atomic_flag is_done = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&is_done)) return;
    g_log_set_default_handler(discard, NULL);
    g_log_set_writer_func(discard_fields, NULL, NULL);
}

/// Returns the fonts of the current configuration, which owns them and loads them on the first call.
static const FcFontSet *fonts(void) { return FcConfigGetFonts(NULL, FcSetSystem); }

size_t alcedo_svg_font_count(void) {
    const FcFontSet *set = fonts();
    return set && set->nfont > 0 ? (size_t)set->nfont : 0;
}

const char *alcedo_svg_font_path(size_t index) {
    const FcFontSet *set = fonts();
    FcChar8 *path = NULL;
    if (!set || set->nfont < 0 || index >= (size_t)set->nfont) return NULL;
    return FcPatternGetString(set->fonts[index], FC_FILE, 0, &path) == FcResultMatch ? (const char *)path : NULL;
}
#else
typedef int alcedo_svg_no_fonts;
#endif
