// What nearly every file here includes, compiled once. Each file still names what it needs. No include guard, for gcc would warn
// of "#pragma once in main file".
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
