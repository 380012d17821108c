#include "plugins/support/cluster_json.h"

#include <fmt/format.h>

#include <unordered_set>

#include "plugins/support/json.h"
#include "plugins/support/text.h"

namespace muster::support {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

constexpr int64_t kIndexMaximum = 2147483647;

// A key as a step of a JSON pointer.
std::string step(std::string_view key) {
  std::string out = "/";
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

const char* location_of(value& value) {
  const char* location = nullptr;
  return value.current_location().get(location) ? nullptr : location;
}

ClusterProblem not_json(simdjson::error_code error, const char* location) {
  return {error, location, "", ""};
}

// Indices seen in a job. Most maps are written in order, which needs no set.
class Indices {
 public:
  bool add(int64_t index) {
    if (set_.empty() && index > last_) {
      last_ = index;
      ordered_.push_back(index);
      return true;
    }
    if (set_.empty()) set_.insert(ordered_.begin(), ordered_.end());
    return set_.insert(index).second;
  }

 private:
  int64_t last_ = -1;
  std::vector<int64_t> ordered_;
  std::unordered_set<int64_t> set_;
};

class Reader {
 public:
  Reader(const sdk::Host& host, ClusterVisitor& visitor, const ClusterRules& rules)
      : host_(host), visitor_(visitor), rules_(rules) {}

  std::optional<ClusterProblem> cluster(simdjson::ondemand::object object) {
    for (auto field : object) {
      std::string_view name;
      if (auto error = field.unescaped_key().get(name)) return not_json(error, nullptr);
      value tasks;
      if (auto error = field.value().get(tasks)) return not_json(error, nullptr);
      if (auto found = job(name, tasks)) return found;
      if (visitor_.stopped()) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::optional<ClusterProblem> job(std::string_view name, value tasks) {
    const char* location = location_of(tasks);
    const auto problem = [&](std::string why) {
      return ClusterProblem{simdjson::SUCCESS, location, step(name), std::move(why)};
    };
    if (name.empty()) return problem("a job needs a name, and this one is empty");
    if (!is_job_name(name))
      return problem(
          fmt::format("{} is no name for a job: at most 255 bytes, without control "
                      "characters",
                      quote(name)));
    if (!jobs_.emplace(name).second)
      return problem(fmt::format("the job {} is there twice", quote(name)));
    json_type type;
    if (auto error = tasks.type().get(type)) return not_json(error, location);
    visitor_.job(name);
    if (type == json_type::null && rules_.null_is_empty) {
      bool null = false;
      if (auto error = tasks.is_null().get(null)) return not_json(error, location);
      return std::nullopt;
    }
    if (type == json_type::array) return list(name, tasks);
    if (type == json_type::object) return map(name, tasks);
    return problem(
        fmt::format("the job {} is {}, not a list of addresses nor a map of them by index",
                    quote(name), type_in_words(type)));
  }

  std::optional<ClusterProblem> list(std::string_view name, value& tasks) {
    simdjson::ondemand::array array;
    if (auto error = tasks.get_array().get(array)) return not_json(error, nullptr);
    int64_t index = 0;
    if (rules_.single_index > 0 && name == rules_.single_job) {
      size_t count = 0;
      if (auto error = array.count_elements().get(count)) return not_json(error, nullptr);
      if (count == 1) index = rules_.single_index;
    }
    for (auto element : array) {
      value address;
      if (auto error = element.get(address)) return not_json(error, nullptr);
      if (auto found = task(name, index, {}, address)) return found;
      if (visitor_.stopped()) return std::nullopt;
      ++index;
    }
    return std::nullopt;
  }

  std::optional<ClusterProblem> map(std::string_view name, value& tasks) {
    simdjson::ondemand::object object;
    if (auto error = tasks.get_object().get(object)) return not_json(error, nullptr);
    Indices indices;
    for (auto field : object) {
      std::string_view key;
      if (auto error = field.unescaped_key().get(key)) return not_json(error, nullptr);
      value address;
      if (auto error = field.value().get(address)) return not_json(error, nullptr);
      const auto problem = [&](std::string why) {
        return ClusterProblem{simdjson::SUCCESS, location_of(address), step(name) + step(key),
                              std::move(why)};
      };
      const auto index = parse_digits(key, kIndexMaximum);
      if (!index)
        return problem(fmt::format("the index {} of job {} is no number from 0 to {}", quote(key),
                                   quote(name), kIndexMaximum));
      if (!indices.add(*index))
        return problem(fmt::format("index {} of job {} is there twice, here as {}", *index,
                                   quote(name), quote(key)));
      if (auto found = task(name, *index, key, address)) return found;
      if (visitor_.stopped()) return std::nullopt;
    }
    return std::nullopt;
  }

  // `key` is the index as the user wrote it, or nothing in a list.
  std::optional<ClusterProblem> task(std::string_view job, int64_t index, std::string_view key,
                                     value& value) {
    const char* location = location_of(value);
    const auto problem = [&](std::string why) {
      return ClusterProblem{simdjson::SUCCESS, location,
                            step(job) + (key.empty() ? "/" + std::to_string(index) : step(key)),
                            fmt::format("task {} of job {}: {}", index, quote(job), why)};
    };
    json_type type;
    if (auto error = value.type().get(type)) return not_json(error, location);
    if (type != json_type::string)
      return problem(fmt::format("its address is {}, not a text{}", type_in_words(type),
                                 type == json_type::null
                                     ? "; leave the task out: {\"1\": \"host:port\"} says which "
                                       "indices there are"
                                     : ""));
    std::string_view address;
    if (auto error = value.get_string().get(address)) return not_json(error, location);
    if (auto why = host_.address_problem(address)) return problem(*std::move(why));
    visitor_.task(job, index, address);
    return std::nullopt;
  }

  const sdk::Host& host_;
  ClusterVisitor& visitor_;
  const ClusterRules& rules_;
  std::unordered_set<std::string> jobs_;
};

}  // namespace

std::optional<ClusterProblem> read_cluster(const sdk::Host& host,
                                           simdjson::ondemand::object cluster,
                                           ClusterVisitor& visitor, const ClusterRules& rules) {
  return Reader(host, visitor, rules).cluster(cluster);
}

}  // namespace muster::support
