#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "answer.h"
#include "list_options.h"
#include "store.h"
#include "table.h"

namespace muster::sim {

// The stream of a watch: one JSON object a line, until its time is over.
//
// name_space  "" for all
// as_table    objects are tables of one row
// bookmark_every  between bookmarks, if the client allows them
std::shared_ptr<BodyStream> make_watch(WatchOptions options, std::string name_space, bool as_table,
                                       IncludeObject include,
                                       std::shared_ptr<const History> history,
                                       std::chrono::milliseconds bookmark_every);

// The same of other objects: those of like's kind and namespace.
std::shared_ptr<BodyStream> make_object_watch(WatchOptions options, Object like,
                                              std::shared_ptr<const History> history,
                                              std::chrono::milliseconds bookmark_every);

}  // namespace muster::sim
