#pragma once

#include <cstdint>
#include <string>

#include "answer.h"
#include "google.h"
#include "result.h"

namespace muster::sim {

// Where a list goes on: which list it is of, its next item and the number of its page.
struct PageToken {
  std::size_t list = 0;
  std::size_t start = 0;
  std::int64_t page = 1;

  // Of the list that a call asks for: its page token, or the first page. Fails where the token is of no list, or of another.
  static Result<PageToken> of(const Call& call);
  // The token of the page that begins at item `to`.
  std::string next(std::size_t to) const;
};

// The number of the page that a page token asks for; 1 without one.
std::int64_t page_of_token(const std::string& token);

// The items of a page, and the token of the one behind it; "" for none.
struct Page {
  std::size_t from = 0, to = 0;
  std::string next;
};
// Cuts the page that a call asks for out of `count` items; at most `most` on it, and the scenario's page_size.
Result<Page> cut_page(const Call& call, const Google& world, std::size_t count, std::int64_t most);

// What a call gets of this JSON: cut down to its 'fields', and pretty unless it says not.
Answer google_answer(const Call& call, const std::string& json);

}  // namespace muster::sim
