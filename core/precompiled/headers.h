// What nearly every file of core includes, compiled once: a third less work to build core.
// Each file still names what it needs, so that it compiles alike with -Db_pch=false. No include guard,
// for gcc would warn of "#pragma once in main file".
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
