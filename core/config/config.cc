#include "core/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/config/options.h"
#include "core/config/problems.h"
#include "core/config/resolver_reader.h"
#include "core/config/tree.h"
#include "core/config/words.h"
#include "core/config/yaml.h"

namespace muster {
namespace {

using conf::Keys;
using conf::Kind;
using conf::Member;
using conf::Node;
using conf::Problems;

constexpr int64_t kMaximumIndex = 2147483647;  // TensorFlow's ClusterDef has int32

void read_expect(const Node& map, Config* config, Problems* problems) {
  std::vector<std::string> jobs;
  for (const Member& member : map.members) jobs.push_back(member.key);
  const Keys counts(map, "'expect'", jobs, problems, "expect.");
  for (const Member& member : map.members) {
    if (member.key.empty()) problems->add(member.key_offset, "the name of a job is empty");
    const std::optional<int64_t> count = counts.integer(member.key, 0, kExpectMaximum);
    if (count) config->expect.emplace_back(member.key, *count);
  }
}

void read_task(const Node& map, Config* config, Problems* problems) {
  const Keys keys(map, "'task'", {"type", "index"}, problems, "task.");
  config->task_type = keys.text("type");
  config->task_id = keys.integer("index", 0, kMaximumIndex);
  for (const char* key : {"type", "index"}) {
    if (keys.find(key) == nullptr) {
      problems->add(
          map.offset,
          fmt::format("'task' needs '{}': it has 'type' and 'index', or is not there", key));
    }
  }
}

void read_sha256(const Node& map, Config* config, Problems* problems) {
  for (const Member& member : map.members) {
    if (!conf::check_backend_name(member.key, member.key_offset, problems)) continue;
    const Node& value = *member.value;
    if (value.kind == Kind::kBroken) continue;
    std::string hex = value.is_scalar() ? value.text : "";
    bool good = hex.size() == 64;
    for (char& c : hex) {
      if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
      good = good && ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
    }
    if (good) {
      config->plugin_sha256[member.key] = hex;
    } else {
      problems->add(value.offset,
                    fmt::format("the sha256 of plugin '{0}' must be 64 hexadecimal digits, as "
                                "'sha256sum libmuster-{0}.so' prints them",
                                member.key));
    }
  }
}

void read_plugins(const Node& map, Config* config, Problems* problems) {
  const Keys keys(map, "'plugins'", {"search", "sha256"}, problems, "plugins.");
  if (const Node* pins = keys.map("sha256")) read_sha256(*pins, config, problems);
  const Node* search = keys.list("search");
  if (search == nullptr) return;
  for (const Node* item : search->items) {
    if (item->kind == Kind::kBroken) continue;
    if (item->kind != Kind::kText || item->text.empty() ||
        item->text.find('\0') != std::string::npos) {
      problems->add(item->offset, fmt::format("'plugins.search' holds directories, not {}",
                                              item->text.empty() && item->kind == Kind::kText
                                                  ? "an empty text"
                                                  : conf::what_is(*item)));
      continue;
    }
    config->plugin_search.push_back(conf::absolute_in(*config, item->text));
  }
}

// A value that sounds secret is hidden wherever no schema of a backend says otherwise.
void hide_outside_of_options(const Node& node, Problems* problems) {
  for (const Node* item : node.items) hide_outside_of_options(*item, problems);
  for (const Member& member : node.members) {
    if (member.key == "options") continue;
    if (conf::sounds_secret(member.key)) conf::hide_value(*member.value, problems);
    hide_outside_of_options(*member.value, problems);
  }
}

void read_config(const Node& root, const DescriptorLookup& descriptors, Config* config,
                 Problems* problems) {
  if (root.kind == Kind::kBroken) return;
  if (root.kind != Kind::kMap) {
    problems->add(
        root.offset,
        root.kind == Kind::kNull
            ? "the configuration is empty; it begins with 'cluster:' and a resolver"
            : fmt::format("the configuration must be a mapping that begins with 'cluster:', not {}",
                          conf::what_is(root)));
    return;
  }
  hide_outside_of_options(root, problems);
  const Keys keys(root, "the configuration",
                  {"cluster", "expect", "rpc_layer", "environment", "task", "timeout", "plugins"},
                  problems);
  if (const Node* expect = keys.map("expect")) read_expect(*expect, config, problems);
  config->rpc_layer = keys.text("rpc_layer");
  config->environment = keys.text("environment");
  if (const Node* task = keys.map("task")) read_task(*task, config, problems);
  if (const auto timeout = keys.duration("timeout")) config->timeout = *timeout;
  if (const Node* plugins = keys.map("plugins")) read_plugins(*plugins, config, problems);

  const Member* cluster = keys.find("cluster");
  if (cluster == nullptr) {
    for (const Member& member : root.members) {
      if (nearest(member.key, {"cluster"}) == "cluster") return;  // it is told as an unknown key
    }
    problems->add(root.offset, root.find("backend") || root.find("chain") || root.find("merge")
                                   ? "a resolver stands under 'cluster:', which is missing"
                                   : "'cluster' is missing: the resolver to ask");
    return;
  }
  conf::Backends backends(descriptors, *config, problems);
  config->cluster = conf::read_resolver(*cluster->value, "cluster", 1, &backends, problems);
}

}  // namespace

std::string name_variables(const ResolverConfig& leaf, const std::string& option,
                           std::string message) {
  std::vector<VariableValue> variables;
  for (const auto& [pointer, values] : leaf.option_variables) {
    const bool within = pointer.compare(0, option.size(), option) == 0 &&
                        (pointer.size() == option.size() || pointer[option.size()] == '/');
    if (within) variables.insert(variables.end(), values.begin(), values.end());
  }
  return name_variables(std::move(message), variables);
}

std::string show_place(const Config& config, Mark mark, std::string_view message) {
  std::vector<conf::Hidden> hidden;
  for (const auto& [begin, end] : config.hidden) hidden.push_back({begin, end});
  return fmt::format("{}:{}:{}: {}\n{}", config.name, mark.line, mark.column, message,
                     conf::excerpt(config.text, conf::offset_of(config.text, mark), hidden));
}

Result<Config> parse_config(std::string text, std::string name,
                            const EnvironmentLookup& environment,
                            const DescriptorLookup& descriptors) {
  Config config;
  config.name = std::move(name);
  config.text = std::move(text);
  if (config.text.starts_with("\xEF\xBB\xBF")) config.text.erase(0, 3);

  Problems problems(config.name, config.text);
  conf::Tree tree;
  conf::read_yaml(0, config.text.size(), environment, &problems, &tree);
  if (tree.root != nullptr) read_config(*tree.root, descriptors, &config, &problems);
  if (!problems.empty()) return problems.error();
  for (const conf::Hidden& hidden : problems.hidden())
    config.hidden.emplace_back(hidden.begin, hidden.end);
  return config;
}

}  // namespace muster
