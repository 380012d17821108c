// Call: what the services know of one running call into a plugin.
#pragma once

#include <muster/plugin.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/cancel.h"
#include "core/service/call_strings.h"
#include "core/service/session.h"
#include "core/spec/snapshot.h"

namespace muster {

class HttpLibrary;
class HttpStreams;

// Base of the sink's call (core/plugin). `muster_call_v1::ctx` points at this base. Lives on the heap until the plugin's function
// has really returned, however late.
class Call {
 public:
  Call(std::shared_ptr<Session> session, std::string path, std::string backend, int64_t deadline_ns,
       CancelToken cancel)
      : session_(std::move(session)),
        path_(std::move(path)),
        backend_(std::move(backend)),
        deadline_ns_(deadline_ns),
        cancel_(std::move(cancel)) {}
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  static Call& of(const muster_call_v1* call) { return *static_cast<Call*>(call->ctx); }
  // The same for a pointer that a plugin passed in: null when it cannot be a call's.
  static Call* check(const muster_call_v1* call);

  Session& session() const { return *session_; }
  const std::shared_ptr<Session>& shared_session() const { return session_; }
  const std::string& path() const { return path_; }
  const std::string& backend() const { return backend_; }
  int64_t deadline_ns() const { return deadline_ns_; }
  bool cancelled() const { return cancel_.cancelled(); }
  const CancelToken& cancel() const { return cancel_; }

  // Keeps a text alive until the call ends, followed by 64 readable zero bytes, and the same one only once; returns where it is.
  const std::string& keep(std::string text);
  // Keeps any object alive until disown or the end of the call. [thread-safe]
  void own(std::shared_ptr<void> object);
  // Frees an owned object now; false when the call does not own it (then nothing happens). [thread-safe]
  bool disown(const void* object);

  // What muster.http/1 of this call goes through. core/plugin sets it before the plugin runs.
  void set_http(std::shared_ptr<HttpLibrary> http) { http_ = std::move(http); }
  const std::shared_ptr<HttpLibrary>& http() const { return http_; }

  // The exchanges that go on beside one another, made when first asked for. On the plugin's thread.
  HttpStreams& streams();
  // Ends those that are left, when the plugin's function has returned. On its thread.
  void end_streams() { streams_.reset(); }

  // CLOCK_MONOTONIC as the plugin sees it: ahead by what a replay did not really wait. [thread-safe]
  int64_t now_ns() const { return monotonic_ns() + skipped_ns_.load(std::memory_order_relaxed); }
  // Waits: kOk when over, kCancelled or kDeadlineExceeded as soon as the call ends earlier. A replay does not wait: it moves
  // now_ns() on instead.
  Code sleep(int64_t duration_ns);
  // In a replay: time that passed while recording. Never reaches the deadline, which the recorded resolve did not reach either.
  void skip(int64_t duration_ns);

  // Requests made so far, for the answer; read by another thread when the call is given up. Of very many, as of a watch that
  // went on for months without a change, the last ones. [thread-safe]
  void add_request(RequestRecord record);
  std::vector<RequestRecord> requests() const;
  std::vector<RequestRecord> take_requests();  // and forgets them
  // What the call is waiting for, for the live line. [thread-safe]
  void set_progress(std::string text);
  std::string progress() const;

 private:
  std::shared_ptr<Session> session_;
  std::string path_;
  std::string backend_;
  int64_t deadline_ns_;
  CancelToken cancel_;
  std::shared_ptr<HttpLibrary> http_;
  std::atomic<int64_t> skipped_ns_{0};
  CallStrings texts_;
  mutable std::mutex mutex_;
  std::map<const void*, std::shared_ptr<void>> owned_;
  std::vector<RequestRecord> requests_;
  std::string progress_;
  std::shared_ptr<HttpStreams> streams_;  // ends first: its streams tell the call their requests
};

}  // namespace muster
