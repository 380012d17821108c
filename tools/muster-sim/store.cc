// The pods of the world, their JSON built once.
#include "store.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>

#include "pod_json.h"
#include "pod_protobuf.h"

namespace muster::sim {
namespace {

constexpr std::int64_t kFirstVersion = 1000;
constexpr std::size_t kStatesKept = 8;

// Order by namespace, then name, byte by byte, without building keys.
int compare_key(const Pod& pod, std::string_view key) {
  const auto slash = key.find('/');
  const auto order = pod.name_space.compare(key.substr(0, slash));
  if (order != 0) return order;
  return slash == std::string_view::npos ? 1 : pod.name.compare(key.substr(slash + 1));
}

}  // namespace

std::string storage_key(const Pod& pod) { return pod.name_space + "/" + pod.name; }

PodStore::PodStore(std::vector<Pod> pods, std::vector<Object> objects, const PodStore* before)
    : objects_(std::move(objects)) {
  const std::int64_t base = before == nullptr ? kFirstVersion : before->version();
  const std::size_t count = pods.size();
  version_ = base + static_cast<std::int64_t>(count + objects_.size()) + 1;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const auto old = before == nullptr ? std::nullopt : before->find_object(objects_[i]);
    const bool same = old && before->objects_[*old].before_version == objects_[i].before_version &&
                      before->objects_[*old].after_version == objects_[i].after_version;
    object_versions_.push_back(same ? before->object_versions_[*old]
                                    : base + static_cast<std::int64_t>(count + i) + 1);
  }

  // Pods get their versions in the order of the file, and are stored in the order of their keys.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(pods[a].name_space, pods[a].name) < std::tie(pods[b].name_space, pods[b].name);
  });

  pods_.reserve(count);
  versions_.reserve(count);
  offsets_.reserve(count + 1);
  for (const std::size_t from : order) {
    Pod& pod = pods[from];
    std::int64_t version = base + static_cast<std::int64_t>(from) + 1;
    std::string json = pod_json(pod, version);
    if (before != nullptr) {
      if (const auto old = before->find(pod.name_space, pod.name)) {
        auto unchanged = pod_json(pod, before->pod_version(*old));
        if (unchanged == before->json(*old)) {
          version = before->pod_version(*old);
          json = std::move(unchanged);
        }
      }
    }
    if (arena_.empty() && pod.bytes > 0)
      arena_.reserve(count * (static_cast<std::size_t>(pod.bytes) + 16));
    if (!arena_.empty()) arena_ += ',';
    offsets_.push_back(arena_.size());
    arena_ += json;
    versions_.push_back(version);
    pods_.push_back(std::move(pod));
  }
  offsets_.push_back(arena_.size() + 1);  // as if one more comma followed
}

std::string_view PodStore::slice(std::size_t from, std::size_t to) const {
  return std::string_view(arena_).substr(offsets_[from], offsets_[to] - 1 - offsets_[from]);
}

std::string_view PodStore::protobuf_slice(std::size_t from, std::size_t to) const {
  Protobuf& texts = *protobuf_;
  std::call_once(texts.once, [&] {
    for (std::size_t i = 0; i < size(); ++i) {
      texts.offsets.push_back(texts.arena.size());
      texts.arena += pod_protobuf_item(pods_[i], versions_[i]);
    }
    texts.offsets.push_back(texts.arena.size());
  });
  return std::string_view(texts.arena)
      .substr(texts.offsets[from], texts.offsets[to] - texts.offsets[from]);
}

std::size_t PodStore::lower_bound(std::string_view key) const {
  const auto place = std::partition_point(
      pods_.begin(), pods_.end(), [&](const Pod& pod) { return compare_key(pod, key) < 0; });
  return static_cast<std::size_t>(place - pods_.begin());
}

std::pair<std::size_t, std::size_t> PodStore::range(std::string_view name_space) const {
  if (name_space.empty()) return {0, pods_.size()};
  const auto low = std::partition_point(
      pods_.begin(), pods_.end(), [&](const Pod& pod) { return pod.name_space < name_space; });
  const auto high = std::partition_point(
      low, pods_.end(), [&](const Pod& pod) { return pod.name_space == name_space; });
  return {static_cast<std::size_t>(low - pods_.begin()),
          static_cast<std::size_t>(high - pods_.begin())};
}

std::optional<std::size_t> PodStore::find(std::string_view name_space,
                                          std::string_view name) const {
  const auto place = lower_bound(std::string(name_space) + "/" + std::string(name));
  if (place == pods_.size() || pods_[place].name_space != name_space || pods_[place].name != name)
    return std::nullopt;
  return place;
}

std::optional<std::size_t> PodStore::find_object(const Object& like) const {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const Object& one = objects_[i];
    if (one.api == like.api && one.resource == like.resource && one.name_space == like.name_space &&
        one.name == like.name)
      return i;
  }
  return std::nullopt;
}

struct History::Shared {
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::deque<std::shared_ptr<const PodStore>>
      states;  // guarded by mutex; oldest first, never empty
};

History::History(std::vector<Pod> pods, std::vector<Object> objects)
    : shared_(std::make_unique<Shared>()) {
  shared_->states.push_back(
      std::make_shared<const PodStore>(std::move(pods), std::move(objects), nullptr));
}

History::~History() = default;

std::shared_ptr<const PodStore> History::now() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->states.back();
}

std::shared_ptr<const PodStore> History::at(std::int64_t version) const {
  const std::lock_guard lock(shared_->mutex);
  for (auto state = shared_->states.rbegin(); state != shared_->states.rend(); ++state) {
    if ((*state)->version() <= version) return *state;
  }
  return nullptr;
}

std::shared_ptr<const PodStore> History::wait_after(
    std::int64_t version, std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_until(lock, deadline,
                              [&] { return shared_->states.back()->version() > version; });
  for (const auto& state : shared_->states) {
    if (state->version() > version) return state;
  }
  return nullptr;
}

void History::replace(std::vector<Pod> pods, std::vector<Object> objects) {
  const std::lock_guard lock(shared_->mutex);
  const auto before = shared_->states.back();
  shared_->states.push_back(
      std::make_shared<const PodStore>(std::move(pods), std::move(objects), before.get()));
  if (shared_->states.size() > kStatesKept) shared_->states.pop_front();
  shared_->changed.notify_all();
}

}  // namespace muster::sim
