#include "plugins/kubernetes/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <unordered_set>
#include <utility>
#include <vector>

#include "plugins/kubernetes/pod_list_stream.h"
#include "plugins/kubernetes/pods_url.h"
#include "plugins/kubernetes/refusal.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::percent_encoded;
using support::quote;

constexpr uint64_t kPageMaximum = uint64_t{512} << 20;
constexpr size_t kShown = 100;  // bytes of a name
constexpr int kPagedAttempts = 3;
constexpr int kPageAttempts = 3;        // at one page whose connection breaks
constexpr int kEmptyPagesMaximum = 10;  // in a row, each with another continue token
// Pods that a list has room for before it grows: pages of memory that nobody has touched cost nothing.
constexpr size_t kRoom = 1 << 15;

// Whether no two have one name. A server lists by namespace and name, so that mostly a look at the pod before is enough; of others
// the hashes are.
bool surely_unique(const Pods& pods) {
  const auto disorder = [](const Pod& a, const Pod& b) {
    return a.name_space == b.name_space ? a.name.view() >= b.name.view()
                                        : a.name_space.view() > b.name_space.view();
  };
  if (std::adjacent_find(pods.begin(), pods.end(), disorder) == pods.end()) return true;
  std::vector<size_t> taken(std::bit_ceil(pods.size() * 2));  // 0: free
  const size_t last = taken.size() - 1;
  return std::all_of(pods.begin(), pods.end(), [&](const Pod& pod) {
    const size_t hash = ByFullName()(&pod) | 1;
    size_t at = (hash >> 1) & last;
    while (taken[at] != 0 && taken[at] != hash) at = (at + 1) & last;
    return std::exchange(taken[at], hash) == 0;
  });
}

class Lister {
 public:
  Lister(const Access& access, const Options& options, const Selector& selector,
         const Wanted& wanted, PodListReader& reader, sdk::Call& call)
      : access_(access),
        options_(options),
        selector_(selector),
        wanted_(wanted),
        reader_(reader),
        call_(call) {}

  sdk::Result<PodList> list() {
    for (int attempt = 1;; ++attempt) {
      bool expired = false;
      auto pods = pages(attempt <= kPagedAttempts, expired);
      if (pods || !expired) return pods;
      call_.host().log(
          MUSTER_LOG_DEBUG,
          fmt::format(
              "kubernetes: the list of pods {} became too old to continue; it is begun again",
              quote(selector_.text)));
      if (attempt > kPagedAttempts) return pods;
    }
  }

 private:
  std::string url(bool paged, const std::string& next) const {
    std::string out = pods_url(access_, selector_);
    if (paged) out += fmt::format("&limit={}", options_.page_size);
    if (!next.empty()) out += "&continue=" + percent_encoded(next);
    return out;
  }

  sdk::Result<PodList> pages(bool paged, bool& expired) {
    PodList pods;
    pods.pods.reserve(kRoom);
    PodListStream stream(reader_, wanted_, pods);
    auto status = read_pages(paged, expired, stream);
    // What was wrong with a page comes before what was wrong with the one after it.
    if (auto read = stream.end(); !read) {
      expired = false;
      return std::move(read).failure().with("endpoint", access_.server);
    }
    if (status) status = check_count(stream);
    if (status) status = check_unique(pods.pods);
    if (!status) return std::move(status).failure();
    return pods;
  }

  sdk::Status read_pages(bool paged, bool& expired, PodListStream& stream) const {
    std::string next;
    size_t known = 0;
    int empty_pages = 0;
    for (int page = 1;; ++page) {
      auto read = read_page(paged, next, page, expired, stream);
      if (!read) return std::move(read).failure();
      if (auto status = check_count(stream); !status) return status;
      // A page may be short or empty and still have a successor; one that names itself has none that ever ends.
      if (read->empty()) return {};
      if (*read == next)
        return sdk::Failure{
            MUSTER_E_DATA_LOSS,
            "the API server's list of pods does not go on: two pages have one continue token",
            {{"endpoint", access_.server}}};
      empty_pages = stream.count() == known ? empty_pages + 1 : 0;
      if (empty_pages == kEmptyPagesMaximum) {
        // Of large pages some pods may be read only now.
        if (auto status = stream.end(); !status) return status;
        if (stream.count() == known)
          return sdk::Failure{
              MUSTER_E_DATA_LOSS,
              fmt::format("the API server's list of pods does not go on: {} pages one after the "
                          "other had no pod, each with another continue token",
                          kEmptyPagesMaximum),
              {{"endpoint", access_.server}}};
        empty_pages = 0;
      }
      known = stream.count();
      next = *std::move(read);
    }
  }

  sdk::Status check_unique(const Pods& pods) const {
    if (surely_unique(pods)) return {};
    std::unordered_set<const Pod*, ByFullName, ByFullName> seen(pods.size());
    for (const Pod& pod : pods)
      if (!seen.insert(&pod).second)
        return sdk::Failure{
            MUSTER_E_ALREADY_EXISTS,
            fmt::format("the API server's list has pod {} twice", quote(full_name(pod), kShown)),
            {{"endpoint", access_.server}}};
    return {};
  }

  sdk::Status check_count(const PodListStream& stream) const {
    if (static_cast<int64_t>(stream.count()) <= MUSTER_TASKS_MAXIMUM) return {};
    return sdk::Failure{MUSTER_E_RESOURCE_EXHAUSTED,
                        fmt::format("more than {} pods match {} {}", MUSTER_TASKS_MAXIMUM,
                                    quote(selector_.text), place_of(access_)),
                        {{"option", selector_.pointer}}};
  }

  // Reads one page while it comes, and returns the token of the next.
  sdk::Result<std::string> read_page(bool paged, const std::string& next, int page, bool& expired,
                                     PodListStream& stream) const {
    for (int attempt = 1;; ++attempt) {
      stream.begin();
      Reading reading{stream, {}};
      auto response = fetch(paged, next, page, reading);
      if (!reading.failed)
        return std::move(reading.failed).failure().with("endpoint", access_.server);
      if (response) {
        if (response->status() == 410 && !next.empty()) expired = true;
        if (response->status() != 200) return pods_refusal(access_, selector_, "list", *response);
        auto token = stream.finish();
        if (!token) return std::move(token).failure().with("endpoint", access_.server);
        return token;
      }
      // The core tries again what did not begin to be answered; what broke in the middle is ours, for pods of it were read.
      if (response.failure().code != MUSTER_E_UNAVAILABLE || !stream.began() ||
          attempt == kPageAttempts)
        return std::move(response).failure();
      call_.host().log(MUSTER_LOG_DEBUG,
                       fmt::format("kubernetes: page {} of the pods {} broke off; it is asked for "
                                   "again",
                                   page, quote(selector_.text)));
    }
  }

  struct Reading {
    PodListStream& stream;
    sdk::Status failed;
    static int32_t take(void* ctx, const char* data, uint64_t size) {
      auto& reading = *static_cast<Reading*>(ctx);
      try {
        reading.failed = reading.stream.take({data, size});
      } catch (const std::bad_alloc&) {
        reading.failed = sdk::Failure{
            MUSTER_E_RESOURCE_EXHAUSTED, "out of memory while reading a list of pods", {}};
      }
      return reading.failed ? MUSTER_OK : reading.failed.failure().code;
    }
  };

  sdk::Result<sdk::Response> fetch(bool paged, const std::string& next, int page,
                                   Reading& reading) const {
    if (call_.cancelled())
      return sdk::Failure{MUSTER_E_CANCELLED, "listing pods was cancelled", {}};
    call_.progress(fmt::format("page {} of the pods {}", page, quote(selector_.text)));
    auto response = ask(url(paged, next), page, reading);
    if (response) return response;
    sdk::Failure failure = std::move(response).failure();
    failure.details.emplace_back("endpoint", access_.server);
    if (failure.code == MUSTER_E_UNAVAILABLE)
      failure.details.emplace_back(
          "hint",
          fmt::format("this is the server of {}; does kubectl get pods work?", access_.origin));
    return failure;
  }

  sdk::Result<sdk::Response> ask(const std::string& url, int page, Reading& reading) const {
    const std::string purpose = page == 1
                                    ? fmt::format("list the pods {}", selector_.text)
                                    : fmt::format("page {} of the pods {}", page, selector_.text);
    Get get(url, "application/vnd.kubernetes.protobuf,application/json", purpose);
    get.request.maximum_body_size = kPageMaximum;
    // A page that comes slowly is not cut where the request has a limit of its own: in a watch.
    get.request.idle_timeout_ns = access_.timeout_ns;
    get.request.on_body = Reading::take;
    get.request.on_body_ctx = &reading;
    return access_.send(get.request, call_);
  }

  const Access& access_;
  const Options& options_;
  const Selector& selector_;
  const Wanted& wanted_;
  PodListReader& reader_;
  sdk::Call& call_;
};

}  // namespace

sdk::Result<PodList> list_pods(const Access& access, const Options& options,
                               const Selector& selector, const Wanted& wanted,
                               PodListReader& reader, sdk::Call& call) {
  return Lister(access, options, selector, wanted, reader, call).list();
}

}  // namespace muster::kubernetes
