#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pod.h"

namespace muster::sim {

// What a row carries besides its cells: ?includeObject=
enum class IncludeObject { kNone, kMetadata, kObject };

// Tables as the server renders them for `kubectl get`: the columns, and a row for an object.
std::string pod_columns();
std::string pod_row(const Pod& pod, std::int64_t resource_version, std::string_view pod_json,
                    IncludeObject include, std::int64_t now_seconds);
std::string namespace_columns();
std::string namespace_row(const std::string& name, std::string_view object_json,
                          IncludeObject include, std::int64_t now_seconds);

// An age in few letters: 45s, 3m10s, 47m, 5h12m, 3d4h, 120d.
std::string human_duration(std::int64_t seconds);

}  // namespace muster::sim
