#ifdef ALCEDO_SANDBOX
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "CSandboxShim.h"

// Since Linux 6.3; older headers lack the definition.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
// Since Linux 5.1 and glibc 2.31.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

int alcedo_sandbox_create_memory(uint64_t size) {
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int file = memfd_create("alcedo-sandbox", flags | MFD_NOEXEC_SEAL);
    if (file < 0 && errno == EINVAL) file = memfd_create("alcedo-sandbox", flags);
    if (file < 0) return -1;
    if (ftruncate(file, (off_t)size) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) return file;
    int reason = errno;
    close(file);
    errno = reason;
    return -1;
}

void *alcedo_sandbox_map(int file, uint64_t size, int writable) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *reserved = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return NULL;
    int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    if (mmap(reserved + page, size, access, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED) return reserved + page;
    int reason = errno;
    munmap(reserved, size + 2 * page);
    errno = reason;
    return NULL;
}

void alcedo_sandbox_unmap(void *address, uint64_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap((char *)address - page, size + 2 * page);
}

int alcedo_sandbox_seal_writes(int file) { return fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL); }

int alcedo_sandbox_seal(int file) { return fcntl(file, F_ADD_SEALS, F_SEAL_SEAL); }

void alcedo_sandbox_release(int file, uint64_t offset, uint64_t size) {
    // A failure only keeps the pages.
    (void)!fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
}
#else
typedef int alcedo_sandbox_no_memory;
#endif
