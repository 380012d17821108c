// What nearly every unit test includes, compiled once; see core/precompiled/headers.h.
#include <doctest/doctest.h>

#include "core/precompiled/headers.h"
