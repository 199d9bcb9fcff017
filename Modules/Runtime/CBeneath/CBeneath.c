#include "CBeneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Headers that are older than the kernel lack these definitions.
#define BENEATH_OPENAT2 437
#define BENEATH_RESOLVE_NO_SYMLINKS 0x04
#define BENEATH_RESOLVE_BENEATH 0x08

// Opens one component of a path. A symbolic link fails with ELOOP, also where the kernel reports ENOTDIR because
// O_DIRECTORY was requested.
static int open_part(int folder, const char *name, int flags, unsigned mode) {
    int file = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0 || errno != ENOTDIR) return file;
    struct stat facts;
    int is_link = fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode);
    errno = is_link ? ELOOP : ENOTDIR;
    return -1;
}

int alcedo_open_stepwise(int directory, const char *path, int flags, unsigned mode) {
    int folder = directory;
    const char *slash;
    while ((slash = strchr(path, '/')) != NULL) {
        char part[256];
        size_t count = (size_t)(slash - path);
        int next = -1;
        if (count < sizeof part) {
            memcpy(part, path, count);
            part[count] = 0;
            next = open_part(folder, part, ALCEDO_O_PATH | O_DIRECTORY, 0);
        } else {
            errno = ENAMETOOLONG;
        }
        int reason = errno;
        if (folder != directory) close(folder);
        errno = reason;
        if (next < 0) return -1;
        folder = next;
        path = slash + 1;
    }
    int file = open_part(folder, path, flags, mode);
    int reason = errno;
    if (folder != directory) close(folder);
    errno = reason;
    return file;
}

int alcedo_open_beneath(int directory, const char *path, int flags, unsigned mode) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {
        (uint64_t)(flags | O_CLOEXEC), flags & O_CREAT ? mode : 0, BENEATH_RESOLVE_NO_SYMLINKS | BENEATH_RESOLVE_BENEATH};
    int file = (int)syscall(BENEATH_OPENAT2, directory, path, &how, sizeof how);
    // Kernels before 5.6 lack the call, and some sandboxes block it with EPERM.
    if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
    return alcedo_open_stepwise(directory, path, flags, mode);
}
