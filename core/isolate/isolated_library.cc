#include "core/isolate/isolated_library.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/cancel.h"
#include "core/isolate/conversation.h"
#include "core/isolate/identity.h"
#include "core/isolate/program.h"
#include "core/plugin/inspect.h"

namespace muster {
namespace {

// What any program needs to run; all else is asked of the core, which records it.
constexpr std::string_view kVariables[] = {"PATH", "HOME",   "USER",           "LANG",
                                           "TZ",   "TMPDIR", "LD_LIBRARY_PATH"};
constexpr std::string_view kLocale = "LC_";

std::vector<std::string> environment_for(const Descriptor& descriptor) {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const auto is = [&](std::string_view known) { return name == known; };
    if (name.starts_with(kLocale) ||
        std::any_of(std::begin(kVariables), std::end(kVariables), is) ||
        std::any_of(descriptor.environment.begin(), descriptor.environment.end(), is))
      out.emplace_back(text);
  }
  return out;
}

}  // namespace

ProcessRequest isolated_process(const FoundPlugin& found, const IsolatedSetting& setting) {
  ProcessRequest request;
  request.helper = setting.helper;
  request.arguments = {fmt::format("{}", ::getpid()), fmt::format("{}", setting.memory),
                       fmt::format("{}", setting.idle_period_ns)};
  if (found.command.empty()) {
    request.arguments.insert(request.arguments.end(),
                             {"plugin", found.path, isolate::identity_of(found)});
  } else {
    request.arguments.emplace_back("program");
    request.arguments.insert(request.arguments.end(), found.command.begin(), found.command.end());
  }
  request.environment = environment_for(found.descriptor);
  return request;
}

namespace {

class IsolatedLibrary;

// One resolver: what it was made of, and the process that is it for now.
class IsolatedResolver {
 public:
  IsolatedResolver(const IsolatedLibrary& library, std::string path, const muster_host_v1* host,
                   std::string options)
      : library_(library), path_(std::move(path)), host_(host), options_(std::move(options)) {}

  // Starts the process and creates its resolver.
  int32_t start(int64_t limit_ns, muster_error* error);
  int32_t run(const muster_call_v1* call, frames::v1::Run run, muster_error* error);
  void interrupt() const {
    const std::lock_guard lock(mutex_);
    if (conversation_ != nullptr) conversation_->wake();
  }
  bool offers(std::string_view extension) const {
    return std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end();
  }

 private:
  const IsolatedLibrary& library_;
  std::string path_;
  const muster_host_v1* host_;
  std::string options_;
  mutable std::mutex mutex_;  // of the pointer: an interrupt comes beside a call
  std::unique_ptr<Conversation> conversation_;
  std::vector<std::string> extensions_;
};

IsolatedResolver& of(muster_resolver* resolver) {
  return *reinterpret_cast<IsolatedResolver*>(resolver);
}

// What the backend answered, or why it did not.
int32_t give(const Result<frames::v1::Answer>& answer, muster_error* error) {
  Error said;
  int32_t code = MUSTER_OK;
  if (answer) {
    code = answer->code();
    if (code == MUSTER_OK && answer->message().empty() && answer->details().empty())
      return MUSTER_OK;
    // Also of a good answer: that an error was set then is for the core to judge (MP-10).
    const bool known = code > MUSTER_OK && code <= MUSTER_E_UNAUTHENTICATED;
    said = {known ? static_cast<Code>(code) : Code::kUnknown, answer->message(), {}};
    for (const frames::v1::Detail& detail : answer->details())
      said.details.push_back({detail.key(), detail.value()});
  } else {
    code = static_cast<int32_t>(answer.error().code);
    said = answer.error();
  }
  if (error != nullptr) error->error = std::move(said);
  return code;
}

class IsolatedLibrary : public PluginLibrary {
 public:
  IsolatedLibrary(FoundPlugin found, IsolatedSetting setting)
      : PluginLibrary(std::move(found)), setting_(std::move(setting)) {
    table_.struct_size = sizeof table_;
    table_.abi_major = MUSTER_PLUGIN_ABI_MAJOR;
    table_.abi_minor = MUSTER_PLUGIN_ABI_MINOR;
    table_.name = this->found().descriptor.name.c_str();
    table_.version = this->found().descriptor.version.c_str();
    table_.destroy = [](muster_resolver* resolver) {
      delete reinterpret_cast<IsolatedResolver*>(resolver);
    };
    table_.resolve = [](muster_resolver* resolver, const muster_call_v1* call,
                        muster_error* error) {
      frames::v1::Run run;
      run.set_function(frames::v1::RESOLVE);
      return of(resolver).run(call, std::move(run), error);
    };
    table_.interrupt = [](muster_resolver* resolver) { of(resolver).interrupt(); };
    can_interrupt_ = true;
    watch_ = {sizeof watch_,
              [](muster_resolver* resolver, const muster_call_v1* call, muster_error* error) {
                frames::v1::Run run;
                run.set_function(frames::v1::WATCH);
                return of(resolver).run(call, std::move(run), error);
              }};
    permissions_ = {sizeof permissions_,
                    [](muster_resolver* resolver, const muster_permissions_request_v1* request,
                       const muster_call_v1* call, muster_error* error) {
                      frames::v1::Run run;
                      run.set_function(frames::v1::PERMISSIONS);
                      run.set_principal(request->principal, request->principal_size);
                      run.set_for_watch((request->flags & MUSTER_PERMISSIONS_WATCH) != 0);
                      return of(resolver).run(call, std::move(run), error);
                    }};
    plan_ = {sizeof plan_, [](muster_resolver* resolver, const muster_plan_request_v1* request,
                              const muster_call_v1* call, muster_error* error) {
               frames::v1::Run run;
               run.set_function(frames::v1::PLAN);
               run.set_members(request->members);
               return of(resolver).run(call, std::move(run), error);
             }};
  }

  int32_t create(const std::string& path, const muster_host_v1* host, const char* options,
                 uint64_t options_size, muster_resolver** resolver,
                 muster_error* error) const override {
    auto made =
        std::make_unique<IsolatedResolver>(*this, path, host, std::string(options, options_size));
    const int32_t code = made->start(setting_.start_ns, error);
    if (code == MUSTER_OK) *resolver = reinterpret_cast<muster_resolver*>(made.release());
    return code;
  }

  bool offers(const muster_resolver* resolver, const char* extension) const override {
    return reinterpret_cast<const IsolatedResolver*>(resolver)->offers(extension);
  }

  const IsolatedSetting& setting() const { return setting_; }

  ProcessRequest process_request() const { return isolated_process(found(), setting_); }

 private:
  IsolatedSetting setting_;
};

int32_t IsolatedResolver::start(int64_t limit_ns, muster_error* error) {
  if (const Status unchanged = check_unchanged(library_.found()); !unchanged)
    return give(unchanged.error(), error);
  auto conversation = Conversation::start(
      library_.process_request(), {library_.name(), path_, host_, library_.setting().memory,
                                   library_.setting().trace, library_.setting().secrets, limit_ns});
  if (!conversation) return give(std::move(conversation).error(), error);
  const Result<frames::v1::Answer> answer = (*conversation)->create(options_);
  const int32_t code = give(answer, error);
  if (code != MUSTER_OK) return code;
  extensions_.assign(answer->extensions().begin(), answer->extensions().end());
  const std::lock_guard lock(mutex_);
  conversation_ = std::move(*conversation);
  return code;
}

int32_t IsolatedResolver::run(const muster_call_v1* call, frames::v1::Run run,
                              muster_error* error) {
  if (conversation_ == nullptr) {
    const int64_t left = std::max<int64_t>(call->deadline_ns - monotonic_ns(), 0);
    if (const int32_t code = start(std::min(library_.setting().start_ns, left), error);
        code != MUSTER_OK)
      return code;
  }
  const int32_t code = give(conversation_->run(call, std::move(run)), error);
  if (conversation_->failed()) {
    // The next call begins anew.
    const std::lock_guard lock(mutex_);
    conversation_.reset();
  }
  return code;
}

}  // namespace

Result<std::string> describe_program(const FoundPlugin& program, const std::string& helper,
                                     int64_t start_ns) {
  const std::string& name = program.descriptor.name;
  const Host host(name, "describe", "{}", nullptr, nullptr, nullptr);
  const IsolatedSetting setting{helper};
  auto conversation = Conversation::start(
      isolated_process(program, setting),
      {name, "describe", host.table(), setting.memory, nullptr, nullptr, start_ns});
  if (!conversation) return std::move(conversation).error();
  return (*conversation)->hello().descriptor();
}

std::shared_ptr<const PluginLibrary> isolate_plugin(FoundPlugin found, IsolatedSetting setting) {
  return std::make_shared<IsolatedLibrary>(std::move(found), std::move(setting));
}

}  // namespace muster
