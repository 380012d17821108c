// What a program printed: which of the formats it is, and the cluster that it says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::exec {

enum class Format {
  kAnswer,  // what `muster resolve -o json` prints (sdk/answer.schema.json), or the part of it that is known
  kCluster,   // its `cluster` alone
  kTfConfig,  // a TF_CONFIG
  kFileSd,    // a list of target groups, as Prometheus reads from files
  kLines,     // lines `job index address [name]`
};

// "answer", "cluster", "tf_config", "file_sd", "lines"; nothing for another.
std::optional<Format> format_of_word(std::string_view word);
std::string_view word_of(Format format);

// By its first character and the keys of its map; lines where it is no JSON.
Format detect(std::string_view printed);

struct Member {
  std::string job;
  int64_t index = MUSTER_UNRANKED;
  std::string name;
  std::string address;
  std::vector<std::pair<std::string, std::string>> attributes;
};

struct MissingMember {
  std::string job;
  int64_t index = MUSTER_UNRANKED;
  std::string name;
  std::string reason;
};

// All that an answer says.
struct Cluster {
  std::vector<std::string> jobs;  // in order, those without a member too
  std::vector<Member> members;
  std::vector<MissingMember> missing;
  std::vector<std::pair<std::string, int64_t>> expected;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::string> warnings;
  std::string own_job, evidence;  // which task this process is; "" when it is not said
  int64_t own_index = 0;
  bool complete = true;  // false: it says itself that members are missing
};

// Each reads a whole text. INVALID_ARGUMENT "NAME: where: why", where `where` is line:column or a JSON pointer; nothing partial is
// ever returned. `name` is what errors call the text.
sdk::Result<Cluster> read_answer(const sdk::Host& host, std::string_view printed,
                                 const std::string& name);
sdk::Result<Cluster> read_bare_cluster(const sdk::Host& host, std::string_view printed,
                                       const std::string& name);
sdk::Result<Cluster> read_file_sd(const sdk::Host& host, std::string_view printed,
                                  const std::string& name, const std::string& job);
sdk::Result<Cluster> read_task_lines(const sdk::Host& host, std::string_view printed,
                                     const std::string& name);

}  // namespace muster::exec
