// What a service account's token (a JWT) says of whom it was made for. Nobody here checks its signature: that is the server's.
#pragma once

#include <string>
#include <string_view>

namespace muster::kubernetes {

// The pod that a process runs in: "" each where nothing says it.
struct OwnPod {
  std::string name_space, name, uid;
};

// The pod that a token was made for.
OwnPod pod_of_token(std::string_view token);

// The user that RBAC knows by it: "system:serviceaccount:NAMESPACE:NAME"; "" when it does not say.
std::string user_of_token(std::string_view token);

}  // namespace muster::kubernetes
