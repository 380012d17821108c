// What a resolver needs to be allowed to do, as its plugin says it (muster.permissions/1).
#pragma once

#include <string>
#include <vector>

namespace muster {

struct Permission {
  std::string principal_kind, principal;  // "" each when nobody is known
  std::string scope, rule;
};

struct Needs {
  std::vector<Permission> permissions;
  std::string command, text;  // the text that allows them, for the standard input of the command
};

// For whom and for what.
struct NeedsRequest {
  std::string principal;  // "": whom this process runs as
  bool watch = false;     // what a watch needs as well
};

}  // namespace muster
