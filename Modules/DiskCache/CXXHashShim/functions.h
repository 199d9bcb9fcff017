// The functions of one version. The including file defines VERSION(name), the name of a function in that version.

#if !__has_include(<xxhash.h>)
#error "xxhash.h is missing. Install libxxhash-dev (Debian, Ubuntu) or xxhash-devel (Fedora)."
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t VERSION(hash)(const void *bytes, size_t count) { return XXH3_64bits(bytes, count); }

// The library returns an error only for a null pointer with a count other than zero.
void VERSION(update)(void *state, const void *bytes, size_t count) {
    if (count > 0) (void)XXH3_64bits_update(state, bytes, count);
}

uint64_t VERSION(value)(const void *state) { return XXH3_64bits_digest(state); }
