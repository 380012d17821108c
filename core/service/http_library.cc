// HttpLibrary: libmuster-http.so, loaded when the first request is made.
#include "core/service/http_library.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include <fmt/format.h>
#include <boost/dll/shared_library.hpp>

namespace muster {
namespace {

constexpr const char* kHint =
    "install muster's libmuster-http.so beside its plugins, or name its folder in "
    "MUSTER_PLUGIN_PATH";

}  // namespace

HttpLibrary::HttpLibrary(const muster_transport_v1* transport) {
  const Status adopted = adopt(transport, "the given transport");
  if (!adopted) {
    find_ = [error = adopted.error()]() -> Result<std::string> { return error; };
  }
}

Status HttpLibrary::adopt(const muster_transport_v1* table, const std::string& file) {
  const auto refuse = [&](const std::string& reason) {
    return Error{Code::kInternal, fmt::format("'{}' cannot be used for HTTP: {}", file, reason), {}}
        .with("hint", kHint);
  };
  if (table == nullptr) return refuse("it cannot run in this process; the log says why");
  // A table of another minor: what it has is taken, the rest stays zero.
  muster_transport_v1 copy{};
  if (table->struct_size < sizeof(uint64_t)) return refuse("its table has no size");
  std::memcpy(&copy, table, std::min<uint64_t>(table->struct_size, sizeof(copy)));
  if (copy.abi_major != MUSTER_PLUGIN_ABI_MAJOR) {
    return refuse(
        fmt::format("it is of ABI {}, this muster of {}", copy.abi_major, MUSTER_PLUGIN_ABI_MAJOR));
  }
  if (copy.exchange == nullptr || copy.release == nullptr)
    return refuse("its table lacks exchange or release");
  table_ = copy;
  ready_ = true;
  return {};
}

Result<const muster_transport_v1*> HttpLibrary::transport(const Session& session) {
  const std::lock_guard lock(mutex_);
  if (ready_) return &table_;
  Result<std::string> file = find_();
  if (!file) return std::move(file).error();
  try {
    // Never unloaded: a library with threads and thread-local data inside does not come out whole.
    auto library = std::make_unique<boost::dll::shared_library>(
        *file, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
    if (!library->has(MUSTER_TRANSPORT_ENTRY_V1)) {
      return Error{Code::kInternal,
                   fmt::format("'{}' cannot be used for HTTP: it has no {}", *file,
                               MUSTER_TRANSPORT_ENTRY_V1),
                   {}}
          .with("hint", kHint);
    }
    auto* entry =
        &library->get<const muster_transport_v1*(const muster_host_v1*)>(MUSTER_TRANSPORT_ENTRY_V1);
    static_cast<void>(library.release());
    // The host is there for the handshake only; each exchange gets its own.
    const Host host("http", "", "{}", session.shared_log(), session.shared_secrets(), nullptr);
    Status adopted = adopt(entry(host.table()), *file);
    if (!adopted) return std::move(adopted).error();
    return &table_;
  } catch (const std::exception& exception) {
    Error error = exception_error(exception, fmt::format("'{}' cannot be loaded", *file));
    if (error.code == Code::kInternal) error.details.push_back({"hint", kHint});
    return error;
  }
}

void HttpLibrary::close_idle() {
  const std::lock_guard lock(mutex_);
  if (ready_ && table_.close_idle != nullptr) table_.close_idle();
}

std::shared_ptr<HttpLibrary> make_http_library(std::function<Result<std::string>()> find) {
  return std::make_shared<HttpLibrary>(std::move(find));
}

std::shared_ptr<HttpLibrary> make_http_library(const muster_transport_v1* transport) {
  return std::make_shared<HttpLibrary>(transport);
}

}  // namespace muster
