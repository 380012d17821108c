// A list of target groups, as Prometheus reads from files: [{"targets": ["host:port"], "labels": {"job": "worker"}}].
#include <fmt/format.h>
#include <simdjson.h>

#include <map>
#include <set>

#include "plugins/exec/printed.h"
#include "plugins/support/json.h"
#include "plugins/support/text.h"

namespace muster::exec {
namespace {

using simdjson::dom::element;
using support::quote;

constexpr int64_t kIndexMaximum = 2147483647;

class FileSdReader {
 public:
  FileSdReader(const sdk::Host& host, const std::string& name, const std::string& job)
      : host_(host), name_(name), job_(job) {}

  sdk::Status group(element value, size_t number) {
    const std::string place = fmt::format("/{}", number);
    simdjson::dom::array targets;
    if (value["targets"].get(targets)) return wrong(place, "it has no list 'targets'");
    Member common{job_, MUSTER_UNRANKED, "", "", {}};
    if (element labels; !value["labels"].get(labels))
      if (auto status = read_labels(labels, place + "/labels", common); !status) return status;
    if (targets.size() != 1 && (common.index != MUSTER_UNRANKED || !common.name.empty()))
      return wrong(place,
                   fmt::format("'index' and 'instance' say who one target is, and here are {}",
                               targets.size()));
    size_t n = 0;
    for (element target : targets) {
      const std::string at = fmt::format("{}/targets/{}", place, n++);
      Member member = common;
      if (auto status = text(target, at, member.address); !status) return status;
      if (auto why = host_.address_problem(member.address)) return wrong(at, *why);
      if (member.name.empty()) member.name = member.address;
      if (auto status = take(std::move(member), at); !status) return status;
    }
    return {};
  }

  Cluster& out() { return out_; }

  sdk::Failure wrong(const std::string& place, std::string_view why) const {
    return {MUSTER_E_INVALID_ARGUMENT, fmt::format("{}: {}: {}", name_, place, why), {}};
  }

 private:
  sdk::Status read_labels(element value, const std::string& place, Member& member) {
    simdjson::dom::object labels;
    if (value.get(labels)) return wrong(place, "it is no map");
    std::set<std::string_view> seen;
    for (const auto& [key, inside] : labels) {
      std::string said;
      if (!support::is_text(key) || key.empty() || !seen.insert(key).second)
        return wrong(place, fmt::format("the key {} is no text, or is there twice", quote(key)));
      if (auto status = text(inside, fmt::format("{}/{}", place, key), said); !status)
        return status;
      if (key == "job") {
        if (!support::is_job_name(said))
          return wrong(place + "/job", fmt::format("{} is no name for a job", quote(said)));
        member.job = said;
      } else if (key == "instance") {
        member.name = said;
      } else if (key == "index") {
        const auto index = support::parse_digits(said, kIndexMaximum);
        if (!index)
          return wrong(place + "/index",
                       fmt::format("{} is no number from 0 to {}", quote(said), kIndexMaximum));
        member.index = *index;
      } else if (!key.starts_with("__")) {
        member.attributes.emplace_back(key, said);
      }
    }
    return {};
  }

  sdk::Status take(Member member, const std::string& place) {
    const bool ranked = member.index != MUSTER_UNRANKED;
    const auto [kind, first] = ranked_.emplace(member.job, ranked);
    if (!first && kind->second != ranked)
      return wrong(place,
                   fmt::format("some targets of job {} have the label 'index', and others not",
                               quote(member.job)));
    if (ranked && !indices_.emplace(member.job, member.index).second)
      return wrong(
          place, fmt::format("index {} of job {} is there twice", member.index, quote(member.job)));
    if (!ranked && !names_.emplace(member.job, member.name).second)
      return wrong(
          place, fmt::format("{} of job {} is there twice", quote(member.name), quote(member.job)));
    out_.members.push_back(std::move(member));
    return {};
  }

  sdk::Status text(element value, const std::string& place, std::string& out) const {
    std::string_view read;
    if (value.get(read) || !support::is_text(read)) return wrong(place, "it is no text");
    out = read;
    return {};
  }

  const sdk::Host& host_;
  const std::string& name_;
  const std::string& job_;
  std::map<std::string, bool> ranked_;
  std::set<std::pair<std::string, int64_t>> indices_;
  std::set<std::pair<std::string, std::string>> names_;
  Cluster out_;
};

}  // namespace

sdk::Result<Cluster> read_file_sd(const sdk::Host& host, std::string_view printed,
                                  const std::string& name, const std::string& job) {
  simdjson::dom::parser parser;
  element document;
  if (auto error = parser.parse(printed.data(), printed.size(), true).get(document))
    return support::json_failure({printed, name}, error, nullptr);
  FileSdReader reader(host, name, job);
  simdjson::dom::array groups;
  if (document.get(groups))
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT, name + ": this is no list of target groups", {}};
  size_t number = 0;
  for (element group : groups)
    if (auto status = reader.group(group, number++); !status) return std::move(status).failure();
  return std::move(reader.out());
}

}  // namespace muster::exec
