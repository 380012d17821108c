// From a tree of values to a Config: the keys of muster.yaml, what each may hold, and the options of every backend.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/config/option_schema.h"
#include "core/config/problems.h"
#include "core/config/tree.h"

namespace muster::conf {

constexpr int kMaximumResolverDepth = 64;  // resolvers within each other

// A path of the config as it is meant: relative ones count from the folder of its file.
std::string absolute_in(const Config& config, const std::string& path);

// Finds the descriptor of each backend once and checks options against it.
class Backends {
 public:
  // `config` has its plugins.* by the time of the first use. Both live as long as this.
  Backends(const DescriptorLookup& lookup, const Config& config, Problems* problems)
      : lookup_(lookup), config_(config), problems_(*problems) {}

  std::string absolute(const std::string& path) const { return absolute_in(config_, path); }
  // Checks `options` (null: none) of leaf->backend, whose name stands at `place`, and fills in what the leaf has of them.
  void check(ResolverConfig* leaf, const Node* options, size_t place);

 private:
  struct Known {
    std::optional<OptionSchema> schema;  // none: it cannot be used, as was told at `place`
    size_t place = 0;
  };
  Known& find(const PluginUse& use, size_t place);

  const DescriptorLookup& lookup_;
  const Config& config_;
  Problems& problems_;
  std::map<PluginUse, Known> known_;
};

// Whether `name` can be a backend's; else tells it at `place`.
bool check_backend_name(const std::string& name, size_t place, Problems* problems);

// Reads a mapping key by key: those that nobody asked for are unknown. Tells wrong types by itself.
class Keys {
 public:
  // `owner` names the mapping in errors: "a resolver", "'task'"; `prefix` stands before its keys there: "task.".
  Keys(const Node& map, const std::string& owner, const std::vector<std::string>& known,
       Problems* problems, std::string prefix = "");

  const Member* find(const std::string& key) const { return map_.find(key); }
  // The text of this key; nullopt when it is absent or wrong, which is told.
  std::optional<std::string> text(const std::string& key) const;
  std::optional<int64_t> integer(const std::string& key, int64_t least, int64_t most) const;
  std::optional<bool> boolean(const std::string& key) const;
  std::optional<std::chrono::nanoseconds> duration(const std::string& key) const;
  // The list or mapping of this key, or null.
  const Node* list(const std::string& key) const { return container(key, Kind::kList, "a list"); }
  const Node* map(const std::string& key) const { return container(key, Kind::kMap, "a mapping"); }

 private:
  const Node* container(const std::string& key, Kind kind, const char* expected) const;

  const Node& map_;
  std::string prefix_;
  Problems& problems_;
};

// Tells that the value of `key` should be something else.
void wrong_type(const std::string& key, const Node& value, const std::string& expected,
                Problems* problems);

ResolverConfig read_resolver(const Node& node, std::string path, int depth, Backends* backends,
                             Problems* problems);

}  // namespace muster::conf
