// The handles of <muster/muster.h>, freed by scope.
#pragma once

#include <muster/muster.h>

#include <memory>
#include <string>

namespace muster_command {

template <auto kDestroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const {
    kDestroy(handle);
  }
};

using Settings = std::unique_ptr<muster_settings, Destroy<muster_settings_destroy>>;
using Cluster = std::unique_ptr<muster_cluster, Destroy<muster_cluster_destroy>>;
using Snapshot = std::unique_ptr<muster_snapshot, Destroy<muster_snapshot_destroy>>;
using WatchHandle = std::unique_ptr<muster_watch, Destroy<muster_watch_destroy>>;
using Text = std::unique_ptr<muster_text, Destroy<muster_text_destroy>>;
using Error = std::unique_ptr<muster_error, Destroy<muster_error_destroy>>;

// An out parameter: passes T** to a C function, and owns what it stored.
template <typename Handle>
class Out {
 public:
  explicit Out(Handle& handle) : handle_(handle) {}
  ~Out() { handle_.reset(raw_); }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  operator typename Handle::pointer *() {
    return &raw_;
  }  // NOLINT(google-explicit-constructor): that is what it is for

 private:
  Handle& handle_;
  typename Handle::pointer raw_ = nullptr;
};

inline std::string to_string(const Text& text) {
  size_t size = 0;
  const char* data = muster_text_data(text.get(), &size);
  return {data, size};
}

}  // namespace muster_command
