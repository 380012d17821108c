// Where the API server is asked for pods, by a list or a watch, and what its refusals mean.
#pragma once

#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

// "https://host:port/api/v1/namespaces/ml/pods?labelSelector=app%3Dt"; further parameters follow with '&'.
std::string pods_url(const Access& access, const Selector& selector);

// What an answer with another status than 200 to the verb "list" or "watch" means, with the server's words.
sdk::Failure pods_refusal(const Access& access, const Selector& selector, std::string_view verb,
                          const sdk::Response& response);

}  // namespace muster::kubernetes
