#include "core/config/options.h"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "core/config/words.h"

namespace muster::conf {
namespace {

using rapidjson::Document;
using rapidjson::Value;

constexpr size_t kMaximumMarks = 4096;
// std::regex takes stack for every character it matches, and a launcher's thread may have little.
constexpr size_t kMaximumMatched = 512;

Value json_text(std::string_view text, Document& document) {
  return Value(text.data(), static_cast<rapidjson::SizeType>(text.size()), document.GetAllocator());
}

// JSON of a value. Numbers that JSON cannot say are told and become null.
Value to_json(const Node& node, Document& document, Problems* problems) {
  auto& memory = document.GetAllocator();
  switch (node.kind) {
    case Kind::kNull:
    case Kind::kBroken: return Value();
    case Kind::kBool: return Value(node.boolean);
    case Kind::kInteger:
      if (node.too_large) {
        problems->add(node.offset,
                      node.interpolated
                          ? "this number is too large; a text is written in quotes"
                          : fmt::format("the number {} is too large; a text is written in quotes",
                                        printable(node.text)));
        return Value();
      }
      if (node.negative) return Value(static_cast<int64_t>(0 - node.magnitude));
      return Value(node.magnitude);
    case Kind::kFloat:
      if (!std::isfinite(node.real)) {
        problems->add(
            node.offset,
            "options are JSON, which has no infinite number and no NaN; a text is written in "
            "quotes");
        return Value();
      }
      return Value(node.real);
    case Kind::kText: return json_text(node.text, document);
    case Kind::kList: {
      Value list(rapidjson::kArrayType);
      list.Reserve(static_cast<rapidjson::SizeType>(node.items.size()), memory);
      for (const Node* item : node.items) list.PushBack(to_json(*item, document, problems), memory);
      return list;
    }
    case Kind::kMap: {
      Value object(rapidjson::kObjectType);
      for (const Member& member : node.members) {
        object.AddMember(json_text(member.key, document),
                         to_json(*member.value, document, problems), memory);
      }
      return object;
    }
  }
  return Value();
}

std::string to_text(const Document& document) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  document.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

// What stands in a list or a map, each with its JSON pointer (RFC 6901).
template <typename Take>
void each_within(const Node& node, const std::string& pointer, const Take& take) {
  for (size_t i = 0; i < node.items.size(); ++i)
    take(*node.items[i], pointer + "/" + std::to_string(i));
  for (const Member& member : node.members) {
    std::string escaped;
    for (char c : member.key) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    take(*member.value, pointer + "/" + escaped);
  }
}

void add_variables(const Node& node, const std::string& pointer, CheckedOptions& checked) {
  if (!node.variables.empty()) checked.variables.emplace(pointer, node.variables);
  each_within(node, pointer, [&](const Node& inner, const std::string& its_pointer) {
    add_variables(inner, its_pointer, checked);
  });
}

// Marks of the values beneath a node by JSON pointer (RFC 6901). One pass over the text finds all lines.
class Marker {
 public:
  Marker(std::string_view text, std::map<std::string, Mark>* marks) : text_(text), marks_(*marks) {
    lines_.push_back(0);
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
      lines_.push_back(at + 1);
    }
  }

  void add(const Node& node, const std::string& pointer) {
    if (marks_.size() >= kMaximumMarks) return;
    marks_.emplace(pointer, at(node.offset));
    each_within(node, pointer, [this](const Node& inner, const std::string& its_pointer) {
      add(inner, its_pointer);
    });
  }

  Mark at(size_t offset) const {
    const auto next = std::upper_bound(lines_.begin(), lines_.end(), offset);
    const size_t begin = *(next - 1);
    Mark mark;
    mark.line = static_cast<int>(next - lines_.begin());
    mark.column = mark_at(text_.substr(begin, offset - begin), offset - begin).column;
    return mark;
  }

 private:
  std::string_view text_;
  std::map<std::string, Mark>& marks_;
  std::vector<size_t> lines_;
};

// Goes over values and what the schema says of them: secrets, and texts too long to be matched.
class Walk {
 public:
  Walk(const OptionSchema& schema, Problems* problems) : schema_(schema), problems_(*problems) {}

  void go(const Node& node, const Schemas& schemas) {
    if (!schemas.empty() && OptionSchema::is_secret(schemas)) {
      take(node);
      return;
    }
    if (!schemas.empty() && node.kind == Kind::kText && node.text.size() > kMaximumMatched &&
        OptionSchema::keyword(schemas, "pattern") != nullptr) {
      problems_.add(node.offset,
                    fmt::format("this text is longer than {} bytes, and its form cannot be checked",
                                kMaximumMatched));
    }
    if (node.kind == Kind::kList) {
      take_arguments(node);
      const bool alike = OptionSchema::items_alike(schemas);
      Schemas of_item;
      for (size_t i = 0; i < node.items.size(); ++i) {
        if (i == 0 || !alike) of_item = schema_.item(schemas, i);
        go(*node.items[i], of_item);
      }
    }
    for (const Member& member : node.members)
      go(*member.value, schema_.member(schemas, member.key));
  }

  std::vector<std::string> secrets() && { return std::move(secrets_); }

 private:
  // A list may be a command: `--token X` and `--password=X` are secrets that no schema knows of.
  void take_arguments(const Node& list) {
    bool next = false;
    for (const Node* item : list.items) {
      const bool text = item->kind == Kind::kText;
      const bool flag = text && item->text.starts_with('-');
      const size_t equals = flag ? item->text.find('=') : std::string::npos;
      const bool secret = flag && names_secret_argument(item->text.substr(0, equals));
      if (next && !flag && item->is_scalar()) take(*item);
      if (secret && equals != std::string::npos) {
        problems_.hide({item->offset, item->end});
        add(item->text.substr(equals + 1));
      }
      next = secret && equals == std::string::npos;
    }
  }

  void add(const std::string& secret) {
    if (!secret.empty() && known_.insert(secret).second) secrets_.push_back(secret);
  }

  // A scalar that is nothing but ${NAME} shows no secret where it stands.
  void take(const Node& node) {
    if (node.is_scalar()) {
      const std::string_view written =
          std::string_view(problems_.text()).substr(node.offset, node.end - node.offset);
      const bool named = node.interpolated && written.find(":-") == std::string_view::npos &&
                         written.find('$') <= 1 && written.find('}') + 2 >= written.size();
      if (!named) problems_.hide({node.offset, node.end});
      if (node.kind != Kind::kNull) add(node.text);
      return;
    }
    if (!node.items.empty() || !node.members.empty()) hide_value(node, &problems_);
    for (const Node* item : node.items) take(*item);
    for (const Member& member : node.members) take(*member.value);
  }

  const OptionSchema& schema_;
  Problems& problems_;
  std::set<std::string> known_;
  std::vector<std::string> secrets_;
};

// Puts in the defaults of what is not there, also within objects that are.
void fill_defaults(Value& value, const OptionSchema& schema, const Schemas& schemas,
                   Document& document) {
  if (value.IsObject()) {
    for (auto& member : value.GetObject()) {
      const std::string key(member.name.GetString(), member.name.GetStringLength());
      fill_defaults(member.value, schema, schema.member(schemas, key, false), document);
    }
    for (const std::string& name : OptionSchema::property_names(schemas)) {
      if (value.HasMember(name.c_str())) continue;
      const Value* fallback = OptionSchema::keyword(schema.member(schemas, name, false), "default");
      if (fallback == nullptr) continue;
      value.AddMember(json_text(name, document), Value(*fallback, document.GetAllocator()),
                      document.GetAllocator());
    }
  } else if (value.IsArray()) {
    const bool alike = OptionSchema::items_alike(schemas);
    Schemas of_item;
    for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
      if (i == 0 || !alike) of_item = schema.item(schemas, i, false);
      if (of_item.empty() && alike) break;
      fill_defaults(value[i], schema, of_item, document);
    }
  }
}

// Long texts are cut for the validator, whose regular expressions would take the stack for them; the walk has told of those
// whose schema has a pattern. Twice as long stays too long for any pattern's own limit.
void shorten(Value& value, Document& document) {
  if (value.IsString() && value.GetStringLength() > 2 * kMaximumMatched) {
    value = json_text(std::string_view(value.GetString(), 2 * kMaximumMatched), document);
  } else if (value.IsArray()) {
    for (Value& item : value.GetArray()) shorten(item, document);
  } else if (value.IsObject()) {
    for (auto& member : value.GetObject()) shorten(member.value, document);
  }
}

}  // namespace

CheckedOptions check_options(const std::string& backend, const OptionSchema& schema,
                             const Node* options, size_t place, Problems* problems) {
  CheckedOptions checked;
  Document document(rapidjson::kObjectType);
  if (options != nullptr) {
    Walk walk(schema, problems);
    walk.go(*options, schema.root());
    checked.secrets = std::move(walk).secrets();
    Value value = to_json(*options, document, problems);
    value.Swap(static_cast<Value&>(document));
    Marker(problems->text(), &checked.marks).add(*options, "");
    add_variables(*options, "", checked);
  } else {
    checked.marks.emplace("", mark_at(problems->text(), place));
  }

  std::string validated = to_text(document);
  if (validated.size() > 2 * kMaximumMatched &&
      schema.json().find("\"pattern") != std::string::npos) {
    Document shortened;
    shortened.CopyFrom(document, shortened.GetAllocator());
    shorten(shortened, shortened);
    validated = to_text(shortened);
  }
  const Result<Verdict> verdict = validate(schema.json(), validated);
  if (!verdict) {
    problems->add(
        place,
        fmt::format(
            "the options of backend '{}' cannot be checked: the JSON Schema in its plugin cannot "
            "be used: {}",
            backend, printable(verdict.error().message)));
  } else if (!verdict->fits) {
    explain({backend, schema, options, place}, *verdict, problems);
  }
  fill_defaults(document, schema, schema.root(false), document);
  checked.json = to_text(document);
  return checked;
}

void hide_value(const Node& node, Problems* problems) {
  size_t end = node.end;
  const auto hide_within = [&](const Node& child) {
    hide_value(child, problems);
    // What an alias stands for may be elsewhere.
    if (child.offset >= node.offset) end = std::max(end, child.end);
  };
  for (const Node* item : node.items) hide_within(*item);
  for (const Member& member : node.members) hide_within(*member.value);
  problems->hide({node.offset, end});
}

void hide_what_sounds_secret(const Node& node, Problems* problems) {
  for (const Node* item : node.items) hide_what_sounds_secret(*item, problems);
  for (const Member& member : node.members) {
    if (sounds_secret(member.key)) {
      hide_value(*member.value, problems);
    } else {
      hide_what_sounds_secret(*member.value, problems);
    }
  }
}

}  // namespace muster::conf
