// A configuration of one backend, from the command line.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/config/config.h"
#include "core/config/problems.h"
#include "core/config/resolver_reader.h"
#include "core/config/tree.h"
#include "core/config/words.h"
#include "core/config/yaml.h"
#include "core/path.h"

namespace muster {
namespace {

using conf::Kind;
using conf::Member;
using conf::Node;

constexpr std::string_view kFlag = "-O ";

// One -O in the text that stands for the command line.
struct Option {
  size_t begin = 0;   // of NAME
  size_t equals = 0;  // npos: there is none
  size_t end = 0;
};

// The parts of "a.b\.c": "a", "b.c".
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '\\' && at + 1 < name.size() && (name[at + 1] == '.' || name[at + 1] == '\\')) {
      parts.back() += name[++at];
    } else if (name[at] == '.') {
      parts.emplace_back();
    } else {
      parts.back() += name[at];
    }
  }
  return parts;
}

void put(const Option& option, Node* root, Node* value, conf::Tree* tree,
         conf::Problems* problems) {
  const std::string name = problems->text().substr(option.begin, option.equals - option.begin);
  const std::vector<std::string> parts = parts_of(name);
  Node* object = root;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) {
      problems->add(
          option.begin,
          fmt::format("the name '{}' has an empty part; a dot within a name is written '\\.'",
                      conf::printable(name)));
      return;
    }
    const bool last = i + 1 == parts.size();
    const Member* known = object->find(parts[i]);
    if (known == nullptr) {
      Node* next = last ? value : tree->make(Kind::kMap, option.begin);
      object->members.push_back({parts[i], option.begin, next});
      object = next;
      continue;
    }
    const Mark first = conf::mark_at(problems->text(), known->key_offset);
    if (last) {
      problems->add(option.begin, fmt::format("option '{}' is here twice; the first is at {}:{}",
                                              conf::printable(name), first.line, first.column));
      return;
    }
    if (known->value->kind != Kind::kMap) {
      problems->add(
          option.begin,
          fmt::format("option '{}' is within '{}', which got a value at {}:{}",
                      conf::printable(name), conf::printable(parts[i]), first.line, first.column));
      return;
    }
    object = known->value;
  }
}

}  // namespace

Result<Config> shorthand_config(const std::string& backend, const std::vector<std::string>& options,
                                const std::vector<std::string>& plugin_search,
                                const EnvironmentLookup& environment,
                                const DescriptorLookup& descriptors) {
  Config config;
  config.name = "<command line>";
  for (const std::string& directory : plugin_search)
    config.plugin_search.push_back(rooted_path(directory));
  config.text = "--backend ";
  const size_t backend_place = config.text.size();
  config.text += backend;
  std::vector<Option> places;
  for (const std::string& option : options) {
    config.text += '\n';
    config.text += kFlag;
    Option place;
    place.begin = config.text.size();
    const size_t equals = option.find('=');
    place.equals = equals == std::string::npos ? equals : place.begin + equals;
    config.text += option;
    place.end = config.text.size();
    places.push_back(place);
  }

  conf::Problems problems(config.name, config.text);
  conf::Tree tree;
  Node* root = tree.make(Kind::kMap, backend_place);
  for (const Option& option : places) {
    if (option.equals == std::string::npos || option.equals == option.begin) {
      problems.add(option.begin, "an option is written NAME=VALUE, as in -O port=8470");
      continue;
    }
    const size_t begin = option.equals + 1;
    if (conf::sounds_secret(
            std::string_view(config.text).substr(option.begin, option.equals - option.begin))) {
      problems.hide({begin, option.end});
    }
    Node* value = nullptr;
    if (begin == option.end) {
      value = tree.make(Kind::kText, begin);  // NAME= is an empty text, as in a shell
    } else {
      const size_t before = problems.count();
      tree.root = nullptr;
      conf::read_yaml(begin, option.end, environment, &problems, &tree);
      value = tree.root;
      if (value == nullptr && problems.count() == before) continue;
    }
    if (value == nullptr) value = tree.make(Kind::kBroken, begin);
    put(option, root, value, &tree, &problems);
  }

  config.cluster.path = "cluster";
  config.cluster.backend = backend;
  config.cluster.mark = conf::mark_at(config.text, backend_place);
  if (conf::check_backend_name(backend, backend_place, &problems)) {
    conf::Backends backends(descriptors, config, &problems);
    backends.check(&config.cluster, root, backend_place);
  }
  if (!problems.empty()) return problems.error();
  for (const conf::Hidden& hidden : problems.hidden())
    config.hidden.emplace_back(hidden.begin, hidden.end);
  return config;
}

}  // namespace muster
