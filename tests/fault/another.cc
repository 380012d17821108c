// What a document may say in the API's own words: another cluster, and a right one.
#include <rapidjson/pointer.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/fault/protocol.h"

namespace fault {
namespace {

// At such a place of such a document, these values. "-" stands for the field that is not there, "TEXT" for any text, "+" for any second
// value of the key that was another one.
struct Statement {
  const char* path;
  const char* place;
  std::vector<std::string> values;
};

// Kubernetes: what README.md of the plugin calls a default, and what has no number that says how many there are to be.
const std::vector<Statement>& of_kubernetes() {
  static const std::vector<Statement> all = {
      {"pods", "/metadata", {"-", "{}", R"({"x": 1})"}},
      {"pods", "/metadata/continue", {"-", R"("")"}},
      {"pods", "/items", {"null", "[]"}},  // Go writes an empty list so
      {"pods", "/items/[0-9]+", {"-"}},
      {"pods|endpointslices",
       "/items/[0-9]+(/metadata|/endpoints/[0-9]+/targetRef)/name",
       {"TEXT"}},
      {".*/train", "/spec/completionMode", {"-"}},
      {".*/train", "/spec/(replicatedJobs|tasks)/[0-9]+", {"-"}},
      {".*/train", "/spec/(.*/)?(replicas|size)", {"-", "0"}},
      {".*/train", "/spec/leaderWorkerTemplate", {"{}", R"({"x": 1})"}},
      {"jobsets/train", "/spec/.*/template/spec", {"{}", R"({"x": 1})"}},
      {"jobsets/train", "/spec/.*/template/spec/completions", {"0"}},
      {".*jobs/train", "/spec/(pytorch|tf)ReplicaSpecs/[A-Za-z]+", {"-", "{}", R"({"x": 1})"}},
      {"endpointslices", "/items/[0-9]+", {"-"}},
      {"endpointslices", "/items/[0-9]+/endpoints", {"-", "null", "[]"}},
      {"endpointslices", "/items/[0-9]+/endpoints/[0-9]+", {"-"}},
  };
  return all;
}

// Google: what is empty the APIs leave out, and what they may add later is passed over.
const std::vector<Statement>& of_google() {
  static const std::vector<Statement> all = {
      {".*", "/(items|managedInstances)", {"-"}},
      {".*", "/(items|managedInstances)/[0-9]+", {"-"}},
      {".*", "/items/zones~1z-[a-c](/instances(/[0-9]+)?)?", {"-"}},
      {".*", "/nextPageToken", {"-", R"("")"}},
      {".*", "(/nodes/[0-9]+)?/networkEndpoints/[0-9]+", {"-"}},
      {"queuedResources/q", "/tpu/nodeSpec/[0-9]+", {"-"}},
  };
  return all;
}

bool fits(const std::string& value, const std::string& replacement) {
  if (value == "-") return replacement.empty();
  if (value == "TEXT") return replacement.starts_with('"') || replacement.starts_with("+\"");
  return value == replacement || "+" + value == replacement;
}

}  // namespace

bool says_another(const Protocol& protocol, const std::string& path, const std::string& json,
                  const std::string& place, const std::string& replacement) {
  const bool kubernetes = protocol.backend == "kubernetes";
  const std::string last = path.ends_with("pods") ? "pods" : path;
  for (const Statement& one : kubernetes ? of_kubernetes() : of_google()) {
    if (!std::regex_match(last, std::regex(one.path)) ||
        !std::regex_match(place, std::regex(one.place)))
      continue;
    for (const std::string& value : one.values)
      if (fits(value, replacement)) return true;
  }
  if (kubernetes) return false;
  rapidjson::Document document;
  document.Parse(json.c_str());
  const rapidjson::Value& now = *rapidjson::Pointer(place.c_str()).Get(document);
  return (now.IsArray() && replacement == "[]") ||
         (now.IsObject() && (replacement == "{}" || replacement == R"({"x": 1})"));
}

}  // namespace fault
