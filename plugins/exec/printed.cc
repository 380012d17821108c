#include "plugins/exec/printed.h"

#include <simdjson.h>

#include <array>

#include "plugins/support/lines.h"
#include "plugins/support/text.h"

namespace muster::exec {
namespace {

constexpr std::array<std::pair<Format, std::string_view>, 5> kWords = {
    {{Format::kAnswer, "answer"},
     {Format::kCluster, "cluster"},
     {Format::kTfConfig, "tf_config"},
     {Format::kFileSd, "file_sd"},
     {Format::kLines, "lines"}}};

}  // namespace

std::optional<Format> format_of_word(std::string_view word) {
  for (const auto& [format, name] : kWords)
    if (name == word) return format;
  return std::nullopt;
}

std::string_view word_of(Format format) {
  for (const auto& [known, name] : kWords)
    if (known == format) return name;
  return "";
}

Format detect(std::string_view printed) {
  const std::string_view text = support::trimmed(printed);
  if (text.empty()) return Format::kLines;
  if (text[0] == '[') return Format::kFileSd;
  if (text[0] != '{') return Format::kLines;
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  // What is no JSON is told by the reader of a cluster, with its place.
  if (parser.parse(text.data(), text.size(), true).get(object)) return Format::kCluster;
  bool cluster = false, answer = false;
  for (const auto& [key, value] : object) {
    if ((key == "cluster" || key == "sparseCluster") && value.is_object()) cluster = true;
    if ((key == "jobs" && value.is_object()) || (key == "tasks" && value.is_array()) ||
        (key == "complete" && value.is_bool()))
      answer = true;
  }
  if (!cluster) return Format::kCluster;
  return answer ? Format::kAnswer : Format::kTfConfig;
}

sdk::Result<Cluster> read_task_lines(const sdk::Host& host, std::string_view printed,
                                     const std::string& name) {
  auto lines = support::read_lines(host, printed, name);
  if (!lines) return std::move(lines).failure();
  Cluster cluster;
  for (const support::TaskLine& line : *lines)
    cluster.members.push_back(
        {std::string(line.job), line.index, std::string(line.name), std::string(line.address), {}});
  return cluster;
}

}  // namespace muster::exec
