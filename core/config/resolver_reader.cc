#include "core/config/resolver_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/config/options.h"
#include "core/config/words.h"
#include "core/path.h"

namespace muster::conf {
namespace {

constexpr const char* kResolverForms =
    "a resolver: '{backend: NAME, options: {...}}', '{chain: [...]}' or '{merge: [...]}'";

void read_children(const Node& list, const char* kind, int depth, Backends* backends,
                   Problems* problems, ResolverConfig* resolver) {
  if (list.items.empty()) {
    problems->add(list.offset,
                  fmt::format("'{}' must hold one resolver at least; the list is empty", kind));
  }
  for (size_t i = 0; i < list.items.size(); ++i) {
    resolver->children.push_back(read_resolver(*list.items[i],
                                               fmt::format("{}.{}[{}]", resolver->path, kind, i),
                                               depth + 1, backends, problems));
  }
}

// Nothing: 'auto', which is what an absent one means.
std::optional<bool> read_isolate(const Keys& keys, Problems* problems) {
  const Member* member = keys.find("isolate");
  if (member == nullptr) return std::nullopt;
  const Node& value = *member->value;
  if (value.kind == Kind::kText && value.text == "auto") return std::nullopt;
  if (value.kind == Kind::kBool) return value.boolean;
  wrong_type("isolate", value, "true, false or 'auto'", problems);
  return std::nullopt;
}

// The program and its arguments; nothing when there is none, or a wrong one, which is told.
std::vector<std::string> read_command(const Keys& keys, const Backends& backends,
                                      Problems* problems) {
  std::vector<std::string> command;
  const Node* list = keys.list("command");
  if (list == nullptr) return command;
  for (const Node* item : list->items) {
    if (item->kind == Kind::kBroken) return {};
    if (item->kind != Kind::kText || item->text.find('\0') != std::string::npos) {
      problems->add(item->offset, fmt::format("'command' holds texts, not {}", what_is(*item)));
      return {};
    }
    command.push_back(item->text);
  }
  if (command.empty() || command[0].find('/') == std::string::npos) {
    problems->add(list->offset,
                  "'command' begins with the program's path, with a slash in it, as in "
                  "'[./my-backend, --flag]'");
    return {};
  }
  command[0] = backends.absolute(command[0]);
  return command;
}

void read_leaf(const Keys& keys, Backends* backends, Problems* problems, ResolverConfig* resolver) {
  resolver->isolate = read_isolate(keys, problems);
  const Node* options = keys.map("options");
  const bool wrong_options = options == nullptr && keys.find("options") != nullptr;
  const std::optional<std::string> backend = keys.text("backend");
  if (!backend) return;
  resolver->backend = *backend;
  const size_t place = keys.find("backend")->value->offset;
  if (!check_backend_name(*backend, place, problems) || wrong_options) {
    if (options != nullptr) hide_what_sounds_secret(*options, problems);
    return;
  }
  resolver->command = read_command(keys, *backends, problems);
  if (resolver->command.empty() && keys.find("command") != nullptr) {
    if (options != nullptr) hide_what_sounds_secret(*options, problems);
    return;
  }
  if (!resolver->command.empty() && resolver->isolate == false) {
    problems->add(keys.find("isolate")->value->offset,
                  "a backend that is an executable always runs in a process of its own");
  }
  backends->check(resolver, options, place);
}

}  // namespace

bool check_backend_name(const std::string& name, size_t place, Problems* problems) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (!name.empty() && name.size() <= 64 && name[0] != '-' &&
      std::all_of(name.begin(), name.end(), good))
    return true;
  problems->add(
      place, "the name of a backend has 1 to 64 letters, digits, '_' and '-', as in 'tf_config'");
  return false;
}

std::string absolute_in(const Config& config, const std::string& path) {
  const std::filesystem::path file(config.name);
  return rooted_path(path, file.is_absolute() ? file.parent_path() : std::filesystem::path());
}

Backends::Known& Backends::find(const PluginUse& use, size_t place) {
  const std::string& backend = use.backend;
  const auto [entry, added] = known_.try_emplace(use);
  Known& known = entry->second;
  if (!added) {
    if (!known.schema) {
      const Mark first = mark_at(problems_.text(), known.place);
      problems_.add(place,
                    fmt::format("backend '{}' cannot be used, as said at {}:{}", backend,
                                first.line, first.column),
                    Code::kNotFound);
    }
    return known;
  }
  known.place = place;
  const Result<Descriptor> descriptor = lookup_(use, config_);
  if (!descriptor) {
    const Error& error = descriptor.error();
    std::string story;
    for (char c : error.message) story += c == '\n' ? std::string("\n  ") : std::string(1, c);
    while (!story.empty() && (story.back() == ' ' || story.back() == '\n')) story.pop_back();
    const bool plain = error.code == Code::kNotFound || error.code == Code::kPermissionDenied ||
                       error.code == Code::kDeadlineExceeded;
    problems_.add(place, std::move(story), plain ? error.code : Code::kInvalidArgument,
                  error.details);
    return known;
  }
  Result<OptionSchema> schema = OptionSchema::parse(descriptor->options_schema);
  if (!schema) {
    problems_.add(
        place,
        fmt::format("the plugin of backend '{}' has an options schema that cannot be used: {}",
                    backend, schema.error().message));
    return known;
  }
  known.schema.emplace(std::move(*schema));
  return known;
}

void Backends::check(ResolverConfig* leaf, const Node* options, size_t place) {
  Known& known = find({leaf->backend, leaf->command}, place);
  if (!known.schema) {
    if (options != nullptr) hide_what_sounds_secret(*options, &problems_);
    return;
  }
  CheckedOptions checked = check_options(leaf->backend, *known.schema, options, place, &problems_);
  leaf->options_json = std::move(checked.json);
  leaf->secrets = std::move(checked.secrets);
  leaf->option_marks = std::move(checked.marks);
  leaf->option_variables = std::move(checked.variables);
}

ResolverConfig read_resolver(const Node& node, std::string path, int depth, Backends* backends,
                             Problems* problems) {
  ResolverConfig resolver;
  resolver.path = std::move(path);
  resolver.mark = mark_at(problems->text(), node.offset);
  if (node.kind == Kind::kBroken) return resolver;
  if (node.kind != Kind::kMap) {
    problems->add(node.offset, fmt::format("expected {}, not {}", kResolverForms, what_is(node)));
    return resolver;
  }
  if (depth > kMaximumResolverDepth) {
    problems->add(node.offset,
                  fmt::format("more than {} resolvers within each other", kMaximumResolverDepth));
    return resolver;
  }
  const Keys keys(
      node, "a resolver",
      {"backend", "command", "options", "isolate", "chain", "merge", "timeout", "fallback_after"},
      problems);
  resolver.timeout = keys.duration("timeout");

  const std::optional<std::chrono::nanoseconds> fallback_after = keys.duration("fallback_after");
  if (fallback_after) resolver.fallback_after = *fallback_after;

  const Member* kinds[] = {keys.find("backend"), keys.find("chain"), keys.find("merge")};
  const Member* first = nullptr;
  for (const Member* kind : kinds) {
    if (kind == nullptr) continue;
    if (first == nullptr || kind->key_offset < first->key_offset) first = kind;
  }
  if (first == nullptr) {
    problems->add(node.offset, "this resolver has no 'backend', 'chain' or 'merge'");
    if (const Node* options = keys.map("options")) hide_what_sounds_secret(*options, problems);
    return resolver;
  }
  for (const Member* kind : kinds) {
    if (kind == nullptr || kind == first) continue;
    problems->add(kind->key_offset,
                  fmt::format("a resolver is one of 'backend', 'chain' and 'merge'; '{}' is here "
                              "beside '{}'",
                              kind->key, first->key));
  }
  const Member* fallback = keys.find("fallback_after");
  if (fallback != nullptr && first->key != "chain")
    problems->add(fallback->key_offset,
                  fmt::format("'fallback_after' belongs to a chain; a {} has no other source to "
                              "fall back to",
                              first->key));
  if (first->key == "backend") {
    resolver.kind = ResolverConfig::Kind::kLeaf;
    read_leaf(keys, backends, problems, &resolver);
    return resolver;
  }
  for (const char* key : {"options", "isolate", "command"}) {
    const Member* member = keys.find(key);
    if (member == nullptr) continue;
    hide_what_sounds_secret(*member->value, problems);
    problems->add(
        member->key_offset,
        fmt::format("'{}' belongs to a backend; a {} has none of its own", key, first->key));
  }
  resolver.kind =
      first->key == "chain" ? ResolverConfig::Kind::kChain : ResolverConfig::Kind::kMerge;
  if (const Node* list = keys.list(first->key)) {
    read_children(*list, first->key == "chain" ? "chain" : "merge", depth, backends, problems,
                  &resolver);
  }
  return resolver;
}

}  // namespace muster::conf
