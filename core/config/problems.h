// All errors of one config text, with their places, and how they are shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/config.h"
#include "core/result.h"

namespace muster::conf {

// Bytes of the text that no excerpt may show.
struct Hidden {
  size_t begin = 0;
  size_t end = 0;
};

// The line that holds `offset`, secrets as REDACTED, cut to about 120 characters around the place, and a caret below
// it; ends without a newline.
std::string excerpt(std::string_view text, size_t offset, const std::vector<Hidden>& hidden);

// Line and column of a byte of the text, and back (the nearest byte when there is no such place).
Mark mark_at(std::string_view text, size_t offset);
size_t offset_of(std::string_view text, Mark mark);

class Problems {
 public:
  // `text` is read when the error is made, and must live until then.
  Problems(std::string name, const std::string& text) : name_(std::move(name)), text_(text) {}

  // `message` may have more lines; it never holds a secret or the value of an environment variable. The first of two
  // equal messages at one place is kept.
  void add(size_t offset, std::string message, Code code = Code::kInvalidArgument,
           std::vector<Detail> details = {});
  void hide(Hidden hidden) { hidden_.push_back(hidden); }

  bool empty() const { return problems_.empty(); }
  size_t count() const { return problems_.size(); }
  const std::vector<Hidden>& hidden() const { return hidden_; }
  const std::string& text() const { return text_; }

  // Every problem, sorted by place; at most 20 are shown. The code is kInvalidArgument unless all are of
  // other codes: then it is the first one's, and so are the details.
  Error error() const;

 private:
  struct Problem {
    size_t offset = 0;
    std::string message;
    Code code = Code::kInvalidArgument;
    std::vector<Detail> details;
  };
  std::string name_;
  const std::string& text_;
  std::vector<Problem> problems_;
  std::vector<Hidden> hidden_;
};

}  // namespace muster::conf
