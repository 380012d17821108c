#pragma once

#include <string>
#include <string_view>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace muster::sim {

// A JSON writer over a string buffer that takes string_views.
class JsonWriter {
 public:
  JsonWriter() : writer_(buffer_) {}

  void open_object() { writer_.StartObject(); }
  void close_object() { writer_.EndObject(); }
  void open_array() { writer_.StartArray(); }
  void close_array() { writer_.EndArray(); }
  void key(std::string_view text) {
    writer_.Key(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void value(std::string_view text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool flag) { writer_.Bool(flag); }
  void value(std::int64_t number) { writer_.Int64(number); }
  void value(int number) { writer_.Int(number); }
  void null() { writer_.Null(); }
  // Text that is JSON already.
  void raw(std::string_view json) {
    writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  }

  template <typename T>
  void member(std::string_view name, const T& v) {
    key(name);
    value(v);
  }
  // Left out when empty, as the API server does.
  void member_unless_empty(std::string_view name, std::string_view text) {
    if (!text.empty()) member(name, text);
  }

  std::string_view view() const { return {buffer_.GetString(), buffer_.GetSize()}; }
  std::string str() const { return std::string(view()); }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_;
};

}  // namespace muster::sim
