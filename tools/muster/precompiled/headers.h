// CLI11 above all, which takes each file that includes it five seconds. Each file still names what it needs: see
// core/precompiled/headers.h.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
