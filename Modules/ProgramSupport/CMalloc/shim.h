// Not in Swift's module of the C library.
#include <malloc.h>
