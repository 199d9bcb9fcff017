#include "CCURLShim.h"
