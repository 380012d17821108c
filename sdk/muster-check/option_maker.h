// Options made from a schema by chance; the same seed makes the same.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace muster::check {

class OptionMaker {
 public:
  // `schema`: JSON Schema of the options, "" for none.
  OptionMaker(const std::string& schema, uint64_t seed);

  // What the schema seems to allow. It may refuse it all the same: this knows less of JSON Schema than the core's judge.
  std::string right();
  // The same with one thing changed: another type, a key that is not known, a value beyond its bounds, null.
  std::string wrong();
  // `options` with each top-level secret in turn set to a text that stands nowhere else.
  std::vector<std::string> with_each_secret(const std::string& options);

 private:
  using Value = rapidjson::Value;
  Value make(const Value& schema, int depth);
  Value make_object(const Value& schema, int depth);
  Value secret_text();  // stands nowhere else
  Value make_text(const Value& schema);
  Value make_integer(const Value& schema);
  Value strange_value();
  Value text_value(const std::string& text);
  uint64_t below(uint64_t count) { return chance_() % count; }

  rapidjson::Document schema_;
  rapidjson::Document made_;  // whose memory the values are in
  std::mt19937_64 chance_;
};

}  // namespace muster::check
