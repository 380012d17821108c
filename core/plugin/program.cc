// Executables that speak the frames of sdk/frames: all that is checked of one before it may be run, and what it then says of itself.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/config/backend_names.h"
#include "core/plugin/file.h"
#include "core/plugin/inspect.h"

namespace muster {

Result<FoundPlugin> inspect_program(const PluginSearch& search, const std::string& file,
                                    const std::string& name, const std::string& pin,
                                    const std::vector<std::string>& arguments) {
  Result<FoundPlugin> opened = open_program(file, name, pin);
  if (!opened) return opened;
  FoundPlugin found = std::move(*opened);
  if (::access(found.path.c_str(), X_OK) != 0) {
    return system_error_about("run", found.path, errno)
        .with("hint", fmt::format("chmod +x '{}'", found.path));
  }
  if (!search.describe) {
    return Error{Code::kUnimplemented,
                 fmt::format("'{}' is an executable, which is not run here", found.path),
                 {}};
  }
  found.command = {found.path};
  found.command.insert(found.command.end(), arguments.begin(), arguments.end());
  found.descriptor.name =
      name.empty() ? std::filesystem::path(found.path).filename().string() : name;
  const Result<std::string> said = search.describe(found);
  if (!said) return said.error();
  Result<Descriptor> descriptor = parse_descriptor(*said);
  if (!descriptor) {
    Error error = std::move(descriptor).error();
    error.message = fmt::format("'{}': {} (MP-2)", found.path, error.message);
    return std::move(error).with("duty", "MP-2").with("hint", "mend the descriptor in its Hello");
  }
  found.descriptor = std::move(*descriptor);
  if (!name.empty() && found.descriptor.name != name) {
    return Error{Code::kInvalidArgument,
                 fmt::format("'{}' is backend '{}' by its descriptor, and is to be '{}' (MP-2)",
                             found.path, found.descriptor.name, name),
                 {{"duty", "MP-2"},
                  {"hint", fmt::format("name it '{}', or its file '{}'", found.descriptor.name,
                                       program_file_name(found.descriptor.name))}}};
  }
  return found;
}

Result<FoundPlugin> find_program(const PluginSearch& search, const std::string& name,
                                 const std::vector<std::string>& command) {
  const auto pin = search.sha256.find(name);
  auto found =
      inspect_program(search, command.at(0), name, pin == search.sha256.end() ? "" : pin->second,
                      {command.begin() + 1, command.end()});
  if (found) {
    found->origin = "command";
    return found;
  }
  Error error = std::move(found).error();
  error.message =
      fmt::format("cannot use the program '{}'{}: {}", command[0],
                  name.empty() ? "" : fmt::format(" as backend '{}'", name), error.message);
  return std::move(error).with("plugin", name);
}

}  // namespace muster
