#include "CFileSystemShim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// Headers that are older than the kernel lack these definitions.
#define SYSTEM_OPENAT2 437
#define SYSTEM_RESOLVE_NO_SYMLINKS 0x04
#define SYSTEM_RESOLVE_BENEATH 0x08
#define SYSTEM_RESOLVE_CACHED 0x20
#define SYSTEM_O_NOATIME 01000000
#define SYSTEM_RWF_NOWAIT 0x08

// Opens one component of a path. A symbolic link fails with ELOOP, also where the kernel reports ENOTDIR because
// O_DIRECTORY was requested.
static int open_part(int parent, const char *name, int flags, unsigned mode) {
    int file = openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0 || errno != ENOTDIR) return file;
    struct stat facts;
    int is_link = fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode);
    errno = is_link ? ELOOP : ENOTDIR;
    return -1;
}

int alcedo_open_stepwise(int directory, const char *path, int flags, unsigned mode) {
    int parent = directory;
    const char *slash;
    while ((slash = strchr(path, '/')) != NULL) {
        char part[256];
        size_t count = (size_t)(slash - path);
        int next = -1;
        if (count < sizeof part) {
            memcpy(part, path, count);
            part[count] = 0;
            next = open_part(parent, part, ALCEDO_O_PATH | O_DIRECTORY, 0);
        } else {
            errno = ENAMETOOLONG;
        }
        int reason = errno;
        if (parent != directory) close(parent);
        errno = reason;
        if (next < 0) return -1;
        parent = next;
        path = slash + 1;
    }
    int file = open_part(parent, path, flags, mode);
    int reason = errno;
    if (parent != directory) close(parent);
    errno = reason;
    return file;
}

static int open_resolved(int directory, const char *path, int flags, unsigned mode, uint64_t resolve) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {
        (uint64_t)(flags | O_CLOEXEC), flags & O_CREAT ? mode : 0,
        SYSTEM_RESOLVE_NO_SYMLINKS | SYSTEM_RESOLVE_BENEATH | resolve};
    return (int)syscall(SYSTEM_OPENAT2, directory, path, &how, sizeof how);
}

int alcedo_open_beneath(int directory, const char *path, int flags, unsigned mode) {
    int file = open_resolved(directory, path, flags, mode, 0);
    // Kernels before 5.6 lack the call, and some sandboxes block it with EPERM.
    if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
    return alcedo_open_stepwise(directory, path, flags, mode);
}

int alcedo_open_cached(int directory, const char *path) {
    // The kernel waits for the journal when it writes a time of access, even in a read that does not wait for data.
    return open_resolved(directory, path, O_RDONLY | O_NONBLOCK | SYSTEM_O_NOATIME, 0, SYSTEM_RESOLVE_CACHED);
}

long alcedo_read_cached(int file, void *memory, size_t count, long offset) {
    struct iovec room = {memory, count};
    // The offset is passed in two halves, of which only the first is used on 64-bit architectures.
    return syscall(SYS_preadv2, file, &room, 1, offset, 0, SYSTEM_RWF_NOWAIT);
}
