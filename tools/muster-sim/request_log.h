#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace muster::sim {

// One request as tests see it; never a credential.
struct LoggedRequest {
  std::int64_t time_ms = 0;
  std::string method;
  std::string path;
  std::string query;  // decoded
  std::string user_agent;
  std::string accept;
  int connection = 0;      // the client's port: equal for requests of one connection
  int status = 0;          // 0: the connection was cut without an answer
  std::int64_t bytes = 0;  // of the body
  bool authorised = true;
  bool fault = false;  // a fault of the scenario struck

  std::string json() const;
};

// The requests seen, in order. Keeps the last hundred thousand. Safe to call from many threads.
class RequestLog {
 public:
  // Also writes each as a line of JSON to the file, if there is one; takes it over.
  explicit RequestLog(std::FILE* file) : file_(file) {}
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  void add(LoggedRequest request);
  void clear();
  // {"count":N,"requests":[...]}
  std::string json() const;

 private:
  mutable std::mutex mutex_;
  std::deque<LoggedRequest> requests_;  // guarded by mutex_
  std::int64_t count_ = 0;              // guarded by mutex_
  std::FILE* file_;
};

}  // namespace muster::sim
