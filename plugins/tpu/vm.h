// What a TPU VM's metadata server tells of the slice it is in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/tpu/options.h"
#include "plugins/tpu/slice.h"

namespace muster::tpu {

// The attribute tpu-env.
struct TpuEnv {
  std::string node, zone, type, topology, runtime;
  std::string preemptible;
  std::string odd;  // why it cannot be believed; "" when it can
  std::optional<int64_t> worker;
  int64_t slices = 1, slice = 0;  // of a multislice group
  std::string megascale_address;
};

// Lines "KEY: 'value'"; what cannot be understood is left out.
TpuEnv read_tpu_env(std::string_view text);

// "unknown:unknown:10.164.0.21,unknown:unknown:fd20::1": the addresses of the workers in their order. Nothing when an entry is none.
std::optional<std::vector<std::string>> read_worker_endpoints(std::string_view text);

// Asks for tpu-env: nothing where this machine is no TPU VM.
sdk::Result<std::optional<TpuEnv>> own_tpu_env(const sdk::Call& call);

// The slice of this VM, by one more question. DATA_LOSS when the answers do not fit each other.
sdk::Result<Answer> own_slice(const TpuEnv& env, const Options& options, const sdk::Call& call);

}  // namespace muster::tpu
