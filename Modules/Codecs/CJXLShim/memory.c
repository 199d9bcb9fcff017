// Without the trait JXL, the package builds without libjxl.
#ifdef ALCEDO_JXL
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/// The bytes before each block, which hold its size. They keep the alignment of malloc.
#define HEADER_SIZE 16

static void *allocate(void *opaque, size_t size) {
    alcedo_jxl_memory *memory = opaque;
    const size_t limit = memory->limit;
    if (size > limit || size > SIZE_MAX - HEADER_SIZE) {
        memory->is_exceeded = 1;
        return NULL;
    }
    // Neither number exceeds the limit by more than the other blocks in progress, so the sum does not overflow.
    const size_t used = atomic_fetch_add(&memory->used, size) + size;
    if (used > limit) {
        atomic_fetch_sub(&memory->used, size);
        memory->is_exceeded = 1;
        return NULL;
    }
    uint8_t *block = malloc(size + HEADER_SIZE);
    if (!block) {
        atomic_fetch_sub(&memory->used, size);
        memory->is_exhausted = 1;
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    return block + HEADER_SIZE;
}

static void release(void *opaque, void *address) {
    if (!address) return;
    alcedo_jxl_memory *memory = opaque;
    uint8_t *block = (uint8_t *)address - HEADER_SIZE;
    size_t size;
    memcpy(&size, block, sizeof size);
    atomic_fetch_sub(&memory->used, size);
    free(block);
}

JxlMemoryManager alcedo_jxl_memory_manager(alcedo_jxl_memory *memory) {
    return (JxlMemoryManager){.opaque = memory, .alloc = allocate, .free = release};
}

void alcedo_jxl_set_memory_limit(alcedo_jxl_decoder *d, size_t limit) {
    d->memory.limit = limit < SIZE_MAX / 4 ? limit : SIZE_MAX / 4;
}
#endif
