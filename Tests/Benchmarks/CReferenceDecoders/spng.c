#include "CReferenceDecoders.h"

#include <dlfcn.h>
#include <stdlib.h>

// The library is loaded when it is first used, because the package must build without it. Its interface is declared
// here, as in the header `spng.h` of version 0.7.
struct spng_ctx;
enum { SPNG_FMT_RGBA8 = 1, SPNG_DECODE_TRNS = 1 };

static struct {
    struct spng_ctx *(*create)(int flags);
    void (*destroy)(struct spng_ctx *context);
    int (*set_bytes)(struct spng_ctx *context, const void *bytes, size_t count);
    int (*get_size)(struct spng_ctx *context, int format, size_t *size);
    int (*decode)(struct spng_ctx *context, void *out, size_t size, int format, int flags);
} spng;

static int load(void) {
    if (spng.decode) return 1;
    void *library = dlopen("libspng.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    *(void **)&spng.create = dlsym(library, "spng_ctx_new");
    *(void **)&spng.destroy = dlsym(library, "spng_ctx_free");
    *(void **)&spng.set_bytes = dlsym(library, "spng_set_png_buffer");
    *(void **)&spng.get_size = dlsym(library, "spng_decoded_image_size");
    if (!spng.create || !spng.destroy || !spng.set_bytes || !spng.get_size) return 0;
    *(void **)&spng.decode = dlsym(library, "spng_decode_image");
    return spng.decode != NULL;
}

size_t alcedo_reference_decode_png_with_libspng(const uint8_t *bytes, size_t count) {
    if (!load()) return 0;
    struct spng_ctx *context = spng.create(0);
    if (!context) return 0;
    size_t size = 0, result = 0;
    if (spng.set_bytes(context, bytes, count) == 0 && spng.get_size(context, SPNG_FMT_RGBA8, &size) == 0) {
        uint8_t *pixels = malloc(size);
        if (pixels && spng.decode(context, pixels, size, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS) == 0) result = size / 4;
        free(pixels);
    }
    spng.destroy(context);
    return result;
}
