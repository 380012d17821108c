// Writes the file format of sdk/recording.md.
#include <fmt/format.h>

#include "core/service/recording.h"
#include "core/service/recording_text.h"

namespace muster {
namespace {

// Longer names of headers and variables are no keys that YAML would read back.
constexpr size_t kLongestKey = 200;

// Lines with their indentation, each text redacted.
class Writer {
 public:
  explicit Writer(const Secrets& secrets) : secrets_(secrets) {}

  void line(size_t indent, std::string_view text) { out_.append(indent, ' ').append(text) += '\n'; }
  void text(size_t indent, std::string_view key, std::string_view value, bool body = false) {
    out_.append(indent, ' ').append(yaml_entry(key, secrets_.redact(value), indent, body));
  }
  // The first entry of a list's item.
  void item(size_t indent, std::string_view key, std::string_view value) {
    out_.append(indent, ' ')
        .append("- ")
        .append(yaml_entry(key, secrets_.redact(value), indent + 2, false));
  }
  void error(size_t indent, const Error& error) {
    line(indent, fmt::format("error: {}", code_name(error.code)));
    text(indent, "message", error.message);
    if (error.details.empty()) return;
    line(indent, "details:");
    for (const Detail& detail : error.details) {
      if (detail.key.size() <= kLongestKey) item(indent + 2, detail.key, detail.value);
    }
  }
  void headers(size_t indent, std::string_view key, const RecordedExchange::Headers& headers) {
    if (headers.empty()) return;
    line(indent, fmt::format("{}:", key));
    for (const auto& [name, value] : headers) {
      if (name.size() <= kLongestKey) item(indent + 2, name, value);
    }
  }
  void exchange(size_t indent, const RecordedExchange& exchange) {
    item(indent - 2, "method", exchange.method);
    text(indent, "url", exchange.url);
    if (exchange.attempt > 1) line(indent, fmt::format("attempt: {}", exchange.attempt));
    headers(indent, "headers", exchange.headers);
    if (!exchange.body.empty()) text(indent, "body", exchange.body, true);
    line(indent, fmt::format("milliseconds: {}", exchange.milliseconds));
    if (exchange.error) {
      error(indent, *exchange.error);
    } else {
      line(indent, fmt::format("status: {}", exchange.status));
    }
    headers(indent, "response_headers", exchange.response_headers);
    const std::string body = secrets_.redact(exchange.response_body);
    if (body.size() != exchange.bytes)
      line(indent, fmt::format("response_bytes: {}", exchange.bytes));
    if (!body.empty()) out_.append(indent, ' ').append(yaml_entry("response", body, indent, true));
  }

  void run(size_t indent, const RecordedRun& run) {
    item(indent - 2, "program", run.arguments.empty() ? "" : run.arguments[0]);
    if (run.arguments.size() > 1) line(indent, "arguments:");
    for (size_t n = 1; n < run.arguments.size(); ++n)
      line(indent + 2, fmt::format("- {}", yaml_quote(secrets_.redact(run.arguments[n]))));
    line(indent, fmt::format("milliseconds: {}", run.milliseconds));
    if (run.error) return error(indent, *run.error);
    line(indent, fmt::format("exit_status: {}", run.exit_status));
    if (!run.output.empty()) text(indent, "output", run.output, true);
    if (!run.error_output.empty()) text(indent, "error_output", run.error_output, true);
  }

  void resolver(const std::string& path, const RecordedResolver& resolver) {
    out_ += '\n';
    item(2, "path", path);
    if (resolver.milliseconds) line(4, fmt::format("milliseconds: {}", *resolver.milliseconds));
    if (!resolver.times.empty()) {
      line(4, "times:");
      for (const int64_t time : resolver.times)
        line(6, fmt::format("- {}", yaml_quote(time_text(time))));
    }
    if (!resolver.variables.empty()) {
      line(4, "variables:");
      for (const auto& [name, value] : resolver.variables) {
        if (name.size() > kLongestKey) continue;
        if (value) {
          text(6, name, *value);
        } else {
          line(6, fmt::format("{}: null", yaml_key(name)));
        }
      }
    }
    if (resolver.hostname) text(4, "hostname", *resolver.hostname);
    if (!resolver.files.empty()) {
      line(4, "files:");
      for (const RecordedFile& file : resolver.files) {
        item(6, "file", file.file);
        if (file.error) {
          error(8, *file.error);
        } else {
          text(8, "content", file.content, true);
        }
      }
    }
    if (resolver.terminal) line(4, fmt::format("terminal: {}", *resolver.terminal));
    if (!resolver.runs.empty()) {
      line(4, "programs:");
      for (const RecordedRun& recorded : resolver.runs) run(8, recorded);
    }
    if (!resolver.exchanges.empty()) {
      line(4, "requests:");
      for (const RecordedExchange& recorded : resolver.exchanges) exchange(8, recorded);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  const Secrets& secrets_;
  std::string out_;
};

}  // namespace

std::string write_recording(const RecordedResolvers& resolvers, const Secrets& secrets) {
  Writer writer(secrets);
  writer.line(0,
              "# What one resolve asked of its surroundings, and what it was answered: muster "
              "resolve --replay");
  writer.line(0,
              "# gives the same answer from it. Secrets read REDACTED. The format: recording.md of "
              "muster's SDK.");
  writer.line(0, "muster_recording: 1");
  if (resolvers.empty()) {
    writer.line(0, "resolvers: []");
    return writer.take();
  }
  writer.line(0, "resolvers:");
  for (const auto& [path, resolver] : resolvers) writer.resolver(path, resolver);
  return writer.take();
}

}  // namespace muster
