#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object.h"
#include "pod.h"

namespace muster::sim {

// One unchanging state of all pods and other objects, at one resource version.
//
// The JSON of all pods stands in one text in storage order (namespace, then name), separated by
// commas, so that a page of neighbours is one slice of it and costs nothing to build.
// Safe to read from many threads.
class PodStore {
 public:
  // before: the state this one follows, or null. A pod or object that is the same as there keeps its
  // resource version.
  PodStore(std::vector<Pod> pods, std::vector<Object> objects, const PodStore* before);

  std::int64_t version() const { return version_; }
  std::size_t size() const { return pods_.size(); }
  const Pod& pod(std::size_t i) const { return pods_[i]; }
  std::int64_t pod_version(std::size_t i) const { return versions_[i]; }
  std::string_view json(std::size_t i) const { return slice(i, i + 1); }
  // The JSON of the pods [from, to), comma between them. from < to.
  std::string_view slice(std::size_t from, std::size_t to) const;

  // The objects that are no pods, in the order of the file.
  const std::vector<Object>& objects() const { return objects_; }
  std::int64_t object_version(std::size_t i) const { return object_versions_[i]; }
  std::optional<std::size_t> find_object(const Object& like) const;

  // The same as protobuf, each an item of a list; written once, when first asked for.
  std::string_view protobuf_slice(std::size_t from, std::size_t to) const;

  // The places [first, second) of a namespace; all pods for "".
  std::pair<std::size_t, std::size_t> range(std::string_view name_space) const;
  // The first place whose "namespace/name" is not before the key.
  std::size_t lower_bound(std::string_view key) const;
  std::optional<std::size_t> find(std::string_view name_space, std::string_view name) const;

 private:
  std::vector<Pod> pods_;
  std::vector<std::int64_t> versions_;
  std::vector<Object> objects_;
  std::vector<std::int64_t> object_versions_;
  std::vector<std::size_t> offsets_;  // of each pod's JSON; one more at the end
  std::string arena_;
  std::int64_t version_ = 0;

  struct Protobuf {
    std::once_flag once;
    std::vector<std::size_t> offsets;
    std::string arena;
  };
  std::unique_ptr<Protobuf> protobuf_ = std::make_unique<Protobuf>();
};

// "namespace/name", the key the store is ordered by.
std::string storage_key(const Pod& pod);

// The states of the world so far; the newest is the present one. Safe to call from many threads.
class History {
 public:
  explicit History(std::vector<Pod> pods, std::vector<Object> objects = {});
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  std::shared_ptr<const PodStore> now() const;
  // The state at a resource version: the newest that is not newer. Null if that is forgotten.
  std::shared_ptr<const PodStore> at(std::int64_t version) const;
  // The first state newer than a version; waits for it until the deadline. Null if none came.
  std::shared_ptr<const PodStore> wait_after(std::int64_t version,
                                             std::chrono::steady_clock::time_point deadline) const;
  // A new present. Keeps the last eight states.
  void replace(std::vector<Pod> pods, std::vector<Object> objects = {});

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace muster::sim
