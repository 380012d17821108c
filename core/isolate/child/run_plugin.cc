#include "core/isolate/child/run_plugin.h"

#include <fmt/format.h>
#include <muster/plugin.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "core/isolate/child/link.h"
#include "core/isolate/child/remote_host.h"
#include "core/isolate/control.h"
#include "core/isolate/identity.h"
#include "core/plugin/backend.h"
#include "core/plugin/finder.h"
#include "core/plugin/guard.h"
#include "core/plugin/inspect.h"
#include "core/plugin/library.h"
#include "core/service/text.h"
#include "core/thread.h"

namespace muster::isolate {
namespace {

using frames::v1::Answer;
using frames::v1::Frame;

void put_error(const Error& error, int32_t code, Answer& answer) {
  answer.set_code(code);
  answer.set_message(clean_text(error.message, true));
  for (const Detail& detail : error.details) {
    frames::v1::Detail& added = *answer.add_details();
    added.set_key(clean_text(detail.key, false));
    added.set_value(clean_text(detail.value, true));
  }
}

// The plugin of this process: one resolver, one call at a time, and perhaps an interrupt beside it.
class Plugin {
 public:
  Plugin(Link& link, FoundPlugin found) : link_(link), found_(std::move(found)) {}
  ~Plugin() {
    if (resolver_ == nullptr) return;
    const auto thrown = catch_exception([&] { library_->table().destroy(resolver_); });
    if (!thrown) return;
    Frame frame;
    frame.mutable_log()->set_level(MUSTER_LOG_ERROR);
    frame.mutable_log()->set_text(
        clean_text(fmt::format("misbehaved: destroy failed: {} (MP-13)", *thrown), false));
    link_.send(frame);
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  void create(uint64_t id, const frames::v1::Create& create);
  void run(uint64_t id, const frames::v1::Run& run);
  // From the reading thread: an interrupt on a thread of its own, for nothing says that it returns.
  void interrupt();

 private:
  int32_t call(const frames::v1::Run& run, muster_error* error);
  void end_interrupts();

  Link& link_;
  FoundPlugin found_;
  std::unique_ptr<RemoteHost> remote_;
  std::shared_ptr<const PluginLibrary> library_;
  muster_resolver* resolver_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool running_ = false;
  int interrupting_ = 0;
};

void Plugin::create(uint64_t id, const frames::v1::Create& create) {
  Frame frame;
  frame.set_id(id);
  Answer& answer = *frame.mutable_answer();
  remote_ = std::make_unique<RemoteHost>(link_, found_.descriptor.name, create);
  const Log log(MUSTER_LOG_DEBUG, [this](int32_t level, std::string_view text) {
    remote_->host()->log(remote_->host(), level, text.data(), text.size());
  });
  Result<std::shared_ptr<const PluginLibrary>> library = load_plugin(found_, log);
  if (!library) {
    put_error(library.error(), static_cast<int32_t>(library.error().code), answer);
    link_.send(frame);
    return;
  }
  library_ = std::move(*library);
  muster_error error;
  int32_t code = MUSTER_E_INTERNAL;
  const auto thrown = catch_exception([&] {
    code = library_->table().create(remote_->host(), create.options().c_str(),
                                    create.options().size(), &resolver_, &error);
  });
  if (thrown) remote_->misbehaved("MP-13", "create failed: " + *thrown);
  if (!thrown && code == MUSTER_OK && resolver_ == nullptr)
    remote_->misbehaved("MP-22", "create returned OK and made no resolver");
  put_error(error.error, code, answer);
  if (library_->watch().watch != nullptr) answer.add_extensions(MUSTER_WATCH_V1);
  if (library_->permissions().permissions != nullptr) answer.add_extensions(MUSTER_PERMISSIONS_V1);
  if (library_->plan().plan != nullptr) answer.add_extensions(MUSTER_PLAN_V1);
  link_.send(frame);
}

int32_t Plugin::call(const frames::v1::Run& run, muster_error* error) {
  const muster_call_v1* table = remote_->begin_call(run);
  switch (run.function()) {
    case frames::v1::RESOLVE: return library_->table().resolve(resolver_, table, error);
    case frames::v1::WATCH:
      if (library_->watch().watch == nullptr) return MUSTER_E_UNIMPLEMENTED;
      return library_->watch().watch(resolver_, table, error);
    case frames::v1::PERMISSIONS: {
      if (library_->permissions().permissions == nullptr) return MUSTER_E_UNIMPLEMENTED;
      muster_permissions_request_v1 asked = {};
      asked.struct_size = sizeof asked;
      asked.flags = run.for_watch() ? MUSTER_PERMISSIONS_WATCH : 0;
      asked.principal = run.principal().c_str();
      asked.principal_size = run.principal().size();
      return library_->permissions().permissions(resolver_, &asked, table, error);
    }
    case frames::v1::PLAN: {
      if (library_->plan().plan == nullptr) return MUSTER_E_UNIMPLEMENTED;
      const muster_plan_request_v1 asked = {sizeof asked, run.members()};
      return library_->plan().plan(resolver_, &asked, table, error);
    }
    default: return MUSTER_E_UNIMPLEMENTED;
  }
}

const char* name_of(frames::v1::Function function) {
  switch (function) {
    case frames::v1::RESOLVE: return "resolve";
    case frames::v1::WATCH: return "watch";
    case frames::v1::PERMISSIONS: return "permissions";
    case frames::v1::PLAN: return "plan";
    default: return "a function of a newer core";
  }
}

void Plugin::run(uint64_t id, const frames::v1::Run& run) {
  if (resolver_ == nullptr) give_up("a Run came before a Create that was good");
  {
    const std::lock_guard lock(mutex_);
    running_ = true;
  }
  // A Cancel may have come before anybody could be interrupted.
  if (link_.cancelled()) interrupt();
  muster_error error;
  int32_t code = MUSTER_E_INTERNAL;
  const auto thrown = catch_exception([&] { code = call(run, &error); });
  end_interrupts();
  if (thrown)
    remote_->misbehaved("MP-13", fmt::format("{} failed: {}", name_of(run.function()), *thrown));
  Frame frame;
  frame.set_id(id);
  put_error(error.error, code, *frame.mutable_answer());
  link_.end_call();
  link_.send(frame);
}

void Plugin::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    if (!running_ || interrupting_ > 0) return;
    ++interrupting_;
  }
  const auto done = [this] {
    const std::lock_guard lock(mutex_);
    --interrupting_;
    changed_.notify_all();
  };
  Result<std::thread> started = start_thread("interrupt", [this, done] {
    const auto thrown = catch_exception([&] { library_->table().interrupt(resolver_); });
    if (thrown)
      remote_->host()->log(remote_->host(), MUSTER_LOG_ERROR,
                           fmt::format("misbehaved: interrupt failed: {} (MP-13)", *thrown).c_str(),
                           MUSTER_NUL_TERMINATED);
    done();
  });
  if (started) {
    started->detach();
  } else {
    done();  // then it has to see the deadline by itself
  }
}

// The next call must not be hit by an interrupt of this one.
void Plugin::end_interrupts() {
  std::unique_lock lock(mutex_);
  running_ = false;
  changed_.wait(lock, [&] { return interrupting_ == 0; });
}

// An exception that nothing catches, of whichever thread. Where memory ends it is nobody's fault, and the status says so.
[[noreturn]] void end_by_exception() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    give_up("out of memory", kOutOfMemory);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "muster-isolate: an exception that nothing catches: %s\n",
                 exception.what());
  } catch (...) {
    std::fprintf(stderr, "muster-isolate: an exception that nothing catches\n");
  }
  std::abort();
}

}  // namespace

int run_plugin(const std::string& file, const std::string& identity) {
  std::set_terminate(end_by_exception);
  Link link(kFrames);
  Result<FoundPlugin> found = inspect_file(file, "", "");
  if (!found) give_up(found.error().message);
  if (identity_of(*found) != identity)
    give_up(fmt::format("'{}' was replaced between being checked and being loaded", file));
  Plugin plugin(link, *found);
  Result<std::thread> reader =
      start_thread("frames", [&] { link.read([&] { plugin.interrupt(); }); });
  if (!reader) give_up(reader.error().message, kOutOfMemory);

  Frame hello;
  hello.mutable_hello()->set_major(kFramesMajor);
  hello.mutable_hello()->set_minor(kFramesMinor);
  hello.mutable_hello()->set_software("muster-isolate");
  hello.mutable_hello()->set_descriptor(found->descriptor.json);
  link.send(hello);
  while (const std::optional<Frame> work = link.next_work()) {
    if (work->has_create()) plugin.create(work->id(), work->create());
    if (work->has_run()) plugin.run(work->id(), work->run());
    if (work->has_hello() && work->hello().major() != kFramesMajor)
      give_up(fmt::format("the core speaks frames {}.{}, this program {}.{}", work->hello().major(),
                          work->hello().minor(), kFramesMajor, kFramesMinor));
  }
  reader->join();
  return 0;
}

}  // namespace muster::isolate
