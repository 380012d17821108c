#include "core/plugin/finder.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <set>

#include "core/config/backend_names.h"
#include "core/config/config.h"
#include "core/plugin/inspect.h"
#include "core/spec/cluster_spec.h"

namespace muster {
namespace {

using Inspect = std::function<Result<FoundPlugin>(const std::string& file, const std::string& name,
                                                  const std::string& pin)>;
// A file that a place may have, and what is looked at in it.
struct Candidate {
  std::string file_name;
  Inspect inspect;
};

// One line of the story: a place, and what was seen there.
struct Seen {
  const SearchPlace* place;
  std::string text;
};

// Why there is no such file in a directory.
std::string why_absent(const std::string& directory, int number) {
  if (number != ENOENT && number != ENOTDIR)
    return fmt::format("cannot be looked into: {}", system_text(number));
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) {
    return errno == ENOENT ? "does not exist"
                           : fmt::format("cannot be looked into: {}", system_text(errno));
  }
  return S_ISDIR(status.st_mode) ? "no such file" : "not a directory";
}

// The backend that a file is named after; `program` where it is an executable.
struct Named {
  std::string name;
  bool program = false;
  std::string file_name() const {
    return program ? program_file_name(name) : plugin_file_name(name);
  }
};

// Those of a directory, in natural order of the names; of one name the shared object is first.
std::vector<Named> names_in(const std::string& directory) {
  std::vector<Named> names;
  DIR* stream = ::opendir(directory.c_str());
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view file = entry->d_name;
    if (file.size() > kProgramPrefix.size() && file.starts_with(kProgramPrefix))
      names.push_back({std::string(file.substr(kProgramPrefix.size())), true});
    if (file.size() <= kFilePrefix.size() + kFileSuffix.size() || !file.starts_with(kFilePrefix) ||
        !file.ends_with(kFileSuffix))
      continue;
    names.push_back({std::string(file.substr(kFilePrefix.size(), file.size() - kFilePrefix.size() -
                                                                     kFileSuffix.size())),
                     false});
  }
  ::closedir(stream);
  std::sort(names.begin(), names.end(), [](const Named& a, const Named& b) {
    const int order = natural_compare(a.name, b.name);
    return order != 0 ? order < 0 : !a.program && b.program;
  });
  return names;
}

// Every backend name that some place has a file for.
std::vector<std::string> present_names(const PluginSearch& search) {
  std::vector<std::string> all;
  for (const SearchPlace& place : search.places) {
    if (!place.note.empty()) continue;
    for (Named& named : names_in(place.directory)) {
      std::string& name = named.name;
      if (!is_backend_name(name) || std::find(all.begin(), all.end(), name) != all.end()) continue;
      if (!named.program && is_service_library(place.directory + "/" + named.file_name())) continue;
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
                         const std::string& what, const std::vector<Candidate>& candidates,
                         const std::function<std::string()>& advice) {
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
    std::string absent;  // why, when none of the files is there
    bool present = false;
    for (const Candidate& candidate : candidates) {
      const std::string& file_name = candidate.file_name;
      const std::string file = (place.directory == "/" ? "" : place.directory) + "/" + file_name;
      struct stat status {};
      if (::lstat(file.c_str(), &status) != 0) {
        if (absent.empty()) absent = why_absent(place.directory, errno);
        continue;
      }
      present = true;
      const bool leads_somewhere = ::stat(file.c_str(), &status) == 0;
      if (!decided) {
        decided.emplace(candidate.inspect(file, name, pin_of(search, name)));
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
    if (!present) story.push_back({&place, absent});
  }
  if (!decided) {
    Error none{Code::kNotFound, fmt::format("no place has '{}'", candidates[0].file_name), {}};
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
  std::vector<Candidate> candidates = {{plugin_file_name(name), &inspect_file}};
  candidates.push_back(
      {program_file_name(name),
       [&search](const std::string& file, const std::string& backend, const std::string& pin) {
         return inspect_program(search, file, backend, pin, {});
       }});
  return walk(search, name, fmt::format("plugin '{}'", name), candidates, [&] {
    return meant() +
           "`muster plugins list` shows what is there; name the directory of another plugin with "
           "--plugin-dir, MUSTER_PLUGIN_PATH or, in the config, plugins.search";
  });
}

Result<std::string> find_service_library(const PluginSearch& search, const std::string& name) {
  Result<FoundPlugin> found =
      walk(search, name, fmt::format("muster's own library '{}'", plugin_file_name(name)),
           {{plugin_file_name(name), &inspect_service}},
           [] { return "install muster again: it comes with it"; });
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
    for (const Named& named : names_in(place.directory)) {
      const std::string& name = named.name;
      ListedPlugin listed;
      listed.path = (place.directory == "/" ? "" : place.directory) + "/" + named.file_name();
      listed.origin = place.origin;
      listed.name = name;
      if (!named.program && is_service_library(listed.path)) continue;
      if (!is_backend_name(name)) {
        listed.reason =
            fmt::format("'{}' is not the name of a backend: {}", name, kBackendNameRule);
        all.push_back(std::move(listed));
        continue;
      }
      const auto [winner, is_first] = first.emplace(name, listed.path);
      const std::string pin = is_first ? pin_of(search, name) : std::string();
      // One that is shadowed is not run to be described.
      if (named.program && !is_first) {
        listed.reason = fmt::format("shadowed by '{}'", winner->second);
        all.push_back(std::move(listed));
        continue;
      }
      Result<FoundPlugin> found = named.program
                                      ? inspect_program(search, listed.path, name, pin, {})
                                      : inspect_file(listed.path, name, pin);
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
