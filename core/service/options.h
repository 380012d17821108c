// Options: what a resolver was configured with, read by JSON pointers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

namespace muster {

// [thread-safe]. Texts handed out live as long as this.
class Options {
 public:
  // Parsed on first use, so that a plugin that parses its options itself does not pay for it.
  explicit Options(std::string json) : json_(std::move(json)) {}

  // The value there; null when there is none or it is null. `*valid` is false when the pointer is not RFC 6901 (or the options are
  // no JSON).
  const rapidjson::Value* find(const char* pointer, bool* valid) const;
  // The JSON text of a value of ours, kept.
  const std::string& json_of(const std::string& pointer, const rapidjson::Value& value) const;

 private:
  std::string json_;
  mutable std::once_flag parsed_;
  mutable rapidjson::Document document_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string> texts_;
};

}  // namespace muster
