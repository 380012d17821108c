// Compute Engine, Cloud TPU and the metadata server, each saying something wrong at one place: the whole cluster, or a failure, or an answer that says
// what it lacks; never fewer members that look whole.
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <stdlib.h>

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/plugin/support/fake_core.h"

using namespace fake;

namespace {

// What one server says to a request whose URL ends a path with `path`; the second page of it has "pageToken=" in its URL.
struct Said {
  std::string path;
  std::string first, second;  // "": there is no second page
};

// A question, the answers that are right, and what then is the cluster.
struct Protocol {
  const char* name;
  const char* plugin;
  const char* options;
  std::vector<Said> said;
  std::string truth;
  // Texts of the metadata server, by the end of their path.
  std::map<std::string, std::string> metadata;
};

const std::string kZone = "https://h/compute/v1/projects/p/zones/z-a";

std::string instance(int n, const std::string& more = "") {
  const std::string number = std::to_string(n);
  return R"({"name": "w-)" + number + R"(", "id": "10)" + number +
         R"(", "status": "RUNNING", "machineType": ")" + kZone +
         R"(/machineTypes/n2-standard-4", "networkInterfaces": [{"name": "nic0", "networkIP": "10.0.0.)" +
         number + R"("}], "scheduling": {"provisioningModel": "STANDARD"})" + more + "}";
}

std::string managed(int n) {
  return R"({"instance": ")" + kZone + "/instances/w-" + std::to_string(n) +
         R"(", "instanceStatus": "RUNNING", "currentAction": "NONE", "version": {"instanceTemplate": "global/t"}})";
}

std::string node(const char* name, int first) {
  const std::string a = std::to_string(first), b = std::to_string(first + 1);
  return R"({"name": "projects/p/locations/z-a/nodes/)" + std::string(name) +
         R"(", "state": "READY", "health": "HEALTHY", "acceleratorType": "v5litepod-8", "id": "7",
           "acceleratorConfig": {"topology": "2x4"}, "schedulingConfig": {"spot": true},
           "networkEndpoints": [{"ipAddress": "10.0.0.)" +
         a + R"(", "port": 8470}, {"ipAddress": "10.0.0.)" + b + R"(", "port": 8470}]})";
}

std::vector<Protocol> protocols() {
  const std::string two = "10.0.0.1:8470 10.0.0.2:8470";
  const std::string four = two + " 10.0.0.3:8470 10.0.0.4:8470";
  const Said in_zone = {
      "zones/z-a/instances",
      R"({"items": [)" + instance(1) + "," + instance(2) + R"(], "nextPageToken": "two"})",
      R"({"items": [)" + instance(3) + "," + instance(4) + "]}"};
  const Said in_all = {
      "aggregated/instances",
      R"({"items": {"zones/z-a": {"instances": [)" + instance(1) + "," + instance(2) +
          R"(]}, "zones/z-b": {"warning": {"code": "NO_RESULTS_ON_PAGE"}}},
                           "nextPageToken": "two", "unreachables": []})",
      R"({"items": {"zones/z-c": {"instances": [)" + instance(3) + "," + instance(4) + "]}}}"};
  const Said of_group = {
      "listManagedInstances",
      R"({"managedInstances": [)" + managed(1) + "," + managed(2) + R"(], "nextPageToken": "two"})",
      R"({"managedInstances": [)" + managed(3) + "," + managed(4) + "]}"};
  const Said ports = {
      "instanceGroups/grape",
      R"({"namedPorts": [{"name": "rpc", "port": 8470}, {"name": "x", "port": 9}]})", ""};
  const Said one_node = {"nodes/plum", node("plum", 1), ""};
  const Said nodes = {"nodes", R"({"nodes": [)" + node("plum", 1) + R"(], "nextPageToken": "two"})",
                      R"({"nodes": [)" + node("pear", 3) + R"(], "unreachable": []})"};
  const Said queued = {
      "queuedResources/q",
      R"({"name": "projects/p/locations/z-a/queuedResources/q", "state": {"state": "ACTIVE"},
          "tpu": {"nodeSpec": [{"parent": "projects/p/locations/z-a", "nodeId": "plum",
          "node": {"acceleratorType": "v5litepod-8"}}, {"parent": "projects/p/locations/z-a", "nodeId": "pear"}]}})",
      ""};
  const std::string place =
      R"("access_token": "t0ken-of-the-test", "endpoint": "http://127.0.0.1:9/v1", "project": "p")";
  static std::vector<std::string> options;
  const auto with = [&](const std::string& more) {
    options.push_back("{" + place + more + "}");
    return options.back();
  };
  static const std::string kFilter = with(R"(, "filter": "a", "zone": "z-a", "port": 8470)");
  static const std::string kAll = with(R"(, "filter": "a", "port": 8470)");
  static const std::string kGroup =
      with(R"(, "instance_group": "grape", "zone": "z-a", "port": "rpc")");
  static const std::string kNode = with(R"(, "tpu": ["plum"], "zone": "z-a")");
  static const std::string kNodes = with(R"(, "tpu": ["plum", "pear"], "zone": "z-a")");
  static const std::string kQueued = with(R"(, "queued_resource": "q", "zone": "z-a")");
  return {
      {"gce: a filter in a zone", "gce", kFilter.c_str(), {in_zone}, four, {}},
      {"gce: a filter in all zones", "gce", kAll.c_str(), {in_all}, four, {}},
      {"gce: a managed group", "gce", kGroup.c_str(), {of_group, in_zone, ports}, four, {}},
      {"tpu: a node", "tpu", kNode.c_str(), {one_node}, two, {}},
      {"tpu: nodes", "tpu", kNodes.c_str(), {nodes}, four, {}},
      {"tpu: a queued resource", "tpu", kQueued.c_str(), {queued, nodes}, four, {}},
      {"tpu: this VM",
       "tpu",
       "{}",
       {},
       two,
       {{"tpu-env",
         "NODE_ID: 'plum'\nZONE: 'z-a'\nACCELERATOR_TYPE: 'v5litepod-8'\nWORKER_ID: '1'\n"},
        {"worker-network-endpoints", "a:b:10.0.0.1,c:d:10.0.0.2"}}},
  };
}

Response replied(int64_t status, std::string body, bool metadata) {
  Response out;
  out.status = status;
  out.body = std::move(body);
  if (metadata) out.headers["Metadata-Flavor"] = "Google";
  return out;
}

// The world of a protocol; `change` may replace the answer to a request of a document (its number, its page) or of metadata.
using Change = std::function<void(size_t said, bool second, Response& response)>;
World world_of(const Protocol& protocol, const Change& change = nullptr) {
  World world;
  if (!protocol.metadata.empty()) world.variables["GCE_METADATA_HOST"] = "127.0.0.1:9";
  world.serve = [&protocol, change](const Request& request) {
    const std::string path = request.url.substr(0, request.url.find('?'));
    const auto ends = [&](const std::string& end) {
      return path.size() >= end.size() && path.substr(path.size() - end.size()) == end;
    };
    const bool second = request.url.find("pageToken=") != std::string::npos;
    Response out = replied(404, "{}", !protocol.metadata.empty());
    size_t number = 0;
    for (const Said& said : protocol.said) {
      if (ends("/" + said.path)) {
        out = replied(200, second ? said.second : said.first, false);
        if (change) change(number, second, out);
      }
      ++number;
    }
    for (const auto& [end, text] : protocol.metadata) {
      if (ends("/" + end)) {
        out = replied(200, text, true);
        if (change) change(number, false, out);
      }
      ++number;
    }
    return out;
  };
  return world;
}

bool is_whole(const Answer& answer) {
  if (answer.code != MUSTER_OK || !answer.missing.empty()) return false;
  for (const auto& [job, expected] : answer.expected)
    if (expected > static_cast<int64_t>(answer.tasks.size())) return false;
  return true;
}

// In the order of their tasks. Their names may be others: of an instance that a filter gives, the name is its own word.
std::string addresses(const Answer& answer) {
  std::string out;
  for (const Task& task : answer.tasks) out += (out.empty() ? "" : " ") + task.address;
  return out;
}

// The rule of this file, and what holds for each answer besides.
void check(const Protocol& protocol, const Answer& answer, bool may_be_fewer = false) {
  if (is_whole(answer) && !may_be_fewer)
    CHECK_MESSAGE(addresses(answer) == protocol.truth, answer.cluster());
  if (is_whole(answer)) CHECK_FALSE(answer.tasks.empty());
  CHECK_MESSAGE(answer.code != MUSTER_E_UNKNOWN, answer.message);
  CHECK_MESSAGE(answer.code != MUSTER_E_INTERNAL, answer.message);
  std::string said = answer.message;
  for (const auto& [key, value] : answer.details) said += value;
  for (const std::string& warning : answer.warnings) said += warning;
  for (const Missing& one : answer.missing) said += one.reason;
  CHECK_MESSAGE(said.find("t0ken-of-the-test") == std::string::npos, said);
  CHECK_MESSAGE(said.size() < 20000, said.size());
  for (const char* control : {"\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\xa8", "\n\n\n"})
    CHECK_MESSAGE(said.find(control) == std::string::npos, said);
}

using Document = rapidjson::Document;
using Value = rapidjson::Value;

Document parsed(const std::string& json) {
  Document out;
  out.Parse(json.c_str());
  REQUIRE_FALSE(out.HasParseError());
  return out;
}

std::string printed(const Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return buffer.GetString();
}

// The JSON pointers of all values below the document's root.
void pointers(const Value& value, const std::string& above, std::vector<std::string>& out) {
  if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      std::string key = member.name.GetString();
      for (size_t at = 0; (at = key.find('/', at)) != std::string::npos; at += 2)
        key.replace(at, 1, "~1");
      out.push_back(above + "/" + key);
      pointers(member.value, std::string(out.back()), out);
    }
  }
  if (value.IsArray())
    for (rapidjson::SizeType n = 0; n < value.Size(); ++n) {
      out.push_back(above + "/" + std::to_string(n));
      pointers(value[n], std::string(out.back()), out);
    }
}

const std::vector<std::string>& replacements() {
  static const std::vector<std::string> all = {"null",
                                               "true",
                                               "false",
                                               "0",
                                               "-1",
                                               "70000",
                                               "1.5",
                                               "1e300",
                                               "18446744073709551616",
                                               R"("x")",
                                               R"("None")",
                                               R"("null")",
                                               R"("10.1.0n1")",
                                               R"("0x7f000001")",
                                               R"("10.1")",
                                               R"("z-a")",
                                               R"("0.0.0.0")",
                                               R"("\u001b[31m\u009b\u202e\u2028\u007f")",
                                               R"("\u0000")",
                                               "[]",
                                               "{}",
                                               "[[]]",
                                               R"([{"x": 1}])",
                                               R"({"x": 1})",
                                               R"(["x"])",
                                               "\"" + std::string(70000, 'a') + "\""};
  return all;
}

// What is empty the APIs leave out, and what they may add later is passed over: so these are a shorter list that is right.
bool is_default(const Value& now, const std::string& replacement) {
  return (now.IsArray() && replacement == "[]") ||
         (now.IsObject() && (replacement == "{}" || replacement == R"({"x": 1})"));
}

std::string replaced(const std::string& json, const std::string& pointer,
                     const std::string& replacement) {
  Document document = parsed(json);
  // RapidJSON has no number of 65 bits; its text is put in afterwards.
  const std::string mark = "@mark@";
  rapidjson::Pointer(pointer.c_str()).Set(document, mark.c_str());
  std::string out = printed(document);
  return out.replace(out.find("\"" + mark + "\""), mark.size() + 2, replacement);
}

int64_t wanted_cases() {
  const char* more = getenv("MUSTER_FAULT_CASES");
  return more == nullptr ? 400 : atoll(more);
}

uint64_t seed() {
  const char* given = getenv("MUSTER_FAULT_SEED");
  return given == nullptr ? std::random_device{}() : strtoull(given, nullptr, 10);
}

}  // namespace

TEST_CASE("the right answers of each protocol make the whole cluster") {
  for (const Protocol& protocol : protocols()) {
    CAPTURE(protocol.name);
    const Answer answer = ask(protocol.plugin, protocol.options, world_of(protocol));
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(is_whole(answer));
    CHECK(addresses(answer) == protocol.truth);
  }
}

TEST_CASE("a field of another type, at any place of any document, makes no smaller cluster") {
  int cases = 0;
  for (const Protocol& protocol : protocols()) {
    for (size_t n = 0; n < protocol.said.size(); ++n) {
      for (const bool second : {false, true}) {
        const std::string& json = second ? protocol.said[n].second : protocol.said[n].first;
        if (json.empty()) continue;
        const Document document = parsed(json);
        std::vector<std::string> all;
        pointers(document, "", all);
        for (const std::string& pointer : all)
          for (const std::string& replacement : replacements()) {
            const Value& now = *rapidjson::Pointer(pointer.c_str()).Get(document);
            const std::string changed = replaced(json, pointer, replacement);
            CAPTURE(protocol.name);
            CAPTURE(pointer);
            CAPTURE(replacement.substr(0, 60));
            const Change change = [&](size_t said, bool page, Response& response) {
              if (said == n && page == second) response.body = changed;
            };
            check(protocol, ask(protocol.plugin, protocol.options, world_of(protocol, change)),
                  is_default(now, replacement));
            ++cases;
          }
      }
    }
  }
  CHECK(cases > 1000);
}

TEST_CASE("an answer that is cut at any byte makes no smaller cluster") {
  for (const Protocol& protocol : protocols()) {
    size_t n = 0;
    const auto cut = [&](const std::string& whole, bool second, bool metadata) {
      for (size_t size = 0; size < whole.size(); size += metadata ? 1 : 7) {
        CAPTURE(protocol.name);
        CAPTURE(size);
        const Change change = [&](size_t said, bool page, Response& response) {
          if (said != n || page != second) return;
          response.body.resize(size);
          response.unframed = metadata;
        };
        check(protocol, ask(protocol.plugin, protocol.options, world_of(protocol, change)));
      }
    };
    for (const Said& said : protocol.said) {
      cut(said.first, false, false);
      cut(said.second, true, false);
      ++n;
    }
    for (const auto& [end, text] : protocol.metadata) {
      cut(text, false, true);
      ++n;
    }
  }
}

TEST_CASE("no status but 200 makes a cluster, and each has a code that says what to do") {
  for (const Protocol& protocol : protocols())
    for (size_t n = 0; n < protocol.said.size() + protocol.metadata.size(); ++n)
      for (const bool second : {false, true})
        for (int64_t status = 201; status <= 599; ++status) {
          CAPTURE(protocol.name);
          CAPTURE(n);
          CAPTURE(status);
          const Change change = [&](size_t said, bool page, Response& response) {
            if (said == n && page == second) response.status = status;
          };
          check(protocol, ask(protocol.plugin, protocol.options, world_of(protocol, change)));
        }
}

TEST_CASE("what a seed makes of the documents makes no smaller cluster") {
  const uint64_t start = seed();
  std::mt19937_64 random(start);
  const auto below = [&](size_t size) { return static_cast<size_t>(random() % size); };
  const std::vector<Protocol> all = protocols();
  for (int64_t done = 0; done < wanted_cases(); ++done) {
    const Protocol& protocol = all[below(all.size() - 1)];  // but the last, which has no JSON
    std::map<std::pair<size_t, bool>, std::string> bodies;
    bool fewer = false;
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t n = below(protocol.said.size());
      const bool second = !protocol.said[n].second.empty() && below(2) == 1;
      auto& body = bodies[{n, second}];
      if (body.empty()) body = second ? protocol.said[n].second : protocol.said[n].first;
      Document document;
      if (document.Parse(body.c_str()).HasParseError()) continue;
      std::vector<std::string> places;
      pointers(document, "", places);
      const std::string& place = places[below(places.size())];
      const std::string& replacement = replacements()[below(replacements().size())];
      const Value& now = *rapidjson::Pointer(place.c_str()).Get(document);
      fewer = fewer || is_default(now, replacement);
      body = replaced(body, place, replacement);
    }
    CAPTURE(start);
    CAPTURE(done);
    CAPTURE(protocol.name);
    const Change change = [&](size_t said, bool page, Response& response) {
      const auto found = bodies.find({said, page});
      if (found != bodies.end()) response.body = found->second;
    };
    check(protocol, ask(protocol.plugin, protocol.options, world_of(protocol, change)), fewer);
  }
}
