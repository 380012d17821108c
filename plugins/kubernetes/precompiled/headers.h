// What nearly every file of the backend includes, compiled once for it and once for its parsers. Each file still
// names what it needs: see core/precompiled/headers.h.
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
#include <muster/plugin.hpp>
