// Whether a list that is asked for page by page comes to an end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/support/strict_json.h"

namespace muster::support::google {

// The token of a page's successor, "" for none. A page in which a proxy or another API says an error under a status of success, and
// one whose `kind` is of another API than Compute Engine's, is refused: without entries and token it would be a list's end.
std::string_view next_token(const StrictJson& page);

// A page may be empty and still have a successor, but not for ever: what is counted is progress.
class Pages {
 public:
  // Takes what came: `entries` of the list, and the token of the next page, "" for none. DATA_LOSS where the list makes no progress: two
  // pages with one token, a hundred pages in a row without an entry, or more pages than any list has. `list`: "Cloud TPU's
  // answer for the TPUs".
  sdk::Status take(size_t entries, std::string next, const std::string& list);
  // Waits before the next page, where the last ones were empty: longer and longer.
  sdk::Status pause(sdk::Call& call) const;
  // How long that is.
  int64_t pause_ns() const;

  const std::string& token() const { return token_; }
  int number() const { return number_; }  // of the page that comes next, from 1
  bool done() const { return done_; }

 private:
  std::string token_;
  int number_ = 1;
  int empty_ = 0;  // pages in a row
  bool done_ = false;
};

}  // namespace muster::support::google
