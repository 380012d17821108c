#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace muster::sim {

// Everything that is wrong with a file, each with its place, so that one run tells all of it.
class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  // Adds "FILE:LINE:COLUMN: MESSAGE"; the mark counts from 0, people from 1.
  void add(const YAML::Mark& mark, std::string_view message);

  bool empty() const { return lines_.empty(); }
  std::size_t count() const { return lines_.size(); }
  // One problem a line, without a newline at the end.
  std::string text() const;

 private:
  std::string file_;
  std::vector<std::string> lines_;
};

// One map of the file. Reading a key marks it as known; finish() reports the rest as unknown,
// with the nearest known key. A value of the wrong form is reported and reads as absent.
class MapReader {
 public:
  // what: how messages call this map, "a pod" for example.
  MapReader(const YAML::Node& node, std::string what, Problems& problems);

  // The node of a key, or nothing if the key is absent or null.
  std::optional<YAML::Node> get(std::string_view key);

  std::optional<std::string> text(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  // A whole number from low to high.
  std::optional<std::int64_t> number(std::string_view key, std::int64_t low, std::int64_t high);
  // One of the given words.
  std::optional<std::string> word(std::string_view key,
                                  std::initializer_list<std::string_view> words);
  // A length of time: 200ms, 1.5s, 2m or 1h; a bare number is seconds. In milliseconds.
  std::optional<std::int64_t> duration_ms(std::string_view key);
  // A map of texts, in the order of the file.
  std::vector<std::pair<std::string, std::string>> texts(std::string_view key);
  // A text or a list of texts.
  std::vector<std::string> text_list(std::string_view key);
  // The members of a list; a single map counts as a list of one.
  std::vector<YAML::Node> maps(std::string_view key);

  void problem(const YAML::Node& at, std::string_view message) {
    problems_.add(at.Mark(), message);
  }
  void problem(std::string_view message) { problems_.add(node_.Mark(), message); }
  const YAML::Node& node() const { return node_; }
  Problems& problems() { return problems_; }

  // Reports every key nobody asked for, and every key that is there twice.
  void finish();

 private:
  YAML::Node node_;
  std::string what_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace muster::sim
