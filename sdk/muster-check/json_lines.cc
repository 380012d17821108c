#include "sdk/muster-check/json_lines.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdio>

namespace muster::check {
namespace {

class Line {
 public:
  Line() { writer_.StartObject(); }
  ~Line() {
    writer_.EndObject();
    std::puts(buffer_.GetString());
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  rapidjson::Writer<rapidjson::StringBuffer>& at(const char* key) {
    writer_.Key(key);
    return writer_;
  }
  void text(const char* key, const std::string& value) {
    at(key).String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace

void json_begin(const std::string& name) { Line().text("begin", name); }

void json_result(const std::string& name, const TestResult& result) {
  using Kind = TestResult::Kind;
  Line line;
  line.text("test", name);
  line.text("status", result.kind == Kind::kPassed    ? "passed"
                      : result.kind == Kind::kFailed  ? "failed"
                      : result.kind == Kind::kSkipped ? "skipped"
                                                      : "not run");
  line.at("seconds").Double(result.seconds);
  auto& writer = line.at("findings");
  writer.StartArray();
  for (const Finding& finding : result.verdict.findings) {
    writer.StartObject();
    line.text("duty", finding.duty);
    line.text("text", finding.text);
    writer.EndObject();
  }
  writer.EndArray();
  line.at("notes").StartArray();
  for (const std::string& note : result.verdict.notes)
    writer.String(note.data(), static_cast<rapidjson::SizeType>(note.size()));
  writer.EndArray();
  if (!result.verdict.skipped.empty()) line.text("reason", result.verdict.skipped);
}

void json_end(const std::string& file, uint64_t seed, int passed, int failed, int skipped) {
  Line line;
  line.text("file", file);
  line.at("seed").Uint64(seed);
  line.at("passed").Int(passed);
  line.at("failed").Int(failed);
  line.at("skipped").Int(skipped);
}

}  // namespace muster::check
