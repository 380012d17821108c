// A YAML text as a tree of typed values that remember their places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/config/variable_value.h"

namespace muster::conf {

// Types of the YAML 1.2 core schema. kBroken stands for a scalar whose error is already told (an unset
// variable, a wrong tag): later checks keep silent about it.
enum class Kind { kNull, kBool, kInteger, kFloat, kText, kList, kMap, kBroken };

struct Node;

struct Member {
  std::string key;
  size_t key_offset = 0;
  Node* value = nullptr;
};

struct Node {
  Kind kind = Kind::kNull;
  bool boolean = false;       // kBool
  bool negative = false;      // kInteger: the value is -magnitude
  bool too_large = false;     // kInteger: not within -2^63 .. 2^64-1; magnitude means nothing
  bool interpolated = false;  // holds the value of an environment variable: never to be shown
  std::vector<VariableValue> variables;  // the variables of an interpolated one
  uint64_t magnitude = 0;                // kInteger
  double real = 0;                       // kFloat; may be infinite or NaN
  std::string text;             // of every scalar, interpolated; of a kInteger, say, as written
  std::vector<Node*> items;     // kList
  std::vector<Member> members;  // kMap, in the order written; no key twice
  size_t offset = 0;            // where it begins, a byte of the text
  size_t end =
      0;  // at or after the last byte of a scalar, never within the next value; of others, within

  bool is_scalar() const { return kind != Kind::kList && kind != Kind::kMap; }
  // The value of this key of a kMap, or null.
  const Member* find(const std::string& key) const {
    for (const Member& member : members) {
      if (member.key == key) return &member;
    }
    return nullptr;
  }
};

// Owns its nodes. A node under two anchors' aliases is there once, so the tree is a graph without cycles.
struct Tree {
  std::deque<Node> nodes;
  Node* root = nullptr;  // null when the text could not be read at all, or is empty

  Node* make(Kind kind, size_t offset) {
    Node& node = nodes.emplace_back();
    node.kind = kind;
    node.offset = offset;
    node.end = offset;
    return &node;
  }
};

}  // namespace muster::conf
