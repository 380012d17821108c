// What nearly every file of a backend includes, compiled once for each library that names it. Each file still names
// what it needs: see core/precompiled/headers.h.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>
#include <muster/plugin.hpp>
