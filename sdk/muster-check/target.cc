#include "sdk/muster-check/target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "core/config/backend_names.h"
#include "core/isolate/program.h"
#include "core/path.h"
#include "core/plugin/inspect.h"
#include "core/service/file.h"

namespace muster::check {
namespace {

constexpr uint64_t kLargestOptions = 16u << 20;
constexpr uint64_t kLargestRecording = uint64_t{1} << 30;

// The muster-isolate of the same installation or build tree as this program; trusted as a plugin is.
Result<std::string> helper_of_checker() {
  std::error_code error;
  const std::filesystem::path beside =
      std::filesystem::canonical("/proc/self/exe", error).parent_path();
  const std::filesystem::path tree = beside / "../../core";
  const bool built = std::filesystem::exists(tree / "plugin/muster-build-tree", error);
  const std::filesystem::path file =
      built ? tree / "isolate/child/muster-isolate" : beside / MUSTER_ISOLATE_FROM_HERE;
  Result<std::string> trusted = follow_trusted(tidy_path(file));
  if (trusted) return trusted;
  Error failure = std::move(trusted).error();
  failure.message =
      fmt::format("no backend can be run in a process of its own: {}", failure.message);
  failure.code = Code::kFailedPrecondition;
  return failure;
}

bool is_program(const std::string& file) {
  std::error_code error;
  return !file.ends_with(kFileSuffix) && std::filesystem::is_regular_file(file, error) &&
         ::access(file.c_str(), X_OK) == 0;
}

Result<FoundPlugin> inspect_executable(const std::string& file, const std::string& helper) {
  PluginSearch search;
  search.describe = [&](const FoundPlugin& program) { return describe_program(program, helper); };
  // Another name is somebody's `command`, and says nothing of the backend's.
  const std::string name = std::filesystem::path(file).filename().string();
  return inspect_program(
      search, file,
      name.starts_with(kProgramPrefix) ? name.substr(kProgramPrefix.size()) : std::string(), "",
      {});
}

}  // namespace

Result<Target> read_target(const std::string& file, bool isolated) {
  Target target;
  target.file = rooted_path(file);
  Result<FoundPlugin> found = inspect_plugin(target.file);
  target.program = !found && is_program(target.file);
  if (isolated || target.program) {
    Result<std::string> helper = helper_of_checker();
    if (!helper) return std::move(helper).error();
    target.helper = std::move(*helper);
  }
  if (target.program) found = inspect_executable(target.file, target.helper);
  if (found) {
    target.file = found->path;
    target.found = std::move(*found);
  } else {
    const Code code = found.error().code;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(target.file, ignored) || code == Code::kPermissionDenied)
      return std::move(found).error();
    target.unusable = std::move(found).error();
  }
  return target;
}

Result<ResolverConfig> checked_options(const Descriptor& descriptor, const std::string& json) {
  const auto nothing = [](const std::string&) -> std::optional<std::string> {
    return std::nullopt;
  };
  const auto describe = [&](const PluginUse&, const Config&) -> Result<Descriptor> {
    return descriptor;
  };
  Result<Config> config =
      parse_config(fmt::format("cluster: {{backend: {}, options: {}}}", descriptor.name, json),
                   "--options", nothing, describe);
  if (!config) return std::move(config).error();
  return std::move(config->cluster);
}

Status set_options(Target& target, const std::string& options) {
  if (!target.found) return {};
  std::string json = options;
  if (options.starts_with('@')) {
    Result<std::string> text = read_regular_file(options.substr(1), kLargestOptions);
    if (!text) return std::move(text).error();
    json = std::move(*text);
  }
  Result<ResolverConfig> config = checked_options(target.found->descriptor, json);
  if (!config) return std::move(config).error();
  target.config = std::move(*config);
  return {};
}

Status set_recording(Target& target, const std::string& file, const std::string& path) {
  Result<std::string> text = read_regular_file(file, kLargestRecording);
  if (!text) return std::move(text).error();
  Result<RecordedResolvers> all = read_recording(*text, file);
  if (!all) return std::move(all).error();
  std::string others;
  RecordedResolver* found = nullptr;
  int count = 0;
  for (auto& [name, resolver] : *all) {
    if (name.empty() && path.empty()) continue;  // the core itself
    if (!path.empty() && name != path) {
      others += (others.empty() ? "'" : ", '") + name + "'";
      continue;
    }
    found = &resolver;
    others += (others.empty() ? "'" : ", '") + name + "'";
    ++count;
  }
  if (count != 1) {
    return Error{
        Code::kInvalidArgument,
        path.empty()
            ? fmt::format("{} has {} resolvers ({}): say which with --path", file, count, others)
            : fmt::format("{} has no resolver '{}'; it has {}", file, path, others),
        {}};
  }
  target.recorded = std::move(*found);
  // Asked more often than recorded, time stands still; never asked, it is the core's.
  if (const auto core = all->find(""); target.recorded->times.empty() && core != all->end())
    target.recorded->times = core->second.times;
  return {};
}

}  // namespace muster::check
