#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

namespace muster::sim {

using Labels = std::map<std::string, std::string>;

// One term of a label selector; the terms of a selector are joined by AND.
struct LabelTerm {
  enum class Operator { kExists, kAbsent, kIn, kNotIn, kGreater, kLess };
  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values;  // kIn and kNotIn: sorted, unique; '=' is kIn with one value
  std::int64_t bound = 0;           // kGreater and kLess

  bool matches(const Labels& labels) const;
};

// The whole grammar of a Kubernetes label selector:
//   k   !k   k=v   k==v   k!=v   k in (a,b)   k notin (a,b)   k>5   k<5
class LabelSelector {
 public:
  // Empty text selects everything. Fails with the text a real server gives in its 400.
  static Result<LabelSelector> parse(std::string_view text);

  bool empty() const { return terms_.empty(); }
  bool matches(const Labels& labels) const;

 private:
  std::vector<LabelTerm> terms_;
};

// One term of a field selector: FIELD=VALUE, FIELD==VALUE or FIELD!=VALUE.
struct FieldTerm {
  std::string field;
  std::string value;
  bool equal = true;
};

// Splits a field selector at its commas; '\\', '\,' and '\=' stand for the character itself.
// Whether a field may be selected at all is the resource's business, not the grammar's.
Result<std::vector<FieldTerm>> parse_field_selector(std::string_view text);

}  // namespace muster::sim
