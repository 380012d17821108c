// muster config, muster plugins, muster version: what is there, without asking any source.
#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>

#include "tools/muster/settings.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

std::string text_of(const rapidjson::Value& object, const char* key) {
  const auto member = object.FindMember(key);
  return member != object.MemberEnd() && member->value.IsString()
             ? std::string(member->value.GetString(), member->value.GetStringLength())
             : "";
}

// Columns as wide as their widest cell; the last one is not padded.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t n = 0; n < row.size(); ++n) widths[n] = std::max(widths[n], row[n].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t n = 0; n < row.size(); ++n)
      line += n + 1 < row.size() ? fmt::format("{:<{}}  ", row[n], widths[n]) : row[n];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// Asks for a JSON text and shows it as it is or by `show`.
template <typename Ask, typename Show>
int show_json(const Options& options, Ask ask, Show show) {
  const Settings settings = make_settings(options);
  if (settings == nullptr) return kExitUsage;
  Text json;
  Error error;
  if (ask(settings.get(), Out(json), Out(error)) != 0) return report(error);
  const std::string text = to_string(json);
  if (options.json) return print(text);
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  return print_page(show(document));
}

std::string plugin_table(const rapidjson::Document& plugins) {
  std::vector<std::vector<std::string>> rows{{"NAME", "VERSION", "DESCRIPTION", "FILE"}};
  for (const auto& plugin : plugins.GetArray()) {
    const bool usable = plugin["usable"].GetBool();
    rows.push_back(
        {text_of(plugin, "name"), text_of(plugin, "version"),
         usable ? text_of(plugin, "description") : "not usable: " + text_of(plugin, "reason"),
         text_of(plugin, "path")});
  }
  if (rows.size() == 1)
    return "no plugins found; `muster plugins path` shows where they are looked for\n";
  return columns(rows);
}

std::string compact(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

std::string type_of(const rapidjson::Value& schema) {
  const auto type = schema.FindMember("type");
  if (type == schema.MemberEnd()) return schema.HasMember("enum") ? compact(schema["enum"]) : "any";
  return type->value.IsString() ? type->value.GetString() : compact(type->value);
}

std::string option_rows(const rapidjson::Value& schema) {
  const auto properties = schema.FindMember("properties");
  if (properties == schema.MemberEnd() || !properties->value.IsObject() ||
      properties->value.ObjectEmpty())
    return "  none\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& property : properties->value.GetObject()) {
    std::string notes = property.value.IsObject() ? text_of(property.value, "description") : "";
    if (property.value.IsObject() && property.value.HasMember("default"))
      notes += fmt::format(" (default {})", compact(property.value["default"]));
    if (property.value.IsObject() && property.value.HasMember("writeOnly")) notes += " (secret)";
    rows.push_back({fmt::format("  {}", property.name.GetString()),
                    property.value.IsObject() ? type_of(property.value) : "any", notes});
  }
  return columns(rows);
}

std::string plugin_page(const rapidjson::Document& plugin) {
  const rapidjson::Value& descriptor = plugin["descriptor"];
  std::string page =
      fmt::format("{} {}\n{}\n\nfile    {}\nsha256  {}\ntrust   {}\n", text_of(descriptor, "name"),
                  text_of(descriptor, "version"), text_of(descriptor, "description"),
                  text_of(plugin, "path"), text_of(plugin, "sha256"), text_of(plugin, "trust"));
  for (const auto& path : plugin["shadowed"].GetArray())
    page += fmt::format("hides   {}\n", path.GetString());
  page += "\noptions\n";
  const auto options = descriptor.FindMember("options");
  return page + (options == descriptor.MemberEnd() ? "  none\n" : option_rows(options->value));
}

std::string place_table(const rapidjson::Document& places) {
  std::vector<std::vector<std::string>> rows{{"FROM", "DIRECTORY", "NOTE"}};
  for (const auto& place : places.GetArray())
    rows.push_back({text_of(place, "origin"), text_of(place, "directory"), text_of(place, "note")});
  return columns(rows);
}

}  // namespace

int config_check(const Options& options) {
  const Settings settings = make_settings(options);
  if (settings == nullptr) return kExitUsage;
  Text text;
  Error error;
  if (muster_config_check(settings.get(), Out(text), Out(error)) != 0) {
    say_error(error.get());
    return 12;  // whatever is wrong with it, it is the configuration that was asked about
  }
  return options.quiet ? 0 : print_page(to_string(text));
}

int config_schema() {
  size_t size = 0;
  const char* schema = muster_config_schema(&size);
  return print({schema, size});
}

int plugins_list(const Options& options) {
  return show_json(options, muster_plugins_list, plugin_table);
}

int plugins_describe(const Options& options) {
  return show_json(
      options,
      [&options](const muster_settings* settings, muster_text** json, muster_error** error) {
        return muster_plugins_describe(settings, options.name.c_str(), json, error);
      },
      plugin_page);
}

int plugins_path(const Options& options) {
  return show_json(options, muster_plugins_path, place_table);
}

int version() { return print(fmt::format("muster {}\n", muster_version())); }

}  // namespace muster_command
