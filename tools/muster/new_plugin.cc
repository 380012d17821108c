// muster plugins new: a folder with a whole backend in it, to be changed.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/file/replace.h"
#include "tools/muster/options.h"
#include "tools/muster/templates.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

namespace fs = std::filesystem;

// The word that stands for the backend's name in texts and paths of the templates.
constexpr std::string_view kName = "roster";

int refuse(const std::string& why) {
  say(why);
  return kExitUsage;
}

bool is_backend_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= 64 && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

std::string named(std::string_view text, std::string_view name) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find(kName, at), text.size());
    out += text.substr(at, next - at);
    if (next < text.size()) out += name;
    at = next + kName.size();
  }
  return out;
}

// False with a message.
bool write(const fs::path& path, const TemplateFile& file, const std::string& name) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) {
    say(fmt::format("'{}' cannot be made: {}", path.parent_path().string(), error.message()));
    return false;
  }
  const auto failure = muster::replace_file(
      path.string(), file.verbatim ? std::string(file.text) : named(file.text, name),
      file.executable ? muster::FileAccess::kUmaskAndToRun : muster::FileAccess::kUmask);
  if (!failure) return true;
  say(failure->text);
  say_hint(failure->hint);
  return false;
}

}  // namespace

std::vector<std::string_view> template_languages() {
  std::vector<std::string_view> languages;
  for (const TemplateFile& file : template_files())
    if (languages.empty() || languages.back() != file.language) languages.push_back(file.language);
  return languages;
}

int plugins_new(const Options& options) {
  if (!is_backend_name(options.name))
    return refuse(fmt::format(
        "'{}' cannot be the name of a backend: that is lower-case letters, digits and '_', "
        "begins with a letter, and has at most 64 characters",
        options.name));
  const fs::path folder = options.directory.empty() ? options.name : options.directory;
  std::error_code error;
  if (fs::exists(folder, error) &&
      !(fs::is_directory(folder, error) && fs::is_empty(folder, error)))
    return refuse(fmt::format("'{}' is there already and is not empty; say --dir for another place",
                              folder.string()));
  for (const TemplateFile& file : template_files()) {
    if (file.language != options.language) continue;
    const std::string path =
        file.verbatim ? std::string(file.path) : named(file.path, options.name);
    if (!write(folder / path, file, options.name)) return kExitNotWritten;
  }
  if (options.quiet) return 0;
  return print_page(fmt::format("{0}: the backend '{1}'; {0}/README.md says how it is built\n",
                                folder.string(), options.name));
}

}  // namespace muster_command
