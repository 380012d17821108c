#include "core/plugin/finder.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <set>
#include <system_error>

#include "core/config/config.h"
#include "core/plugin/inspect.h"
#include "core/plugin/names.h"
#include "core/spec/cluster_spec.h"

namespace muster {
namespace {

using Inspect = std::function<Result<FoundPlugin>(const std::string& file, const std::string& name,
                                                  const std::string& pin)>;

// One line of the story: a place, and what was seen there.
struct Seen {
  const SearchPlace* place;
  std::string text;
};

std::string reason_of(int number) { return std::generic_category().message(number); }

// Why there is no such file in a directory.
std::string why_absent(const std::string& directory, int number) {
  if (number != ENOENT && number != ENOTDIR)
    return fmt::format("cannot be looked into: {}", reason_of(number));
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) {
    return errno == ENOENT ? "does not exist"
                           : fmt::format("cannot be looked into: {}", reason_of(errno));
  }
  return S_ISDIR(status.st_mode) ? "no such file" : "not a directory";
}

// Names of the backends that files in a directory are named after, in natural order.
std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* stream = ::opendir(directory.c_str());
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view file = entry->d_name;
    if (file.size() <= kFilePrefix.size() + kFileSuffix.size() || !file.starts_with(kFilePrefix) ||
        !file.ends_with(kFileSuffix))
      continue;
    names.emplace_back(
        file.substr(kFilePrefix.size(), file.size() - kFilePrefix.size() - kFileSuffix.size()));
  }
  ::closedir(stream);
  std::sort(names.begin(), names.end(),
            [](const std::string& a, const std::string& b) { return natural_compare(a, b) < 0; });
  return names;
}

// Every backend name that some place has a file for.
std::vector<std::string> present_names(const PluginSearch& search) {
  std::vector<std::string> all;
  for (const SearchPlace& place : search.places) {
    if (!place.note.empty()) continue;
    for (std::string& name : names_in(place.directory)) {
      if (!is_backend_name(name) || std::find(all.begin(), all.end(), name) != all.end()) continue;
      if (is_service_library(place.directory + "/" + plugin_file_name(name))) continue;
      all.push_back(std::move(name));
    }
  }
  return all;
}

std::string pin_of(const PluginSearch& search, const std::string& name) {
  const auto pin = search.sha256.find(name);
  return pin == search.sha256.end() ? std::string() : pin->second;
}

// The cause, the places, what to do.
Error tell(Error cause, const std::string& what, const std::vector<Seen>& story,
           const std::string& advice) {
  size_t width = 0;
  for (const Seen& seen : story) width = std::max(width, seen.place->origin.size());
  std::string text = fmt::format("cannot find {}: {}\n  looked in, in order:", what, cause.message);
  if (cause.code != Code::kNotFound)
    text = fmt::format("cannot use {}: {}\n  looked in, in order:", what, cause.message);
  for (const Seen& seen : story) {
    const std::string& directory = seen.place->directory;
    text += fmt::format("\n    {:<{}}  {}{}", seen.place->origin, width,
                        directory.empty() ? "" : "'" + directory + "': ", seen.text);
  }
  if (!advice.empty()) text += fmt::format("\n  try: {}", advice);
  cause.message = std::move(text);
  return cause;
}

// Walks the places; the first that has the file decides, whatever is wrong with it: going on to the next would let a later place answer
// for a plugin that somebody tampered with.
Result<FoundPlugin> walk(const PluginSearch& search, const std::string& name,
                         const std::string& what, const Inspect& inspect,
                         const std::function<std::string()>& advice) {
  const std::string file_name = plugin_file_name(name);
  std::vector<Seen> story;
  std::optional<Result<FoundPlugin>> decided;
  std::string chosen;  // as it was found, before links were followed
  struct stat chosen_status {};
  std::vector<std::string> shadowed;
  for (const SearchPlace& place : search.places) {
    if (!place.note.empty()) {
      story.push_back({&place, place.note});
      continue;
    }
    const std::string file = (place.directory == "/" ? "" : place.directory) + "/" + file_name;
    struct stat status {};
    if (::lstat(file.c_str(), &status) != 0) {
      story.push_back({&place, why_absent(place.directory, errno)});
      continue;
    }
    const bool leads_somewhere = ::stat(file.c_str(), &status) == 0;
    if (!decided) {
      decided.emplace(inspect(file, name, pin_of(search, name)));
      if (decided->ok()) decided->value().origin = place.origin;
      chosen = file;
      chosen_status = status;
      story.push_back({&place, fmt::format("has '{}', which decides", file_name)});
    } else if (leads_somewhere && status.st_dev == chosen_status.st_dev &&
               status.st_ino == chosen_status.st_ino) {
      story.push_back({&place, "the same file"});
    } else {
      shadowed.push_back(file);
      story.push_back({&place, fmt::format("has '{}' too, shadowed by '{}'", file_name, chosen)});
    }
  }
  if (!decided) {
    Error none{Code::kNotFound, fmt::format("no place has '{}'", file_name), {}};
    return tell(std::move(none), what, story, advice()).with("plugin", name);
  }
  if (!decided->ok()) {
    Error error = std::move(*decided).error();
    const std::string hint = error.detail("hint");
    return tell(std::move(error), what, story, hint).with("plugin", name);
  }
  FoundPlugin found = std::move(*decided).value();
  found.shadowed = std::move(shadowed);
  return found;
}

}  // namespace

Result<FoundPlugin> find_plugin(const PluginSearch& search, const std::string& name) {
  const auto meant = [&]() -> std::string {
    const std::string near = nearest(name, present_names(search));
    return near.empty() ? "" : fmt::format("did you mean '{}'? ", near);
  };
  if (!is_backend_name(name)) {
    return Error{
        Code::kInvalidArgument,
        fmt::format(
            "'{}' is not the name of a backend: {}\n  try: {}`muster plugins list` shows the names",
            name, kBackendNameRule, meant()),
        {{"plugin", name}}};
  }
  return walk(search, name, fmt::format("plugin '{}'", name), &inspect_file, [&] {
    return meant() +
           "`muster plugins list` shows what is there; name the directory of another plugin with "
           "--plugin-dir, MUSTER_PLUGIN_PATH or, in the config, plugins.search";
  });
}

Result<std::string> find_service_library(const PluginSearch& search, const std::string& name) {
  Result<FoundPlugin> found =
      walk(search, name, fmt::format("muster's own library '{}'", plugin_file_name(name)),
           &inspect_service, [] { return "install muster again: it comes with it"; });
  if (!found) return std::move(found).error();
  return std::move(found->path);
}

std::vector<ListedPlugin> list_plugins(const PluginSearch& search) {
  std::vector<ListedPlugin> all;
  std::map<std::string, std::string> first;  // backend to the file that wins
  std::set<std::pair<uint64_t, uint64_t>>
      directories;  // one directory may be reached by two places
  for (const SearchPlace& place : search.places) {
    if (!place.note.empty()) continue;
    struct stat status {};
    if (::stat(place.directory.c_str(), &status) != 0 ||
        !directories.insert({status.st_dev, status.st_ino}).second)
      continue;
    for (const std::string& name : names_in(place.directory)) {
      ListedPlugin listed;
      listed.path = (place.directory == "/" ? "" : place.directory) + "/" + plugin_file_name(name);
      listed.origin = place.origin;
      listed.name = name;
      if (is_service_library(listed.path)) continue;
      if (!is_backend_name(name)) {
        listed.reason =
            fmt::format("'{}' is not the name of a backend: {}", name, kBackendNameRule);
        all.push_back(std::move(listed));
        continue;
      }
      const auto [winner, is_first] = first.emplace(name, listed.path);
      Result<FoundPlugin> found =
          inspect_file(listed.path, name, is_first ? pin_of(search, name) : std::string());
      if (found) {
        listed.descriptor = std::move(found->descriptor);
        listed.usable = is_first;
      }
      if (!is_first) {
        listed.reason = fmt::format("shadowed by '{}'", winner->second);
      } else if (!found) {
        listed.reason = found.error().message;
      }
      all.push_back(std::move(listed));
    }
  }
  return all;
}

}  // namespace muster
