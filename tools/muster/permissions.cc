// muster permissions: what a config needs to be allowed, as text for an administrator.
#include <fmt/format.h>
#include <rapidjson/document.h>

#include <string_view>

#include "tools/muster/settings.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

std::string_view text_of(const rapidjson::Value& object, const char* key) {
  const rapidjson::Value& value = object[key];
  return {value.GetString(), value.GetStringLength()};
}

// Why it is not known what a resolver needs.
std::string why_unknown(const rapidjson::Value& resolver) {
  if (!resolver.HasMember("error")) return "this backend does not say what it needs";
  return fmt::format("it cannot be found out what this needs: {}: {}", text_of(resolver, "code"),
                     text_of(resolver, "error"));
}

// In comments a line of its own is one too.
std::string commented(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "#   ";
  }
  return out;
}

// One text after the other, each under a comment that says whose it is.
std::string page(const rapidjson::Document& resolvers) {
  std::string out;
  for (const auto& one : resolvers.GetArray()) {
    out += fmt::format("# {} ({})", text_of(one, "path"), text_of(one, "backend"));
    if (!one["known"].GetBool()) {
      out += fmt::format(": {}\n", commented(why_unknown(one)));
    } else if (one["permissions"].Empty()) {
      out += ": needs no permission\n";
    } else {
      const std::string_view text = text_of(one, "text");
      out += fmt::format(", for the standard input of: {}\n{}{}", text_of(one, "command"), text,
                         text.ends_with('\n') ? "" : "\n");
    }
  }
  return out;
}

bool says_nobody(const rapidjson::Value& resolver) {
  for (const auto& permission : resolver["permissions"].GetArray())
    if (text_of(permission, "principal").empty()) return true;
  return false;
}

// What is not known, on stderr; the status that it makes.
int told(const rapidjson::Document& resolvers, const Options& options) {
  int status = 0;
  for (const auto& one : resolvers.GetArray()) {
    const std::string place = fmt::format("{} ({})", text_of(one, "path"), text_of(one, "backend"));
    if (!one["known"].GetBool()) {
      status = kExitIncomplete;
      const bool failed = one.HasMember("error");
      say(fmt::format("{}: {}{}", place, why_unknown(one),
                      failed ? "" : ": it has no muster.permissions/1"));
      if (!failed) continue;
      for (const auto& hint : one["hints"].GetArray())
        say_hint({hint.GetString(), hint.GetStringLength()});
    } else if (says_nobody(one) && !options.quiet) {
      say(fmt::format("{}: nobody said who is to be allowed", place));
      say_hint("say it with --principal");
    }
  }
  return status;
}

}  // namespace

int permissions(const Options& options) {
  const Settings settings = make_settings(options);
  if (settings == nullptr) return kExitUsage;
  Cluster cluster;
  Error error;
  if (muster_open(settings.get(), Out(cluster), Out(error)) != 0) return report(error);
  Text json;
  int32_t code = 0;
  {
    const CancelOnSignal signals(cluster.get());
    code = muster_permissions(cluster.get(), options.principal.c_str(), options.watch ? 1 : 0,
                              Out(json), Out(error));
  }
  CancelOnSignal::die_if_signalled();
  if (code != 0) return report(error);
  const std::string text = to_string(json);
  rapidjson::Document resolvers;
  resolvers.Parse(text.data(), text.size());
  const int lost = options.json ? print(text) : print_page(page(resolvers));
  if (lost != 0) return lost;
  return told(resolvers, options);
}

}  // namespace muster_command
