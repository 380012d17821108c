#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "answer.h"
#include "continue_token.h"
#include "selector.h"
#include "status.h"
#include "store.h"

namespace muster::sim {

// The query of a list, checked: what to pick, from which state, where to begin.
struct ListOptions {
  LabelSelector labels;
  std::vector<FieldTerm> fields;
  std::int64_t limit = 0;  // 0: no bound
  std::optional<ContinueToken> token;
  std::shared_ptr<const PodStore> state;

  bool selects() const { return !labels.empty() || !fields.empty(); }
};

// Reads the query by the real server's rules (resourceVersion, resourceVersionMatch, continue,
// limit, selectors), or says with which Status it is refused.
//
// page_life_ms  how long a continue token is good
std::variant<ListOptions, Status> read_list_options(const Call& call, const History& history,
                                                    std::int64_t page_life_ms);

// What a watch asks for, checked.
struct WatchOptions {
  ListOptions select;                  // its state: where the watch begins
  bool initial_events = false;         // the pods of that state come first, as ADDED
  bool end_of_initial_events = false;  // told by a bookmark (a streaming list)
  bool bookmarks = false;
  bool too_old = false;                 // the version is forgotten: one ERROR event and the end
  std::int64_t version = 0;             // asked for
  std::optional<std::int64_t> seconds;  // how long it lasts
};

// The same for a watch. streaming_lists: whether sendInitialEvents is possible.
std::variant<WatchOptions, Status> read_watch_options(const Call& call, const History& history,
                                                      bool streaming_lists);

// A refusal with code 400.
Status bad_request(std::string message);

// Whether the pod passes both selectors.
bool selected(const ListOptions& options, const Pod& pod);
// The same of another object, of whose fields only its name and namespace can be selected.
bool selected(const ListOptions& options, const Object& object);

}  // namespace muster::sim
