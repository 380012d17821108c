#include "core/resolve/source_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/spec/rfc3339.h"

namespace muster {
namespace {

std::string indent(std::string_view text) {
  std::string indented;
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented += "    ";
  }
  return indented;
}

}  // namespace

const char* kind_name(const ResolverConfig& config) {
  switch (config.kind) {
    case ResolverConfig::Kind::kLeaf: return config.backend.c_str();
    case ResolverConfig::Kind::kChain: return "chain";
    case ResolverConfig::Kind::kMerge: return "merge";
  }
  return "";
}

Error placed(const Config& config, const ResolverConfig& leaf, Error error) {
  const std::string option = error.detail("option");
  if (option.empty()) return error;
  error.message = name_variables(leaf, option, std::move(error.message));
  for (Detail& detail : error.details)
    if (detail.key != "option")
      detail.value = name_variables(leaf, option, std::move(detail.value));
  const auto mark = leaf.option_marks.find(option);
  if (mark != leaf.option_marks.end())
    error.message = show_place(config, mark->second, error.message);
  return error;
}

std::string source_line(const SourceRecord& record) {
  return fmt::format("{} ({}): {}{}{}, {} ms", record.backend, record.path, record.status,
                     record.status == "OK" ? fmt::format(", tasks: {}", record.tasks) : "",
                     record.message.empty() ? "" : ": " + record.message, record.milliseconds);
}

void add_progress(const ResolverConfig& leaf, const Backend& backend, std::string& lines) {
  const std::string progress = backend.progress();
  if (progress.empty()) return;
  lines +=
      fmt::format("{}{} ({}): {}", lines.empty() ? "" : "\n", leaf.backend, leaf.path, progress);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string with_hint(const Error& error) {
  const std::string& hint = error.detail("hint");
  return hint.empty() ? error.message : error.message + "; " + hint;
}

std::string failing_words(const std::string& who, int64_t since_ns, const std::string& kept,
                          const Error& error) {
  return fmt::format("{} fails since {}; {}; asking again failed: {}", who, rfc3339(since_ns), kept,
                     with_hint(error));
}

std::string said_before(const ResolverConfig& chain, const std::vector<Error>& errors,
                        size_t count) {
  std::string said;
  for (size_t n = 0; n < std::min(count, errors.size()); ++n)
    said += fmt::format("{}{} did not: {}", n == 0 ? "" : ", ", chain.children[n].path,
                        code_name(errors[n].code));
  return said;
}

Error chain_stopped(const ResolverConfig& chain, std::vector<Error> errors, size_t at) {
  Error error = std::move(errors[at]);
  if (chain.children.size() > 1 && error.code != Code::kCancelled) {
    error.message += fmt::format(
        "\n  (the chain {} goes on only when a source is not here or not now; {} is for you to "
        "mend)",
        chain.path, code_name(error.code));
  }
  return error;
}

// The most telling code: a source that is there and does not answer says more than one that is not there.
Error chain_failed(const ResolverConfig& chain, const std::vector<Error>& errors) {
  Code code = Code::kNotFound;
  std::string message = fmt::format("no resolver of the chain {} answered:", chain.path);
  for (size_t n = 0; n < errors.size(); ++n) {
    const Error& error = errors[n];
    const bool telling = error.code != Code::kNotFound && error.code != Code::kFailedPrecondition;
    if (telling && code == Code::kNotFound) code = error.code;
    message +=
        fmt::format("\n  {} ({}): {}: {}", chain.children[n].path, kind_name(chain.children[n]),
                    code_name(error.code), indent(error.message));
  }
  return Error{code, std::move(message), {{"path", chain.path}}};
}

}  // namespace muster
