#include "plugins/kubernetes/list.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "plugins/kubernetes/permissions.h"
#include "plugins/kubernetes/pod_list_thread.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::percent_encoded;
using support::quote;

constexpr uint64_t kPageMaximum = uint64_t{512} << 20;
constexpr int kPagedAttempts = 3;
constexpr int kPageAttempts = 3;  // at one page whose connection breaks

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
  std::string where() const {
    return options_.all_namespaces ? "in all namespaces"
                                   : "in namespace " + quote(access_.name_space);
  }

  std::string url(bool paged, const std::string& next) const {
    std::string out = access_.server + "/api/v1/";
    if (!options_.all_namespaces) out += "namespaces/" + percent_encoded(access_.name_space) + "/";
    out += "pods?labelSelector=" + percent_encoded(selector_.text);
    if (paged) out += fmt::format("&limit={}", options_.page_size);
    if (!next.empty()) out += "&continue=" + percent_encoded(next);
    return out;
  }

  sdk::Result<PodList> pages(bool paged, bool& expired) {
    PodList pods;
    PodListStream stream(reader_, wanted_, pods);
    PodListThread reading(stream);
    std::string next;
    for (int page = 1;; ++page) {
      auto read = read_page(paged, next, page, expired, reading, pods);
      if (!read) return std::move(read).failure();
      if (static_cast<int64_t>(pods.pods.size()) > MUSTER_TASKS_MAXIMUM)
        return sdk::Failure{MUSTER_E_RESOURCE_EXHAUSTED,
                            fmt::format("more than {} pods match {} {}", MUSTER_TASKS_MAXIMUM,
                                        quote(selector_.text), where()),
                            {{"option", selector_.pointer}}};
      // A page may be short or empty and still have a successor; one that names itself has none that ever ends.
      if (read->empty()) return pods;
      if (*read == next)
        return sdk::Failure{
            MUSTER_E_DATA_LOSS,
            "the API server's list of pods does not go on: two pages have one continue token",
            {{"endpoint", access_.server}}};
      next = *std::move(read);
    }
  }

  // Reads one page while it comes, and returns the token of the next.
  sdk::Result<std::string> read_page(bool paged, const std::string& next, int page, bool& expired,
                                     PodListThread& stream, PodList& pods) const {
    const size_t before = pods.pods.size();
    for (int attempt = 1;; ++attempt) {
      stream.begin();
      pods.pods.resize(before);
      Reading reading{stream, {}};
      auto response = fetch(paged, next, page, reading);
      if (!reading.failed)
        return std::move(reading.failed).failure().with("endpoint", access_.server);
      if (response) {
        if (response->status() == 410 && !next.empty()) expired = true;
        if (response->status() != 200) return failure_of(*response);
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
    PodListThread& stream;
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
    auto response = get(url(paged, next), page, reading);
    if (response) return response;
    sdk::Failure failure = std::move(response).failure();
    failure.details.emplace_back("endpoint", access_.server);
    if (failure.code == MUSTER_E_UNAVAILABLE)
      failure.details.emplace_back(
          "hint",
          fmt::format("this is the server of {}; does kubectl get pods work?", access_.origin));
    return failure;
  }

  sdk::Result<sdk::Response> get(const std::string& url, int page, Reading& reading) const {
    constexpr std::string_view kForms = "application/vnd.kubernetes.protobuf,application/json";
    const muster_http_header_v1 accept = {"Accept", kForms.data(), kForms.size()};
    const std::string purpose = page == 1
                                    ? fmt::format("list the pods {}", selector_.text)
                                    : fmt::format("page {} of the pods {}", page, selector_.text);
    muster_http_request_v1 request = {};
    request.struct_size = sizeof request;
    request.method = "GET";
    request.url = url.data();
    request.url_size = url.size();
    request.headers = &accept;
    request.header_count = 1;
    request.maximum_body_size = kPageMaximum;
    request.purpose = purpose.c_str();
    request.on_body = Reading::take;
    request.on_body_ctx = &reading;
    return access_.send(request, call_);
  }

  static ApiStatus status_of(const sdk::Response& response) {
    return response.body().starts_with(kProtobufMagic) ? read_protobuf_status(response.body())
                                                       : read_status(response.body());
  }

  // What the server said, in one line; the body itself where it is short and no Status.
  static std::string said(const sdk::Response& response) {
    const ApiStatus status = status_of(response);
    if (!status.message.empty()) return quote(status.message, 500);
    const std::string_view text = support::trimmed(response.body());
    return text.empty() ? "nothing more" : quote(text, 200);
  }

  sdk::Failure failure_of(const sdk::Response& response) const {
    const int64_t status = response.status();
    const std::string words = said(response);
    const auto failure = [&](int32_t code, const std::string& message) {
      return sdk::Failure{
          code, message, {{"http_status", std::to_string(status)}, {"endpoint", access_.server}}};
    };
    switch (status) {
      case 400:
      case 422:
        return failure(MUSTER_E_INVALID_ARGUMENT,
                       fmt::format("the API server does not take the label selector {}: {}",
                                   quote(selector_.text), words))
            .with("option", selector_.pointer);
      case 401:
        return failure(MUSTER_E_UNAUTHENTICATED,
                       fmt::format("the API server {} refuses the credentials {}({}): {}",
                                   access_.server, access_.user.empty() ? "" : access_.user + " ",
                                   access_.origin, words))
            .with("hint",
                  access_.anonymous()
                      ? "no credentials were sent: the user entry has none"
                      : "the token or certificate may have expired; does kubectl get pods work?");
      case 403:
        return failure(MUSTER_E_PERMISSION_DENIED,
                       fmt::format("the credentials {}({}) may not list pods {}: {}",
                                   access_.user.empty() ? "" : access_.user + " ", access_.origin,
                                   where(), words))
            .with("hint",
                  how_to_permit({"", "pods", "list"}, refused_user(status_of(response).message),
                                options_.all_namespaces ? "" : access_.name_space));
      case 404:
        return failure(MUSTER_E_NOT_FOUND, fmt::format("there is no Kubernetes API at {} ({}): {}",
                                                       access_.server, access_.origin, words));
      case 429: {
        auto out =
            failure(MUSTER_E_RESOURCE_EXHAUSTED,
                    fmt::format("the API server {} has too much to do: {}", access_.server, words));
        if (const auto after = response.header("Retry-After"))
          if (const auto seconds = support::parse_digits(*after, 86400))
            out.details.emplace_back("retry_after_ms", std::to_string(*seconds * 1000));
        return out;
      }
      case 410:
        return failure(MUSTER_E_UNAVAILABLE,
                       fmt::format("the list of the pods {} {} grew too old before its last page, "
                                   "again and again: {}",
                                   quote(selector_.text), where(), words))
            .with("hint", "a larger page_size needs fewer pages");
      default: break;
    }
    if (status >= 500)
      return failure(MUSTER_E_UNAVAILABLE, fmt::format("the API server {} answers {}: {}",
                                                       access_.server, status, words));
    return failure(MUSTER_E_UNKNOWN,
                   fmt::format("the API server {} answers {} to a list of pods: {}", access_.server,
                               status, words));
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
