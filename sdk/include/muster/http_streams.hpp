// SPDX-License-Identifier: Apache-2.0
/** C++17 over <muster/http_streams.h>, beside <muster/plugin.hpp>. */
#ifndef MUSTER_HTTP_STREAMS_HPP
#define MUSTER_HTTP_STREAMS_HPP

#include <muster/http_streams.h>

#include <muster/plugin.hpp>

namespace muster {
namespace sdk {

/** The exchanges of one call that go on beside one another. [call] */
class HttpStreams {
 public:
  /** `call` outlives this. */
  explicit HttpStreams(const Call& call)
      : call_(call),
        http_(call.host().service<muster_http_v1>(MUSTER_HTTP_V1)),
        streams_(call.host().service<muster_http_streams_v1>(MUSTER_HTTP_STREAMS_V1)) {}

  /** Whether this core has them. Without, begin and next fail with UNIMPLEMENTED. */
  bool possible() const { return http_ != nullptr && streams_ != nullptr; }

  /** Begins an exchange and returns its number; what comes of it `next` tells. */
  Result<uint64_t> begin(const muster_http_request_v1& request) const {
    if (!possible()) return none();
    uint64_t number = 0;
    const int32_t code = streams_->begin(call_.get(), &request, &number, nullptr);
    if (code != MUSTER_OK) return Failure{code, "a stream could not be begun", {}};
    return number;
  }
  Result<uint64_t> begin(const Request& request) const {
    std::vector<muster_http_header_v1> headers;
    return begin(request.table(headers));
  }

  /** What has come of the exchanges that were begun. */
  struct News {
    uint64_t ended = 0;  // the one that has; 0: none
    int32_t code =
        0;  // of none: MUSTER_OK something came, DEADLINE_EXCEEDED nothing did, CANCELLED
    std::optional<Result<Response>> response;  // of the one that has; a failure has its words
  };
  /**
   * Waits until there is news, for `timeout_ns` at most; pieces of bodies go to their on_body first. `told`: the call is told
   * a failure with all its details, as by Call::send, and no words are left; for who does not begin the exchange again.
   */
  News next(int64_t timeout_ns, bool told = false) const {
    if (!possible()) return {0, MUSTER_E_CANCELLED, std::nullopt};
    Response response(http_, call_.get());
    News news;
    const char* words = "";
    news.code = streams_->next(call_.get(), timeout_ns, &news.ended, response.get(), &words,
                               told ? call_.error() : nullptr);
    if (news.ended == 0) return news;
    if (news.code == MUSTER_OK) {
      news.response.emplace(std::move(response));
    } else {
      news.response.emplace(Failure{news.code, told ? "" : words, {}});
    }
    return news;
  }

  /** Ends an exchange; nothing is heard of it any more. */
  void end(uint64_t number) const {
    if (possible()) streams_->end(call_.get(), number);
  }

 private:
  static Failure none() {
    return Failure{MUSTER_E_UNIMPLEMENTED,
                   "this core does not lend several exchanges at a time; a newer one does",
                   {}};
  }

  const Call& call_;
  const muster_http_v1* http_;
  const muster_http_streams_v1* streams_;
};

}  // namespace sdk
}  // namespace muster

#endif /* MUSTER_HTTP_STREAMS_HPP */
