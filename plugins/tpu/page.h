// What the API's answers about nodes and about queued resources have in common.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/strict_json.h"

namespace muster::tpu {

// A page of a list, but for what it lists.
struct Page {
  std::string next;
  std::vector<std::string> unreachable;  // zones
};

// What one of an answer's things is read by; what is wrong with it, its reader says.
using ReadOne = std::function<void(const support::StrictJson&)>;

// The one thing that an answer is; `what` for the failure, which is DATA_LOSS: "a node".
sdk::Status read_single(std::string_view json, const char* what, const ReadOne& read);

// Each of the list `key`, which is absent when it is empty.
sdk::Status read_page(std::string_view json, const char* what, const char* key, const ReadOne& read,
                      Page& out);

// N of a `name` that ends with "/locations/Z/KIND/N", and Z. DATA_LOSS, by the reader, where it is none.
struct ResourceName {
  std::string name, zone;
};
ResourceName resource_name(const support::StrictJson& at);

// Z of "projects/P/locations/Z/nodes/N", or of what ends there; "" for none.
std::string zone_in(std::string_view name);

// What a state means to a person, and whether waiting for its end is of no use.
struct StateWords {
  const char* state;
  const char* meaning;
  bool lost;
};

// Null for a state that is not in the table.
template <typename Table>
const StateWords* words_of(const Table& table, std::string_view state) {
  for (const StateWords& one : table)
    if (one.state == state) return &one;
  return nullptr;
}

}  // namespace muster::tpu
