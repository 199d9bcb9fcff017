#if !__has_include(<seccomp.h>)
#error "libseccomp is missing: install Debian's package libseccomp-dev, or build without the package trait Sandbox"
#else
#include <seccomp.h>
#endif
