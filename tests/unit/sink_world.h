// A call as a plugin sees it, for the tests of core/plugin/sink.h.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/plugin/sink.h"

namespace muster::testing {

// A call as a plugin sees it.
class Pushes {
 public:
  Pushes()
      : secrets(std::make_shared<Secrets>()),
        sink(std::make_shared<SinkCall>(Session::live(std::make_shared<const Log>(), secrets),
                                        "cluster.merge[0]", "toy", monotonic_ns() + 60'000'000'000,
                                        CancelToken())) {
    sink->begin();
  }

  const muster_call_v1* table() const { return sink->table(); }

  int32_t task(std::string_view job, int64_t index, std::string_view name, std::string_view address,
               int64_t port = 0) {
    const muster_task_v1 task{sizeof task, job.data(),     job.size(),     index, name.data(),
                              name.size(), address.data(), address.size(), port};
    return table()->add_task(table(), &task);
  }
  int32_t missing(std::string_view job, int64_t index, std::string_view name,
                  std::string_view reason) {
    const muster_missing_v1 missing{sizeof missing, job.data(),  job.size(),    index,
                                    name.data(),    name.size(), reason.data(), reason.size()};
    return table()->add_missing(table(), &missing);
  }
  int32_t identity(std::string_view job, int64_t index, std::string_view name,
                   std::string_view evidence) {
    const muster_identity_v1 identity{sizeof identity, job.data(),     job.size(),
                                      index,           name.data(),    name.size(),
                                      evidence.data(), evidence.size()};
    return table()->set_identity(table(), &identity);
  }
  int32_t job(std::string_view name) { return table()->add_job(table(), name.data(), name.size()); }
  int32_t attribute(std::string_view key, std::string_view value) {
    return table()->set_attribute(table(), key.data(), key.size(), value.data(), value.size());
  }
  int32_t expected(std::string_view job, int64_t count) {
    return table()->set_expected(table(), job.data(), job.size(), count);
  }
  int32_t warning(std::string_view text) {
    return table()->add_warning(table(), text.data(), text.size());
  }

  BackendAnswer answer() {
    Result<BackendAnswer> result = sink->finish(MUSTER_OK, {});
    if (!result) FAIL(result.error().message);
    return std::move(*result);
  }
  // What the user is told although the plugin returned OK.
  std::string complaint() {
    const Result<BackendAnswer> result = sink->finish(MUSTER_OK, {});
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == Code::kInternal);
    CHECK(result.error().detail("plugin") == "toy");
    CHECK(result.error().detail("path") == "cluster.merge[0]");
    return result.error().message;
  }

  std::shared_ptr<Secrets> secrets;
  std::shared_ptr<SinkCall> sink;
};

inline std::string said(const std::string& what) {
  return "plugin 'toy' (cluster.merge[0]) misbehaved: " + what;
}

inline bool has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

}  // namespace muster::testing
