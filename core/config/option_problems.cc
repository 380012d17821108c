// What valijson found, in words of ours, each at its place.
#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/config/options.h"
#include "core/config/scalar.h"
#include "core/config/utf8.h"
#include "core/config/words.h"

namespace muster::conf {
namespace {

using rapidjson::Value;

std::string text_of(const Value& value) {
  if (value.IsString()) return {value.GetString(), value.GetStringLength()};
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

std::string type_words(const std::string& type) {
  if (type == "integer") return "an integer";
  if (type == "number") return "a number";
  if (type == "string") return "a text";
  if (type == "boolean") return "true or false";
  if (type == "array") return "a list";
  if (type == "object") return "a mapping";
  if (type == "null") return "nothing (null)";
  return type;
}

std::string joined(const std::vector<std::string>& words, const char* last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return text;
}

std::vector<std::string> strings_of(const Value* list) {
  std::vector<std::string> strings;
  if (list == nullptr) return strings;
  if (list->IsString()) return {text_of(*list)};
  if (!list->IsArray()) return strings;
  for (const Value& item : list->GetArray()) {
    if (item.IsString()) strings.push_back(text_of(item));
  }
  return strings;
}

// The place that a finding's path leads to.
struct Where {
  const Node* node = nullptr;  // null: the options, of which none were written
  size_t offset = 0;
  std::string name;  // "job.worker[0]"; "" for the options as a whole
  Schemas schemas;
  Schemas always;  // of these, the ones that hold in any case
  bool secret = false;
};

class Explainer {
 public:
  Explainer(const Explained& what, Problems* problems) : what_(what), problems_(*problems) {}

  void explain(const Verdict& verdict) {
    const size_t before = problems_.count();
    bool broken = false;
    for (const Finding& finding : verdict.findings) {
      const Where where = locate(finding.path);
      if (where.node != nullptr && is_told(*where.node)) {
        broken = true;
        continue;
      }
      say(where, finding.what);
    }
    say_missing();
    if (problems_.count() > before || broken) return;
    // valijson said no more than that it does not fit. What it says of the innermost place tells most.
    const auto innermost = std::max_element(
        verdict.findings.begin(), verdict.findings.end(),
        [](const Finding& a, const Finding& b) { return a.path.size() < b.path.size(); });
    const bool told = innermost != verdict.findings.end();
    const Where where = locate(told ? innermost->path : std::vector<std::string>());
    const std::string reason = told ? fmt::format(" ({})", printable(innermost->what)) : "";
    problems_.add(where.offset,
                  fmt::format("{} {} not what the JSON Schema of its plugin asks for{}",
                              subject(where), where.name.empty() ? "are" : "is", reason));
  }

 private:
  // Values whose error is told: the validator saw null in their place.
  static bool is_told(const Node& node) {
    return node.kind == Kind::kBroken || node.too_large ||
           (node.kind == Kind::kFloat && !std::isfinite(node.real)) ||
           std::any_of(node.items.begin(), node.items.end(), [](const Node* item) {
             return item->kind != Kind::kList && is_told(*item);
           });
  }

  Where locate(const std::vector<std::string>& path) const {
    Where where;
    where.node = what_.options;
    where.offset = what_.options != nullptr ? what_.options->offset : what_.place;
    where.schemas = what_.schema.root();
    where.always = what_.schema.root(false);
    for (const std::string& step : path) {
      where.secret = where.secret || OptionSchema::is_secret(where.schemas);
      if (where.node == nullptr) break;
      if (where.node->kind == Kind::kList) {
        size_t index = 0;
        std::from_chars(step.data(), step.data() + step.size(), index);
        if (index >= where.node->items.size()) break;
        where.schemas = what_.schema.item(where.schemas, index);
        where.always = what_.schema.item(where.always, index, false);
        where.node = where.node->items[index];
        where.name += fmt::format("[{}]", index);
      } else {
        const Member* member = where.node->find(step);
        if (member == nullptr) break;
        where.schemas = what_.schema.member(where.schemas, step);
        where.always = what_.schema.member(where.always, step, false);
        where.node = member->value;
        where.name += (where.name.empty() ? "" : ".") + printable(step);
      }
      where.offset = where.node->offset;
    }
    where.secret = where.secret || OptionSchema::is_secret(where.schemas);
    return where;
  }

  std::string subject(const Where& where) const {
    if (where.name.empty()) return fmt::format("the options of backend '{}'", what_.backend);
    return fmt::format("option '{}'", where.name);
  }

  std::string what_is_there(const Where& where) const {
    return where.node == nullptr ? "nothing" : what_is(*where.node, where.secret);
  }

  void must(const Where& where, const std::string& be) {
    problems_.add(where.offset,
                  fmt::format("{} must {}, not {}", subject(where), be, what_is_there(where)));
  }

  // Of a length; how long it is only where that tells nothing of a secret.
  void must_have(const Where& where, const std::string& have) {
    std::string message = fmt::format("{} must {}", subject(where), have);
    if (where.node != nullptr && !where.secret && !where.node->interpolated) {
      const Node& node = *where.node;
      const size_t size = node.kind == Kind::kList  ? node.items.size()
                          : node.kind == Kind::kMap ? node.members.size()
                                                    : characters(node.text);
      message += size == 0 ? "; it is empty" : fmt::format("; it has {}", size);
    }
    problems_.add(where.offset, std::move(message));
  }

  void say(const Where& where, const std::string& what) {
    const auto begins = [&](const char* text) { return what.starts_with(text); };
    if (begins("Value type not permitted")) {
      say_type(where);
    } else if (begins("Failed to match against any enum")) {
      say_enum(where);
    } else if (begins("Failed to match expected value set by 'const'")) {
      const Value* value = OptionSchema::keyword(where.schemas, "const");
      must(where,
           fmt::format("be {}", value != nullptr ? printable(text_of(*value)) : "another value"));
    } else if (begins("Object contains a property")) {
      say_unknown(where, what);
    } else if (begins("Missing required property '")) {
      remember_missing(where, between_quotes(what));
    } else if (begins("Missing dependency '")) {
      say_dependency(where, between_quotes(what));
    } else if (begins("Expected number ")) {
      say_range(where);
    } else if (begins("String should be no")) {
      must_have(where, limits(where, "minLength", "maxLength", "character", "characters"));
    } else if (begins("Array should contain no ")) {
      must_have(where, limits(where, "minItems", "maxItems", "entry", "entries"));
    } else if (begins("Object should have no ")) {
      must_have(where, limits(where, "minProperties", "maxProperties", "key", "keys"));
    } else if (begins("Failed to match regex")) {
      const Value* pattern = OptionSchema::keyword(where.schemas, "pattern");
      must(where, fmt::format("match '{}'",
                              pattern != nullptr ? printable(text_of(*pattern)) : "its pattern"));
    } else if (begins("Elements at indexes")) {
      say_twice(where);
    } else if (begins("Value should be a multiple")) {
      const Value* divisor = OptionSchema::keyword(where.schemas, "multipleOf");
      must(where,
           fmt::format("be a multiple of {}", divisor != nullptr ? text_of(*divisor) : "a number"));
    } else if (begins("Target should not validate") ||
               begins("Failed to validate against exactly one")) {
      say_excluded(where);
    } else if (begins("Failed to any values")) {  // of 'contains'
      problems_.add(
          where.offset,
          fmt::format("{} has no entry of the kind that its schema asks for", subject(where)));
    } else if (begins("Array contains more items")) {
      problems_.add(where.offset,
                    fmt::format("{} has more entries than the schema allows", subject(where)));
    }
    // The rest begins with "Failed to validate": what contains the findings above.
  }

  static std::string between_quotes(const std::string& text) {
    const size_t begin = text.find('\'');
    const size_t end = text.rfind('\'');
    return begin < end ? text.substr(begin + 1, end - begin - 1) : "";
  }

  // " from 1 to 65535", for a type that is a number and has both bounds.
  static std::string bounds_of(const Where& where, const std::string& type) {
    const Value* low = OptionSchema::keyword(where.schemas, "minimum");
    const Value* high = OptionSchema::keyword(where.schemas, "maximum");
    if ((type != "integer" && type != "number") || low == nullptr || high == nullptr) return "";
    return fmt::format(" from {} to {}", text_of(*low), text_of(*high));
  }

  void say_type(const Where& where) {
    std::vector<std::string> types;
    for (const Value* schema : where.schemas) {
      const auto type = schema->FindMember("type");
      if (type == schema->MemberEnd()) continue;
      for (const std::string& name : strings_of(&type->value)) {
        if (std::find(types.begin(), types.end(), name) == types.end()) types.push_back(name);
      }
    }
    std::vector<std::string> words;
    words.reserve(types.size());
    for (const std::string& type : types)
      words.push_back(type_words(type) + bounds_of(where, type));
    std::string hint;
    const auto takes = [&](const char* type) {
      return std::find(types.begin(), types.end(), type) != types.end();
    };
    if (where.node != nullptr) {
      const Kind kind = where.node->kind;
      if (takes("string") &&
          (kind == Kind::kInteger || kind == Kind::kFloat || kind == Kind::kBool)) {
        hint = "; a text that looks so is written in quotes";
      } else if (kind == Kind::kText && (takes("integer") || takes("number") || takes("boolean"))) {
        Node plain;
        plain.text = where.node->text;
        type_plain_scalar(&plain);
        const bool fits =
            (takes("integer") && plain.kind == Kind::kInteger) ||
            (takes("number") && (plain.kind == Kind::kInteger || plain.kind == Kind::kFloat)) ||
            (takes("boolean") && plain.kind == Kind::kBool);
        if (fits) hint = "; write it without quotes";
      } else if (takes("array") && kind != Kind::kNull && kind != Kind::kMap) {
        hint = "; a list of one is written [...]";
      }
    }
    problems_.add(where.offset,
                  fmt::format("{} must be {}, not {}{}", subject(where),
                              words.empty() ? "of another type" : joined(words, " or "),
                              what_is_there(where), hint));
  }

  void say_enum(const Where& where) {
    std::vector<std::string> allowed;
    for (const Value* schema : where.schemas) {
      const auto list = schema->FindMember("enum");
      if (list == schema->MemberEnd() || !list->value.IsArray()) continue;
      for (const Value& value : list->value.GetArray()) {
        std::string text = printable(text_of(value));
        if (std::find(allowed.begin(), allowed.end(), text) == allowed.end())
          allowed.push_back(std::move(text));
      }
    }
    std::string message =
        fmt::format("{} must be {}, not {}", subject(where), either(allowed), what_is_there(where));
    if (where.node != nullptr && where.node->kind == Kind::kText && !where.secret &&
        !where.node->interpolated) {
      const std::string near = nearest(where.node->text, allowed);
      if (!near.empty()) message += fmt::format("; did you mean '{}'?", near);
    }
    problems_.add(where.offset, std::move(message));
  }

  void say_unknown(const Where& where, const std::string& what) {
    if (where.node == nullptr) return;
    const std::vector<std::string> known = OptionSchema::property_names(where.schemas);
    const bool patterns = OptionSchema::keyword(where.schemas, "patternProperties") != nullptr;
    const size_t constraints = what.find("constraints: ");
    const std::string reported =
        constraints == std::string::npos ? "" : between_quotes(what.substr(constraints));
    const size_t before = problems_.count();
    for (const Member& member : where.node->members) {
      if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
      if (!patterns || member.key == reported) say_unknown_member(where, member, known);
    }
    const Member* member = where.node->find(reported);
    if (problems_.count() == before && member != nullptr) say_unknown_member(where, *member, known);
  }

  void say_unknown_member(const Where& where, const Member& member,
                          const std::vector<std::string>& known) {
    const std::string near = nearest(member.key, known);
    const bool secret =
        where.secret || sounds_secret(member.key) ||
        (!near.empty() && OptionSchema::is_secret(what_.schema.member(where.schemas, near)));
    if (secret) hide_value(*member.value, &problems_);
    const std::string name = name_in(where, member.key);
    if (where.name.empty() && known.empty()) {
      problems_.add(
          member.key_offset,
          fmt::format("unknown option '{}'; backend '{}' takes no options", name, what_.backend));
      return;
    }
    problems_.add(member.key_offset, fmt::format("unknown option '{}' of backend '{}'{}", name,
                                                 what_.backend, did_you_mean(member.key, known)));
  }

  // The name of a member of that place.
  static std::string name_in(const Where& where, const std::string& key) {
    return (where.name.empty() ? "" : where.name + ".") + printable(key);
  }

  void say_dependency(const Where& where, const std::string& missing) {
    const Value* dependencies = OptionSchema::keyword(where.schemas, "dependencies");
    if (where.node == nullptr) return;
    for (const Member& member : where.node->members) {
      if (dependencies == nullptr || !dependencies->IsObject()) break;
      const auto needs = dependencies->FindMember(member.key.c_str());
      if (needs == dependencies->MemberEnd()) continue;
      const std::vector<std::string> names = strings_of(&needs->value);
      if (std::find(names.begin(), names.end(), missing) == names.end()) continue;
      problems_.add(member.key_offset,
                    fmt::format("option '{}' needs option '{}' beside it",
                                name_in(where, member.key), name_in(where, missing)));
      return;
    }
    problems_.add(where.offset,
                  fmt::format("{} must have '{}'", subject(where), printable(missing)));
  }

  // "be between 1 and 65535", of the numbers the schema has.
  void say_range(const Where& where) {
    const Value* low = OptionSchema::keyword(where.schemas, "minimum");
    const Value* high = OptionSchema::keyword(where.schemas, "maximum");
    const Value* above = OptionSchema::keyword(where.schemas, "exclusiveMinimum");
    const Value* below = OptionSchema::keyword(where.schemas, "exclusiveMaximum");
    std::vector<std::string> words;
    if (low != nullptr && high != nullptr) {
      words.push_back(fmt::format("between {} and {}", text_of(*low), text_of(*high)));
    } else if (low != nullptr) {
      words.push_back(fmt::format("at least {}", text_of(*low)));
    } else if (high != nullptr) {
      words.push_back(fmt::format("at most {}", text_of(*high)));
    }
    if (above != nullptr) words.push_back(fmt::format("more than {}", text_of(*above)));
    if (below != nullptr) words.push_back(fmt::format("less than {}", text_of(*below)));
    must(where, "be " + joined(words, " and "));
  }

  static std::string limits(const Where& where, const char* least, const char* most,
                            const char* one, const char* many) {
    const Value* low = OptionSchema::keyword(where.schemas, least);
    const Value* high = OptionSchema::keyword(where.schemas, most);
    const std::string at_least = low != nullptr ? text_of(*low) : "0";
    const std::string at_most = high != nullptr ? text_of(*high) : "";
    if (at_most.empty())
      return fmt::format("have at least {} {}", at_least, at_least == "1" ? one : many);
    if (low == nullptr)
      return fmt::format("have at most {} {}", at_most, at_most == "1" ? one : many);
    if (at_least == at_most) return fmt::format("have {} {}", at_most, at_most == "1" ? one : many);
    return fmt::format("have {} to {} {}", at_least, at_most, many);
  }

  void say_twice(const Where& where) {
    problems_.add(where.offset, fmt::format("{} must not hold an entry twice", subject(where)));
  }

  // not: {required: [a, b]}, or two alternatives of oneOf at once.
  void say_excluded(const Where& where) {
    std::vector<std::string> present;
    const auto take = [&](const Value& schema) {
      if (!schema.IsObject() || where.node == nullptr) return;
      const auto required = schema.FindMember("required");
      if (required == schema.MemberEnd()) return;
      for (const std::string& name : strings_of(&required->value)) {
        if (where.node->find(name) == nullptr) continue;
        const std::string quoted = fmt::format("'{}'", name_in(where, name));
        if (std::find(present.begin(), present.end(), quoted) == present.end())
          present.push_back(quoted);
      }
    };
    for (const Value* schema : where.schemas) {
      if (const auto one = schema->FindMember("oneOf");
          one != schema->MemberEnd() && one->value.IsArray()) {
        for (const Value& choice : one->value.GetArray()) take(choice);
      }
      if (const auto no = schema->FindMember("not"); no != schema->MemberEnd()) {
        take(no->value);
        if (!no->value.IsObject()) continue;
        const auto any = no->value.FindMember("anyOf");
        if (any == no->value.MemberEnd() || !any->value.IsArray()) continue;
        for (const Value& choice : any->value.GetArray()) take(choice);
      }
    }
    if (present.size() >= 2) {
      problems_.add(where.offset, fmt::format("of the options {} only one can be given",
                                              joined(present, " and ")));
    } else if (present.size() == 1) {
      problems_.add(where.offset, fmt::format("option {} cannot be given here", present.front()));
    }
  }

  // Missing properties are told last: several at one place that only some alternatives need are one message.
  struct Missing {
    Where where;
    std::vector<std::string> always;
    std::vector<std::string> one_of;
  };

  void remember_missing(const Where& where, const std::string& name) {
    auto known = std::find_if(missing_.begin(), missing_.end(), [&](const Missing& missing) {
      return missing.where.offset == where.offset && missing.where.name == where.name;
    });
    if (known == missing_.end()) known = missing_.insert(missing_.end(), Missing{where, {}, {}});
    bool always = false;
    for (const Value* schema : where.always) {
      const auto required = schema->FindMember("required");
      if (required == schema->MemberEnd()) continue;
      for (const std::string& needed : strings_of(&required->value))
        always = always || needed == name;
    }
    auto& names = always ? known->always : known->one_of;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }

  void say_missing() {
    for (const Missing& missing : missing_) {
      const std::string who = missing.where.name.empty()
                                  ? fmt::format("backend '{}'", what_.backend)
                                  : subject(missing.where);
      for (const std::string& name : missing.always) {
        problems_.add(missing.where.offset,
                      missing.where.name.empty()
                          ? fmt::format("{} needs option '{}'", who, printable(name))
                          : fmt::format("{} needs '{}'", who, printable(name)));
      }
      if (missing.one_of.empty()) continue;
      std::vector<std::string> names;
      for (const std::string& name : missing.one_of) names.push_back(printable(name));
      problems_.add(missing.where.offset,
                    missing.where.name.empty()
                        ? fmt::format("{} needs option {}", who, either(names))
                        : fmt::format("{} needs {}", who, either(names)));
    }
  }

  const Explained& what_;
  Problems& problems_;
  std::vector<Missing> missing_;
};

}  // namespace

void explain(const Explained& what, const Verdict& verdict, Problems* problems) {
  Explainer(what, problems).explain(verdict);
}

}  // namespace muster::conf
