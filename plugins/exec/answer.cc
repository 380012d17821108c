// What `muster resolve -o json` prints, read back (sdk/answer.schema.json), and its `cluster` alone.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <set>

#include "plugins/exec/printed.h"
#include "plugins/support/cluster_json.h"
#include "plugins/support/json.h"
#include "plugins/support/text.h"

namespace muster::exec {
namespace {

using simdjson::dom::element;
using support::quote;

constexpr int64_t kIndexMaximum = 2147483647;

class Collector : public support::ClusterVisitor {
 public:
  explicit Collector(Cluster& cluster) : cluster_(cluster) {}
  void job(std::string_view name) override { cluster_.jobs.emplace_back(name); }
  void task(std::string_view job, int64_t index, std::string_view address) override {
    cluster_.members.push_back({std::string(job), index, "", std::string(address), {}});
  }

 private:
  Cluster& cluster_;
};

class AnswerReader {
 public:
  AnswerReader(const sdk::Host& host, std::string_view printed, const std::string& name)
      : host_(host), copy_(printed), source_{{copy_.data(), copy_.size()}, name} {}

  // `key`: where the cluster stands; "" for the whole text.
  sdk::Status cluster(std::string_view key) {
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    if (auto error = parser.iterate(copy_).get(document)) return not_json(error);
    if (auto error = document.get_object().get(object))
      return error == simdjson::INCORRECT_TYPE ? sdk::Status(wrong("", "this is no map"))
                                               : not_json(error);
    std::string pointer;
    if (!key.empty()) {
      pointer = "/" + std::string(key);
      simdjson::ondemand::object inside;
      if (auto error = object.find_field_unordered(key).get_object().get(inside))
        return error == simdjson::NO_SUCH_FIELD || error == simdjson::INCORRECT_TYPE
                   ? sdk::Status(wrong(pointer, "there is no map of jobs"))
                   : not_json(error);
      object = inside;
    }
    Collector collector(out_);
    auto found = support::read_cluster(host_, object, collector);
    if (!found) return {};
    if (found->error) return not_json(found->error);
    if (found->location == nullptr) return wrong(pointer + found->pointer, found->why);
    return support::json_failure(
        source_, static_cast<size_t>(found->location - source_.text.data()), found->why);
  }

  // Everything but the cluster, which is there already.
  sdk::Status rest() {
    element whole;
    if (auto error = parser_.parse(source_.text.data(), source_.text.size(), false).get(whole))
      return not_json(error);
    if (auto status = check_keys(whole, ""); !status) return status;
    simdjson::dom::object root;
    if (auto error = whole.get(root)) return not_json(error);
    for (const Member& member : out_.members) places_.emplace(member.job, member.index);
    for (const auto& [key, value] : root)
      if (auto status = entry(key, value); !status) return status;
    if (!out_.complete && out_.missing.empty() && !short_of_expected())
      return wrong("/complete", "it is false, and neither 'missing' nor 'expected' says of what");
    if (!out_.own_job.empty() && is_there(out_.own_job) &&
        places_.count({out_.own_job, out_.own_index}) == 0)
      return wrong("/task", fmt::format("the cluster has no task {} of job {}", out_.own_index,
                                        quote(out_.own_job)));
    return {};
  }

  Cluster& out() { return out_; }

  sdk::Failure not_json(simdjson::error_code error) const {
    return support::json_failure(source_, error, nullptr);
  }

 private:
  sdk::Failure wrong(const std::string& pointer, std::string_view why) const {
    return {MUSTER_E_INVALID_ARGUMENT,
            fmt::format("{}: {}{}{}", source_.name, pointer, pointer.empty() ? "" : ": ", why),
            {}};
  }

  // A key that stands twice has two meanings, and of which of them is right each reader has its own idea.
  sdk::Status check_keys(element value, const std::string& pointer) const {
    if (simdjson::dom::object object; !value.get(object)) {
      std::vector<std::string_view> keys;
      for (const auto& [key, inside] : object) {
        keys.push_back(key);
        if (!inside.is_object() && !inside.is_array()) continue;
        if (auto status = check_keys(inside, fmt::format("{}/{}", pointer, key)); !status)
          return status;
      }
      std::sort(keys.begin(), keys.end());
      const auto twice = std::adjacent_find(keys.begin(), keys.end());
      if (twice != keys.end())
        return wrong(pointer, fmt::format("the key {} is there twice", quote(*twice)));
    }
    if (simdjson::dom::array array; !value.get(array)) {
      size_t at = 0;
      for (const element inside : array)
        if (auto status = check_keys(inside, fmt::format("{}/{}", pointer, at++)); !status)
          return status;
    }
    return {};
  }

  sdk::Status entry(std::string_view key, element value) {
    if (key == "tasks") return tasks(value);
    if (key == "jobs") return jobs(value);
    if (key == "task") return own_task(value);
    if (key == "attributes") return texts(value, "/attributes", out_.attributes);
    if (key == "complete")
      return value.get(out_.complete)
                 ? sdk::Status(wrong("/complete", "it is neither true nor false"))
                 : sdk::Status();
    if (key == "stale") {
      if (bool stale = false; value.get(stale) || stale)
        out_.warnings.emplace_back("the program says that its answer is stale");
      return {};
    }
    if (key == "rpc_layer" || key == "environment") {
      std::string said;
      if (auto status = text(value, "/" + std::string(key), said); !status) return status;
      if (!said.empty()) out_.attributes.emplace_back(key, said);
      return {};
    }
    if (key == "warnings") {
      simdjson::dom::array array;
      if (value.get(array)) return wrong("/warnings", "it is no list");
      for (element one : array) {
        out_.warnings.emplace_back();
        if (auto status = text(one, "/warnings", out_.warnings.back()); !status) return status;
      }
    }
    return {};  // keys may be added
  }

  // The same tasks as the cluster's, with what is known beside their addresses.
  sdk::Status tasks(element value) {
    simdjson::dom::array array;
    if (value.get(array)) return wrong("/tasks", "it is no list");
    std::map<std::pair<std::string_view, int64_t>, Member*> members;
    for (Member& member : out_.members) members[{member.job, member.index}] = &member;
    size_t count = 0;
    for (element one : array) {
      const std::string pointer = fmt::format("/tasks/{}", count++);
      std::string job, address, name;
      int64_t index = 0;
      if (auto status = text_at(one, "job", pointer, job); !status) return status;
      if (auto status = text_at(one, "address", pointer, address); !status) return status;
      if (auto status = index_at(one, "index", pointer, index); !status) return status;
      const auto found = members.find({job, index});
      if (found == members.end() || found->second->address != address)
        return wrong(pointer, fmt::format("'cluster' has no task {} of job {} at {}", index,
                                          quote(job), quote(address)));
      Member& member = *found->second;
      members.erase(found);
      if (element there; !one["name"].get(there))
        if (auto status = text(there, pointer + "/name", member.name); !status) return status;
      if (element there; !one["attributes"].get(there))
        if (auto status = texts(there, pointer + "/attributes", member.attributes); !status)
          return status;
    }
    if (!members.empty())
      return wrong("/tasks",
                   fmt::format("task {} of job {} is in 'cluster' and not here",
                               members.begin()->first.second, quote(members.begin()->first.first)));
    return {};
  }

  sdk::Status jobs(element value) {
    simdjson::dom::object object;
    if (value.get(object)) return wrong("/jobs", "it is no map");
    for (const auto& [job, status] : object) {
      const std::string pointer = fmt::format("/jobs/{}", job);
      if (!support::is_job_name(job))
        return wrong("/jobs", fmt::format("{} is no name for a job", quote(job)));
      if (element expected; !status["expected"].get(expected) && !expected.is_null()) {
        int64_t count = 0;
        if (auto read = index_at(status, "expected", pointer, count); !read) return read;
        out_.expected.emplace_back(job, count);
      }
      simdjson::dom::array missing;
      if (status["missing"].get(missing)) continue;
      size_t n = 0;
      for (element one : missing) {
        const std::string place = fmt::format("{}/missing/{}", pointer, n++);
        MissingMember member{std::string(job), MUSTER_UNRANKED, "", ""};
        if (element index; !one["index"].get(index) && !index.is_null())
          if (auto read = index_at(one, "index", place, member.index); !read) return read;
        if (element name; !one["name"].get(name))
          if (auto read = text(name, place + "/name", member.name); !read) return read;
        if (auto read = text_at(one, "reason", place, member.reason); !read) return read;
        if (member.reason.empty()) return wrong(place, "it has no reason");
        if (member.index != MUSTER_UNRANKED && !places_.emplace(member.job, member.index).second)
          return wrong(place, fmt::format("task {} of job {} is there already", member.index,
                                          quote(member.job)));
        out_.missing.push_back(std::move(member));
      }
    }
    return {};
  }

  sdk::Status own_task(element value) {
    if (value.is_null()) return {};
    element type, index;
    if (value["type"].get(type) || value["index"].get(index) || type.is_null() || index.is_null())
      return {};
    if (auto status = text(type, "/task/type", out_.own_job); !status) return status;
    if (auto status = index_at(value, "index", "/task", out_.own_index); !status) return status;
    simdjson::dom::array evidence;
    if (value["evidence"].get(evidence)) return {};
    for (element one : evidence) {
      std::string said;
      if (auto status = text(one, "/task/evidence", said); !status) return status;
      out_.evidence += (out_.evidence.empty() ? "" : "; ") + said;
    }
    return {};
  }

  sdk::Status text(element value, const std::string& pointer, std::string& out) const {
    std::string_view read;
    if (value.get(read) || !support::is_text(read)) return wrong(pointer, "it is no text");
    out = read;
    return {};
  }
  sdk::Status text_at(element map, std::string_view key, const std::string& pointer,
                      std::string& out) const {
    element value;
    if (map[key].get(value)) return wrong(pointer, fmt::format("it has no {}", quote(key)));
    return text(value, fmt::format("{}/{}", pointer, key), out);
  }
  sdk::Status index_at(element map, std::string_view key, const std::string& pointer,
                       int64_t& out) const {
    if (map[key].get(out) || out < 0 || out > kIndexMaximum)
      return wrong(fmt::format("{}/{}", pointer, key),
                   fmt::format("it is no number from 0 to {}", kIndexMaximum));
    return {};
  }
  sdk::Status texts(element value, const std::string& pointer,
                    std::vector<std::pair<std::string, std::string>>& out) const {
    simdjson::dom::object object;
    if (value.get(object)) return wrong(pointer, "it is no map");
    for (const auto& [key, inside] : object) {
      if (!support::is_text(key) || key.empty()) return wrong(pointer, "a key in it is no text");
      out.emplace_back(key, "");
      if (auto status = text(inside, fmt::format("{}/{}", pointer, key), out.back().second);
          !status)
        return status;
    }
    return {};
  }

  // A job of which nothing else is said may have a task outside of the cluster, as an evaluator.
  bool is_there(const std::string& job) const {
    for (const auto& [known, index] : places_)
      if (known == job) return true;
    for (const auto& [known, count] : out_.expected)
      if (known == job) return true;
    return false;
  }
  bool short_of_expected() const {
    for (const auto& [job, count] : out_.expected) {
      int64_t found = 0;
      for (const Member& member : out_.members) found += member.job == job ? 1 : 0;
      if (found < count) return true;
    }
    return false;
  }

  const sdk::Host& host_;
  simdjson::padded_string copy_;
  support::JsonSource source_;
  simdjson::dom::parser parser_;
  std::set<std::pair<std::string, int64_t>> places_;  // found or missing
  Cluster out_;
};

}  // namespace

sdk::Result<Cluster> read_answer(const sdk::Host& host, std::string_view printed,
                                 const std::string& name) {
  AnswerReader reader(host, printed, name);
  if (auto status = reader.cluster("cluster"); !status) return std::move(status).failure();
  if (auto status = reader.rest(); !status) return std::move(status).failure();
  return std::move(reader.out());
}

sdk::Result<Cluster> read_bare_cluster(const sdk::Host& host, std::string_view printed,
                                       const std::string& name) {
  AnswerReader reader(host, printed, name);
  if (auto status = reader.cluster(""); !status) return std::move(status).failure();
  simdjson::dom::parser parser;  // on demand, nothing is seen of what follows the map
  if (auto error = parser.parse(printed.data(), printed.size(), true).error())
    return reader.not_json(error);
  return std::move(reader.out());
}

}  // namespace muster::exec
