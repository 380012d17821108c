#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::sim {

class MapReader;

// One way an answer goes wrong, and for which requests.
struct Fault {
  // Which requests
  std::string method;       // empty: any
  std::string path;         // '*' stands for any text
  std::string query;        // the same, over the decoded query; empty: any
  std::int64_t page = 0;    // only this page of a paged list, from 1; 0: any
  std::int64_t after = 0;   // the first so many matching requests are served rightly
  std::int64_t times = -1;  // then so many go wrong; -1: all

  // What happens to them
  std::int64_t delay_ms = 0;                // before anything is sent
  int status = 0;                           // instead of the true answer; 0: the true one
  std::optional<std::int64_t> retry_after;  // seconds, the Retry-After header
  std::string message;                      // of the Status object
  std::optional<std::string> body;          // sent as it is
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::int64_t> drop_after_bytes;  // the connection is cut after so much of the body
  bool drop = false;                             // the connection is cut without an answer
  bool reset = false;                            // a cut is a TCP reset, not an orderly end
  std::int64_t drip = 0;  // bytes of the body a second; 0: as fast as it goes
};

// Reads one entry of 'faults'.
Fault read_fault(MapReader& reader);

// Decides which fault strikes a request, and counts. Safe to call from many threads.
class FaultPlan {
 public:
  explicit FaultPlan(std::vector<Fault> faults)
      : faults_(std::move(faults)), seen_(faults_.size()) {}

  // The first fault that matches and has not struck often enough yet; counts the request for
  // every fault before it and for it.
  std::optional<Fault> strike(std::string_view method, std::string_view path,
                              std::string_view query, std::int64_t page);

  // Starts counting anew.
  void reset();

 private:
  std::vector<Fault> faults_;
  std::mutex mutex_;
  std::vector<std::int64_t> seen_;  // guarded by mutex_
};

// Whether text is what the pattern says; '*' stands for any text, also none.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace muster::sim
