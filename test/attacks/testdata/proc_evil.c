// A library that a loader must not be made to load.
#include "proc.h"

__attribute__((constructor)) static void loaded(void) { leak("a library was loaded"); }
