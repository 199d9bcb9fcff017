#ifdef ALCEDO_SANDBOX
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CSandboxShim.h"
#include "internal.h"

enum {
    // The maximum number of files that are open at the same time.
    MAXIMUM_FILES = 8192,
    // The descriptors that remain for the confinement itself and for duplicates of the files. FreeType and HarfBuzz map
    // a font and close its descriptor.
    RESERVED_DESCRIPTORS = 64,
    DUPLICATES = 32,
};

struct kept_file {
    char *path;
    int descriptor;
};

// Written before the confinement, by one thread, and only read after it, also by the handler of SIGSYS.
static struct kept_file *files;
static size_t file_count, capacity;
static int highest_descriptor = -1;

// Returns the number of descriptors that the process may have, after raising it as far as files need it.
static rlim_t raise_descriptor_limit(void) {
    struct rlimit current;
    if (getrlimit(RLIMIT_NOFILE, &current) != 0) return 0;
    rlim_t wanted = MAXIMUM_FILES + RESERVED_DESCRIPTORS;
    if (wanted > current.rlim_max) wanted = current.rlim_max;
    if (current.rlim_cur >= wanted) return current.rlim_cur;
    struct rlimit raised = {wanted, current.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? wanted : current.rlim_cur;
}

static int open_file(const char *path) {
    static rlim_t limit;
    if (limit == 0) limit = raise_descriptor_limit();
    // O_NONBLOCK, because opening a FIFO could wait without end.
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) return ALCEDO_SANDBOX_UNAVAILABLE;
    struct stat status;
    int is_usable = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && file < MAXIMUM_FILES &&
        (rlim_t)file + RESERVED_DESCRIPTORS < limit;
    if (is_usable) return file;
    close(file);
    return ALCEDO_SANDBOX_UNAVAILABLE;
}

int alcedo_sandbox_keep_file(const char *path) {
    if (file_count == capacity) {
        size_t larger = capacity ? 2 * capacity : 64;
        struct kept_file *copy = realloc(files, larger * sizeof *files);
        if (!copy) return -1;
        files = copy;
        capacity = larger;
    }
    char *name = strdup(path);
    if (!name) return -1;
    int file = open_file(path);
    if (file > highest_descriptor) highest_descriptor = file;
    files[file_count++] = (struct kept_file){name, file};
    return file == ALCEDO_SANDBOX_UNAVAILABLE;
}

static int compare(const void *left, const void *right) {
    return strcmp(((const struct kept_file *)left)->path, ((const struct kept_file *)right)->path);
}

void alcedo_sandbox_sort_files(void) {
    if (file_count > 0) qsort(files, file_count, sizeof *files, compare);
}

int alcedo_sandbox_keeps_files(void) { return file_count > 0; }

uint64_t alcedo_sandbox_descriptor_limit(void) {
    return highest_descriptor < 0 ? 1 : (uint64_t)highest_descriptor + 1 + DUPLICATES;
}

int alcedo_sandbox_find_file(const char *path) {
    if (!path) return ALCEDO_SANDBOX_UNLISTED;
    size_t first = 0, end = file_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = strcmp(path, files[middle].path);
        if (order == 0) return files[middle].descriptor;
        if (order < 0) {
            end = middle;
        } else {
            first = middle + 1;
        }
    }
    return ALCEDO_SANDBOX_UNLISTED;
}
#else
typedef int alcedo_sandbox_no_files;
#endif
