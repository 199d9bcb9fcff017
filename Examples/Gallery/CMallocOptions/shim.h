// Swift's module of the C library does not include this header.
#include <malloc.h>
