// What was asked, for tests to count.
#include "request_log.h"

#include "json.h"

namespace muster::sim {
namespace {
constexpr std::size_t kKept = 100000;
}

std::string LoggedRequest::json() const {
  JsonWriter out;
  out.open_object();
  out.member("time_ms", time_ms);
  out.member("method", method);
  out.member("path", path);
  out.member("query", query);
  out.member("user_agent", user_agent);
  out.member("accept", accept);
  out.member("connection", connection);
  out.member("status", status);
  out.member("bytes", bytes);
  out.member("authorised", authorised);
  out.member("fault", fault);
  out.close_object();
  return out.str();
}

RequestLog::~RequestLog() {
  if (file_ != nullptr) std::fclose(file_);
}

void RequestLog::add(LoggedRequest request) {
  const std::lock_guard lock(mutex_);
  if (file_ != nullptr) {
    std::fprintf(file_, "%s\n", request.json().c_str());
    std::fflush(file_);
  }
  ++count_;
  requests_.push_back(std::move(request));
  if (requests_.size() > kKept) requests_.pop_front();
}

void RequestLog::clear() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
  count_ = 0;
}

std::string RequestLog::json() const {
  const std::lock_guard lock(mutex_);
  JsonWriter out;
  out.open_object();
  out.member("count", count_);
  out.key("requests");
  out.open_array();
  for (const auto& request : requests_) out.raw(request.json());
  out.close_array();
  out.close_object();
  return out.str();
}

}  // namespace muster::sim
