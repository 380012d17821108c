#include "plugins/kubernetes/pod_list.h"

#include <fmt/format.h>

#include "plugins/kubernetes/pod_json.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
using namespace json;

sdk::Failure list_not_understood(const std::string& why) {
  return {MUSTER_E_DATA_LOSS, "the answer of the API server cannot be understood: " + why, {}};
}

sdk::Failure list_not_held() {
  return {MUSTER_E_RESOURCE_EXHAUSTED,
          fmt::format("more than {} bytes of the API server's list cannot be read before what "
                      "follows them",
                      kHeldMaximum),
          {{"hint",
            "fewer pods in a page, by the option 'page_size', make it shorter; a single "
            "pod has never so much"}}};
}

sdk::Result<std::string> PodListReader::read(std::string_view body, const Wanted& wanted,
                                             PodList& list) {
  std::string kind, odd, next;
  bool has_items = false, has_kind = false, has_metadata = false, has_continue = false,
       has_version = false;
  // Of two lists of pods, or two tokens, one would be a part of the whole.
  const auto once = [&odd](bool& seen, const char* path) {
    if (seen && odd.empty()) odd = fmt::format("{} stands there twice", path);
    seen = true;
  };
  const auto walk = [&]() -> error_code {
    walk_.open(body);
    value root(walk_);
    return each_field(root, [&](const auto& key, auto& inside) -> error_code {
      if (key == "kind") {
        once(has_kind, "kind");
        return read_text(inside, kind);
      }
      if (key == "metadata") {
        once(has_metadata, "metadata");
        // A server always writes a map, and in it the token; taken for an empty one, a null would end the list early.
        if (inside.walk().peek() != '{') odd = "its metadata is not a map";
        return each_field(inside, [&](const auto& name, auto& what) -> error_code {
          if (name == "continue") {
            once(has_continue, "metadata.continue");
            // A server leaves it out at the end; taken for that, a null would end the list early.
            if (what.walk().peek() == '"') return read_text(what, next);
            odd = "metadata.continue is not a text";
            return SUCCESS;
          }
          if (!(name == "resourceVersion")) return SUCCESS;
          once(has_version, "metadata.resourceVersion");
          return read_text(what, list.version);
        });
      }
      if (key == "items") {
        once(has_items, "items");
        return each_element(inside, [&](auto& item) -> error_code {
          Pod& pod = list.pods.emplace_back();
          if (auto error = read_pod(item, wanted, list, pod)) return error;
          if (odd.empty()) odd = oddity(pod);
          return SUCCESS;
        });
      }
      return SUCCESS;
    });
  };
  if (auto error = walk())
    return list_not_understood(
        fmt::format("{} ({} bytes)", simdjson::error_message(error), body.size()));
  if (!walk_.ended()) return list_not_understood("something follows its end");
  if (!kind.empty() && kind != "PodList")
    return list_not_understood(fmt::format("it is a {}, not a PodList", support::quote(kind)));
  if (!has_items) return list_not_understood("it has no 'items'");
  if (!odd.empty()) return list_not_understood(odd);
  return next;
}

ApiStatus read_status(std::string_view body) {
  ApiStatus status;
  Walk walk;
  walk.open(body);
  value root(walk);
  std::string kind;
  const auto error = each_field(root, [&](const auto& key, auto& inside) -> error_code {
    if (key == "kind") return read_text(inside, kind);
    if (key == "message") return read_text(inside, status.message);
    if (key == "reason") return read_text(inside, status.reason);
    return SUCCESS;
  });
  if (error || kind != "Status") return {};
  return status;
}

}  // namespace muster::kubernetes
