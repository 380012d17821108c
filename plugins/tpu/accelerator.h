// What a type of TPU slice is made of. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::tpu {

struct Shape {
  int64_t cores = 0, chips = 0, hosts = 0;
  int64_t devices_per_chip = 1;  // as a program sees them: v4 and v5p show their two cores as one
  bool few_or_many = false;      // of 8 chips: one host of 8, or in GKE two of 4

  int64_t chips_per_host(int64_t found_hosts) const;
  // TensorFlow's and JAX's devices of one host.
  int64_t devices_per_host(int64_t found_hosts) const;
};

// By the name of the type, whose number counts cores ("v4-16") or chips ("v5litepod-16", "v6e-16"); nothing where it says nothing.
std::optional<Shape> shape_of(std::string_view type);

// The chips of a topology, "2x2x4" or "4x4"; nothing when it is none.
std::optional<int64_t> chips_of(std::string_view topology);

// What does not fit: "it has 3 network endpoints, and v5litepod-16 has 4 hosts". Hosts: 0 when they are not known.
std::vector<std::string> disagreements(std::string_view type, std::string_view topology,
                                       int64_t hosts);

}  // namespace muster::tpu
