// A tree of fake backends, for the tests of core/resolve.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "core/resolve/cluster.h"
#include "tests/unit/contains.h"

namespace muster::testing {

constexpr int64_t kMillisecond = 1'000'000;

// What a fake backend does when it is asked.
using Behaviour =
    std::function<Result<BackendAnswer>(int64_t deadline_ns, const CancelToken& cancel)>;

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(Behaviour behaviour) : behaviour_(std::move(behaviour)) {}
  BackendOutcome resolve(std::shared_ptr<Session>, int64_t deadline_ns,
                         const CancelToken& cancel) override {
    RequestRecord request;
    request.method = "GET";
    return {behaviour_(deadline_ns, cancel), {request}};
  }
  std::string progress() const override { return ""; }

 private:
  Behaviour behaviour_;
};

inline Task task_of(int32_t index, const std::string& address) {
  Task task;
  task.index = index;
  task.address = *Address::parse(address);
  return task;
}

// An answer written down: tasks by job and index, then what is expected, missing and known.
class Says {
 public:
  Says task(const std::string& job, int32_t index, const std::string& address,
            const Attributes& attributes = {}) && {
    Task task = task_of(index, address);
    task.attributes = attributes;
    REQUIRE(answer_.spec.add_task(job, std::move(task)));
    return std::move(*this);
  }
  Says job(const std::string& name) && {
    REQUIRE(answer_.spec.add_job(name));
    return std::move(*this);
  }
  Says expected(const std::string& job, int64_t count) && {
    status(job).expected = count;
    return std::move(*this);
  }
  Says missing(const std::string& job, int64_t index, const std::string& reason,
               const std::string& name = "") && {
    status(job).missing.push_back({index, name, reason});
    return std::move(*this);
  }
  Says me(const std::string& job, int64_t index, const std::string& evidence) && {
    answer_.identity = {job, index, {evidence}};
    return std::move(*this);
  }
  Says attribute(const std::string& key, const std::string& value) && {
    answer_.attributes.emplace_back(key, value);
    return std::move(*this);
  }
  Says warning(const std::string& text) && {
    answer_.warnings.push_back(text);
    return std::move(*this);
  }
  operator Behaviour() && {
    return [answer = std::move(answer_)](int64_t, const CancelToken&) {
      return Result<BackendAnswer>(answer);
    };
  }

 private:
  JobStatus& status(const std::string& job) {
    for (JobStatus& status : answer_.jobs) {
      if (status.name == job) return status;
    }
    answer_.jobs.push_back({job, 0, std::nullopt, {}});
    return answer_.jobs.back();
  }
  BackendAnswer answer_;
};

inline Behaviour fails(Code code, const std::string& message) {
  return [=](int64_t, const CancelToken&) {
    return Result<BackendAnswer>(Error{code, message, {}});
  };
}

// Does nothing until its deadline or a cancel.
inline Behaviour hangs() {
  return [](int64_t deadline_ns, const CancelToken& cancel) -> Result<BackendAnswer> {
    while (monotonic_ns() < deadline_ns) {
      if (cancel.cancelled()) return Error{Code::kCancelled, "cancelled", {}};
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Error{Code::kDeadlineExceeded, "no answer in time", {}};
  };
}

// A config tree whose leaves are behaviours.
class TreeWorld {
 public:
  static ResolverConfig leaf(const std::string& name) {
    ResolverConfig resolver;
    resolver.backend = name;
    return resolver;
  }
  static ResolverConfig of(ResolverConfig::Kind kind, std::vector<ResolverConfig> children) {
    ResolverConfig resolver;
    resolver.kind = kind;
    resolver.children = std::move(children);
    return resolver;
  }

  TreeWorld& backend(const std::string& name, Behaviour behaviour) {
    behaviours_[name] = std::move(behaviour);
    return *this;
  }
  TreeWorld& tree(ResolverConfig root) {
    name_paths(root, "cluster");
    config.cluster = std::move(root);
    return *this;
  }

  std::variant<SnapshotPtr, ResolveFailure> resolve(const CancelToken& cancel = {}) {
    auto cluster = Cluster::create(
        config, [this](const ResolverConfig& leaf) -> Result<std::shared_ptr<Backend>> {
          return std::shared_ptr<Backend>(
              std::make_shared<FakeBackend>(behaviours_.at(leaf.backend)));
        });
    REQUIRE(cluster.ok());
    return (*cluster)->resolve(Session::live(std::make_shared<Log>(), std::make_shared<Secrets>()),
                               cancel);
  }
  Snapshot answer() {
    auto outcome = resolve();
    if (auto* failure = std::get_if<ResolveFailure>(&outcome)) FAIL(failure->error.message);
    return *std::get<SnapshotPtr>(outcome);
  }
  ResolveFailure failure() {
    auto outcome = resolve();
    REQUIRE(std::holds_alternative<ResolveFailure>(outcome));
    return std::get<ResolveFailure>(outcome);
  }

  Config config;

 private:
  static void name_paths(ResolverConfig& resolver, const std::string& path) {
    resolver.path = path;
    const char* word = resolver.kind == ResolverConfig::Kind::kChain ? ".chain[" : ".merge[";
    for (size_t n = 0; n < resolver.children.size(); ++n)
      name_paths(resolver.children[n], path + word + std::to_string(n) + "]");
  }
  std::map<std::string, Behaviour> behaviours_;
};

inline ResolverConfig chain_of(std::vector<ResolverConfig> children) {
  return TreeWorld::of(ResolverConfig::Kind::kChain, std::move(children));
}
inline ResolverConfig merge_of(std::vector<ResolverConfig> children) {
  return TreeWorld::of(ResolverConfig::Kind::kMerge, std::move(children));
}

inline TreeWorld two_merged(Behaviour a, Behaviour b) {
  TreeWorld world;
  world.backend("a", std::move(a))
      .backend("b", std::move(b))
      .tree(merge_of({TreeWorld::leaf("a"), TreeWorld::leaf("b")}));
  return world;
}

inline TreeWorld two_chained(Behaviour a, Behaviour b) {
  TreeWorld world;
  world.backend("a", std::move(a))
      .backend("b", std::move(b))
      .tree(chain_of({TreeWorld::leaf("a"), TreeWorld::leaf("b")}));
  return world;
}

inline std::string address_of(const Snapshot& snapshot, const std::string& job, int64_t index) {
  const auto address = snapshot.spec.task_address(job, index);
  return address ? address->to_string() : address.error().message;
}

}  // namespace muster::testing
