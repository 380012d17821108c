#include "plugins/tpu/accelerator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

constexpr int64_t kMany = 1 << 20;
constexpr int64_t kChipsPerHost = 4;
constexpr int64_t kSingleHostMaximum = 8;  // of types that count chips

struct Generation {
  const char* name;
  bool counts_chips;  // the number behind the name; else it counts cores
  int64_t cores_per_chip;
  int64_t devices_per_chip;
};

constexpr std::array<Generation, 7> kGenerations = {{
    {"v2", false, 2, 2},
    {"v3", false, 2, 2},
    {"v4", false, 2, 1},
    {"v5litepod", true, 1, 1},
    {"v5p", false, 2, 1},
    {"v6e", true, 1, 1},
    {"tpu7x", false, 2, 2},
}};

}  // namespace

int64_t Shape::chips_per_host(int64_t found_hosts) const {
  const int64_t by = found_hosts > 0 && chips % found_hosts == 0 ? found_hosts : hosts;
  return chips / by;
}

int64_t Shape::devices_per_host(int64_t found_hosts) const {
  return chips_per_host(found_hosts) * devices_per_chip;
}

std::optional<Shape> shape_of(std::string_view type) {
  const size_t dash = type.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto number = support::parse_digits(type.substr(dash + 1), kMany);
  if (!number || *number == 0) return std::nullopt;
  for (const Generation& generation : kGenerations) {
    if (type.substr(0, dash) != generation.name) continue;
    Shape out;
    out.chips = generation.counts_chips ? *number : *number / generation.cores_per_chip;
    if (out.chips == 0) return std::nullopt;
    out.cores = out.chips * generation.cores_per_chip;
    out.devices_per_chip = generation.devices_per_chip;
    const bool single = out.chips <= (generation.counts_chips ? kSingleHostMaximum : kChipsPerHost);
    out.hosts = single ? 1 : (out.chips + kChipsPerHost - 1) / kChipsPerHost;
    out.few_or_many = generation.counts_chips && out.chips == kSingleHostMaximum;
    return out;
  }
  return std::nullopt;
}

std::optional<int64_t> chips_of(std::string_view topology) {
  int64_t chips = 1;
  int dimensions = 0;
  for (std::string_view rest = topology;; ++dimensions) {
    const size_t end = rest.find('x');
    const auto side = support::parse_digits(rest.substr(0, end), kMany);
    if (!side || *side == 0 || dimensions == 3 || chips * *side > kMany) return std::nullopt;
    chips *= *side;
    if (end == std::string_view::npos) break;
    rest = rest.substr(end + 1);
  }
  return dimensions >= 1 ? std::optional<int64_t>(chips) : std::nullopt;
}

std::vector<std::string> disagreements(std::string_view type, std::string_view topology,
                                       int64_t hosts) {
  std::vector<std::string> out;
  const auto shape = shape_of(type);
  if (!shape) return out;
  const bool fits =
      hosts == shape->hosts || (shape->few_or_many && hosts == shape->chips / kChipsPerHost);
  if (hosts > 0 && !fits)
    out.push_back(fmt::format("it has {} network endpoint{}, and {} has {} host{}", hosts,
                              hosts == 1 ? "" : "s", type, shape->hosts,
                              shape->hosts == 1 ? "" : "s"));
  const auto chips = chips_of(topology);
  if (chips && *chips != shape->chips)
    out.push_back(fmt::format("its topology {} is of {} chips, and {} has {}", topology, *chips,
                              type, shape->chips));
  return out;
}

}  // namespace muster::tpu
