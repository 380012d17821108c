// Plugins as they say they are: list, describe, path. No code of a shared object runs; an executable has to be asked.
#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <filesystem>
#include <system_error>

#include "core/host/handles.h"
#include "core/plugin/finder.h"

namespace muster {
namespace {

using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void put(Writer& writer, const char* key, const std::string& value) {
  writer.Key(key);
  writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}

// The descriptor's own JSON as a value.
void put_descriptor(Writer& writer, const Descriptor& descriptor) {
  writer.Key("descriptor");
  rapidjson::Document document;
  document.Parse(descriptor.json.data(), descriptor.json.size());
  if (document.HasParseError()) {
    writer.Null();
  } else {
    document.Accept(writer);
  }
}

muster_text* text_of(const rapidjson::StringBuffer& buffer) {
  return new muster_text{std::string(buffer.GetString(), buffer.GetSize()) + "\n"};
}

// A path stands for a file only with a slash in it, as for a shell.
Result<FoundPlugin> find_named(const muster_settings& settings, const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos) {
    if (name_or_path.ends_with(".so")) return inspect_plugin(name_or_path);
    std::error_code ignored;
    return find_program(search_of(settings, nullptr), "",
                        {std::filesystem::absolute(name_or_path, ignored).string()});
  }
  auto found = find_plugin(search_of(settings, nullptr), name_or_path);
  if (!found || !found->sha256.empty() || !found->command.empty()) return found;
  auto inspected = inspect_plugin(found->path);
  if (!inspected) return inspected;
  found->sha256 = std::move(inspected->sha256);
  return found;
}

}  // namespace
}  // namespace muster

extern "C" {

int32_t muster_plugins_list(const muster_settings* settings, muster_text** json,
                            muster_error** error) {
  return muster::guarded(error, [&] {
    if (settings == nullptr || json == nullptr) {
      return muster::fail({muster::Code::kInvalidArgument,
                           "muster_plugins_list: settings and json must not be NULL",
                           {}},
                          error);
    }
    rapidjson::StringBuffer buffer;
    muster::Writer writer(buffer);
    writer.StartArray();
    for (const muster::ListedPlugin& plugin :
         muster::list_plugins(muster::search_of(muster_settings(*settings), nullptr))) {
      writer.StartObject();
      muster::put(writer, "name", plugin.name);
      muster::put(writer, "path", plugin.path);
      muster::put(writer, "origin", plugin.origin);
      writer.Key("usable");
      writer.Bool(plugin.usable);
      muster::put(writer, "reason", plugin.reason);
      if (!plugin.descriptor.json.empty()) {
        muster::put(writer, "version", plugin.descriptor.version);
        muster::put(writer, "description", plugin.descriptor.description);
      }
      writer.EndObject();
    }
    writer.EndArray();
    *json = muster::text_of(buffer);
    return 0;
  });
}

int32_t muster_plugins_describe(const muster_settings* settings, const char* name_or_path,
                                muster_text** json, muster_error** error) {
  return muster::guarded(error, [&] {
    if (settings == nullptr || name_or_path == nullptr || json == nullptr) {
      return muster::fail(
          {muster::Code::kInvalidArgument,
           "muster_plugins_describe: settings, name_or_path and json must not be NULL",
           {}},
          error);
    }
    auto found = muster::find_named(muster_settings(*settings), name_or_path);
    if (!found) return muster::fail(std::move(found).error(), error);
    rapidjson::StringBuffer buffer;
    muster::Writer writer(buffer);
    writer.StartObject();
    muster::put(writer, "path", found->path);
    muster::put(writer, "origin", found->origin);
    muster::put(writer, "sha256", found->sha256);
    const muster::Status trust = muster::check_trust(found->path);
    muster::put(writer, "trust", trust ? "trusted" : trust.error().message);
    writer.Key("shadowed");
    writer.StartArray();
    for (const std::string& path : found->shadowed) writer.String(path.c_str());
    writer.EndArray();
    muster::put_descriptor(writer, found->descriptor);
    writer.EndObject();
    *json = muster::text_of(buffer);
    return 0;
  });
}

int32_t muster_plugins_path(const muster_settings* settings, muster_text** json,
                            muster_error** error) {
  return muster::guarded(error, [&] {
    if (settings == nullptr || json == nullptr) {
      return muster::fail({muster::Code::kInvalidArgument,
                           "muster_plugins_path: settings and json must not be NULL",
                           {}},
                          error);
    }
    rapidjson::StringBuffer buffer;
    muster::Writer writer(buffer);
    writer.StartArray();
    for (const muster::SearchPlace& place :
         muster::search_of(muster_settings(*settings), nullptr).places) {
      writer.StartObject();
      muster::put(writer, "origin", place.origin);
      muster::put(writer, "directory", place.directory);
      muster::put(writer, "note", place.note);
      writer.EndObject();
    }
    writer.EndArray();
    *json = muster::text_of(buffer);
    return 0;
  });
}

const char* muster_config_schema(size_t* size) {
  const std::string_view schema = muster::config_schema();
  if (size != nullptr) *size = schema.size();
  return schema.data();
}

}  // extern "C"
