// The recorded-backend double: every server that a recording knows, answering as it did, or wrongly in one way.
#pragma once

#include <muster/transport.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/service/recording.h"
#include "core/service/session.h"

namespace muster::check {

// What a server does instead of answering.
struct Fault {
  const char* name;  // "429"
  const char* what;  // "answered 429 with Retry-After: 1", for findings
  enum class Kind { kStatus, kSlow, kCutOff, kRedirect, kHuge, kBody, kHalf } kind;
  int64_t status = 0;                          // kStatus
  std::string_view body = std::string_view();  // kBody: with status 200
};

// A question that the recording knows: requests with the same method, URL and body are one.
struct Question {
  std::string method, url, body;
  std::string text() const { return method + " " + url; }
};

// One a process: the transport of <muster/transport.h> that it is has no room for more. [thread-safe]
class Servers {
 public:
  // `recorded` null: there is no server anywhere. Both outlive this.
  Servers(const RecordedResolver* recorded, const Secrets& secrets);
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  static const muster_transport_v1* transport();

  const std::vector<Question>& questions() const { return questions_; }
  // From now on, with the recording from its start: every question is answered as recorded; but this one, which gets a fault that outlives
  // this; or none, until the caller gives up.
  void behave();
  void misbehave(size_t question, const Fault& fault);
  void hang();

  // Since then: how many requests were made, and how many got the fault or hung.
  int requests() const;
  int faults() const;
  // "GET https://..."; "" when none was made.
  std::string last_request() const;

 private:
  void begin(std::optional<size_t> question, const Fault* fault, bool hangs);
  static int32_t exchange(const muster_host_v1* host, const muster_call_v1* call,
                          const muster_http_request_v1* request, muster_http_response_v1* response,
                          muster_error* error);
  int32_t answer(const muster_call_v1* call, const muster_http_request_v1* request,
                 muster_http_response_v1* response, muster_error* error);
  // The recorded answer to this question; null when there is none.
  const RecordedExchange* take(const Question& question);
  size_t number_of(const Question& question) const;

  const RecordedResolver* recorded_;
  const Secrets& secrets_;
  std::vector<Question> questions_;
  mutable std::mutex mutex_;
  std::vector<bool> taken_;
  std::optional<size_t> wrong_;
  const Fault* fault_ = nullptr;
  bool hangs_ = false;
  int requests_ = 0;
  int faults_ = 0;
  std::string last_request_;
};

}  // namespace muster::check
