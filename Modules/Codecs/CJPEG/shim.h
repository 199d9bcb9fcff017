// jpeglib.h is not self-contained: it uses size_t and FILE without including their headers.
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>
