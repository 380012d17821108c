#include "core/plugin/library.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <boost/dll/shared_library.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/plugin/backend.h"
#include "core/plugin/guard.h"
#include "core/plugin/inspect.h"

namespace muster {
namespace {

Error refuse(const FoundPlugin& found, const char* duty, std::string_view what) {
  return Error{Code::kInvalidArgument,
               fmt::format("plugin '{}' ({}) cannot be used: {} ({})", found.descriptor.name,
                           found.path, what, duty),
               {{"plugin", found.descriptor.name}, {"duty", duty}}};
}

// Secure programs may not be told to by their caller.
bool unloads() {
  const char* value = ::secure_getenv("MUSTER_UNLOAD_PLUGINS");
  return value != nullptr && std::string_view(value) == "1";
}

// The libraries of this process by path. Leaked on purpose, as they are.
struct Loaded {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<PluginLibrary>> by_path;
  std::vector<std::shared_ptr<PluginLibrary>> kept;
};
Loaded& loaded() {
  static auto* const all = new Loaded;
  return *all;
}

bool same_file(const FoundPlugin& a, const FoundPlugin& b) {
  return a.device == b.device && a.inode == b.inode && a.size == b.size &&
         a.modified_ns == b.modified_ns;
}

// Opens the library with the loader's own words when it fails.
Result<std::unique_ptr<boost::dll::shared_library>> open_library(const FoundPlugin& found) {
  auto library = std::make_unique<boost::dll::shared_library>();
  try {
    // At once and to itself. Boost.DLL's defaults would bind lazily; only its throwing overload keeps dlerror's text.
    library->load(found.path, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  } catch (const std::exception& exception) {
    std::string_view text = exception.what();
    constexpr std::string_view kMark = "(dlerror system message: ";
    if (const size_t start = text.find(kMark); start != std::string_view::npos) {
      text.remove_prefix(start + kMark.size());
      if (const size_t end = text.rfind("):"); end != std::string_view::npos)
        text = text.substr(0, end);
      if (text.ends_with(')')) text.remove_suffix(1);
    }
    return Error{Code::kInvalidArgument,
                 fmt::format("plugin '{}' ({}) cannot be loaded: the loader says: {}",
                             found.descriptor.name, found.path, text),
                 {{"plugin", found.descriptor.name},
                  {"hint", "see what it needs: readelf -d and ldd -r of the file"}}};
  }
  return library;
}

void ignore_interrupt(muster_resolver*) {}
const void* no_extension(const char*) { return nullptr; }

// A text of the plugin's own table, as far as it may be believed.
std::string_view table_text(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text, ::strnlen(text, 4096));
}

}  // namespace

PluginLibrary::PluginLibrary(FoundPlugin found, std::unique_ptr<boost::dll::shared_library> library)
    : found_(std::move(found)), library_(std::move(library)) {}

PluginLibrary::PluginLibrary(FoundPlugin found) : found_(std::move(found)) {}

PluginLibrary::~PluginLibrary() {
  if (!unloads()) static_cast<void>(library_.release());
}

int32_t PluginLibrary::create(const std::string& /*path*/, const muster_host_v1* host,
                              const char* options, uint64_t options_size,
                              muster_resolver** resolver, muster_error* error) const {
  return table_.create(host, options, options_size, resolver, error);
}

bool PluginLibrary::offers(const muster_resolver* /*resolver*/, const char* /*extension*/) const {
  return true;
}

Status PluginLibrary::enter(const Log& log) {
  // The entry's lines are kept and passed on: it may have kept its host, which must then not write into a log that is gone.
  struct Lines {
    std::mutex mutex;
    bool open = true;
    std::vector<std::pair<int32_t, std::string>> all;
  };
  const auto lines = std::make_shared<Lines>();
  const auto entry_log =
      std::make_shared<const Log>(MUSTER_LOG_DEBUG, [lines](int32_t level, std::string_view text) {
        const std::lock_guard lock(lines->mutex);
        if (lines->open && lines->all.size() < 100)
          lines->all.emplace_back(level, std::string(text.substr(0, 4096)));
      });
  entry_host_ =
      std::make_unique<Host>(name(), "", "{}", entry_log, std::make_shared<Secrets>(), nullptr);

  decltype(&muster_plugin_entry_v1) entry = nullptr;
  try {
    entry = &library_->get<std::remove_pointer_t<decltype(entry)>>(MUSTER_PLUGIN_ENTRY_V1);
  } catch (const std::exception& exception) {
    return refuse(found_, "MP-1",
                  fmt::format("it has no '{}': {}", MUSTER_PLUGIN_ENTRY_V1, exception.what()));
  }
  const muster_plugin_v1* theirs = nullptr;
  const std::optional<std::string> thrown =
      catch_exception([&] { theirs = entry(entry_host_->table()); });

  std::string said;
  {
    const std::lock_guard lock(lines->mutex);
    lines->open = false;
    for (const auto& [level, text] : lines->all) {
      log.write(level, text, Secrets());
      if (level >= MUSTER_LOG_INFO) said = text;
    }
  }
  if (thrown) return refuse(found_, "MP-13", fmt::format("its entry failed: {}", *thrown));
  if (theirs == nullptr) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("plugin '{}' ({}) says that it cannot run in this host{}", name(),
                             found_.path, said.empty() ? " and logged no reason" : ": " + said),
                 {{"plugin", name()}}};
  }
  return take_table(theirs);
}

Status PluginLibrary::take_table(const muster_plugin_v1* theirs) {
  if (!copy_struct(theirs, table_)) {
    return refuse(
        found_, "MP-3",
        fmt::format("the struct_size of its table is {}; it must be sizeof(muster_plugin_v1)",
                    table_.struct_size));
  }
  constexpr uint64_t kRequired = offsetof(muster_plugin_v1, resolve) + sizeof table_.resolve;
  if (table_.struct_size < kRequired) {
    return refuse(found_, "MP-3",
                  fmt::format("its table has {} bytes; up to 'resolve' it must have {}",
                              table_.struct_size, kRequired));
  }
  const Descriptor& said = found_.descriptor;
  if (table_.abi_major != MUSTER_PLUGIN_ABI_MAJOR) {
    return refuse(found_, "MP-3",
                  fmt::format("its table says plugin ABI {}.{}; this muster takes {}.x",
                              table_.abi_major, table_.abi_minor, MUSTER_PLUGIN_ABI_MAJOR));
  }
  if (table_.create == nullptr || table_.destroy == nullptr || table_.resolve == nullptr) {
    return refuse(found_, "MP-3",
                  fmt::format("its table has no '{}'", table_.create == nullptr    ? "create"
                                                       : table_.destroy == nullptr ? "destroy"
                                                                                   : "resolve"));
  }
  if (table_text(table_.name) != said.name) {
    return refuse(found_, "MP-2",
                  fmt::format("its table says name '{}', its descriptor '{}'",
                              table_text(table_.name), said.name));
  }
  if (table_text(table_.version) != said.version) {
    return refuse(found_, "MP-2",
                  fmt::format("its table says version '{}', its descriptor '{}'",
                              table_text(table_.version), said.version));
  }
  // The table has the minor of the header that it was compiled with; what the plugin needs may be less, never more.
  if (table_.abi_minor < said.abi_minor) {
    return refuse(
        found_, "MP-2",
        fmt::format("its descriptor needs plugin ABI {}.{}, and its table is one of {}.{}",
                    said.abi_major, said.abi_minor, table_.abi_major, table_.abi_minor));
  }
  can_interrupt_ = table_.interrupt != nullptr;
  if (table_.interrupt == nullptr) table_.interrupt = ignore_interrupt;
  if (table_.get_extension == nullptr) table_.get_extension = no_extension;
  if (Status status = take_extension(MUSTER_WATCH_V1, watch_, &muster_watch_v1::watch); !status)
    return status;
  if (Status status =
          take_extension(MUSTER_PERMISSIONS_V1, permissions_, &muster_permissions_v1::permissions);
      !status)
    return status;
  return take_extension(MUSTER_PLAN_V1, plan_, &muster_plan_v1::plan);
}

template <typename Table, typename Function>
Status PluginLibrary::take_extension(const char* id, Table& table, Function Table::*function) {
  const void* extension = nullptr;
  const auto thrown = catch_exception([&] { extension = table_.get_extension(id); });
  if (thrown) return refuse(found_, "MP-13", fmt::format("get_extension failed: {}", *thrown));
  if (extension != nullptr &&
      (!copy_struct(static_cast<const Table*>(extension), table) || table.*function == nullptr))
    return refuse(found_, "MP-3", fmt::format("its extension {} has no function", id));
  return {};
}

Result<std::shared_ptr<const PluginLibrary>> load_plugin(const FoundPlugin& found, const Log& log) {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  if (const std::shared_ptr<PluginLibrary> known = all.by_path[found.path].lock()) {
    if (same_file(known->found(), found)) return std::shared_ptr<const PluginLibrary>(known);
    return Error{Code::kFailedPrecondition,
                 fmt::format("plugin '{}' ({}) was replaced since this process loaded version {} "
                             "of it, and a plugin is never unloaded (MC-6)",
                             found.descriptor.name, found.path, known->found().descriptor.version),
                 {{"plugin", found.descriptor.name}, {"hint", "start the launcher again"}}};
  }
  if (Status status = check_unchanged(found); !status)
    return std::move(status).error().with("plugin", found.descriptor.name);
  auto opened = open_library(found);
  if (!opened) return std::move(opened).error();
  auto library = std::make_shared<PluginLibrary>(found, std::move(*opened));
  // Once more: what was loaded is then the file that was checked.
  if (Status status = check_unchanged(found); !status)
    return std::move(status).error().with("plugin", found.descriptor.name);
  if (Status status = library->enter(log); !status) {
    // Its code stays in memory, so must the host that its entry may have kept.
    if (!unloads()) all.kept.push_back(std::move(library));
    return std::move(status).error();
  }
  all.by_path[found.path] = library;
  if (!unloads()) all.kept.push_back(library);
  return std::shared_ptr<const PluginLibrary>(std::move(library));
}

}  // namespace muster
