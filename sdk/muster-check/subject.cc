#include "sdk/muster-check/subject.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/isolate/isolated_library.h"
#include "core/plugin/guard.h"
#include "core/service/host.h"

namespace muster::check {
std::unique_ptr<Subject> Subject::load(Trial& trial, World& world, const Core& core) {
  const Descriptor& descriptor = trial.target.found->descriptor;
  if (trial.isolated()) {
    std::unique_ptr<Subject> subject(new Subject);
    subject->name_ = descriptor.name;
    subject->core_ = core;
    subject->isolated_ = isolate_plugin(*trial.target.found, {trial.target.helper});
    subject->table_ = subject->isolated_->table();
    subject->watch_ = subject->isolated_->watch();
    subject->permissions_ = subject->isolated_->permissions();
    subject->plan_ = subject->isolated_->plan();
    return subject;
  }
  trial.report.step("MP-19", "loading it");
  void* library = ::dlopen(trial.target.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    trial.report.broke("MP-1", fmt::format("the loader says: {}", ::dlerror()));
    return nullptr;
  }
  const auto entry =
      reinterpret_cast<decltype(&muster_plugin_entry_v1)>(::dlsym(library, MUSTER_PLUGIN_ENTRY_V1));
  if (entry == nullptr) {
    trial.report.broke("MP-1", fmt::format("it has no '{}'", MUSTER_PLUGIN_ENTRY_V1));
    return nullptr;
  }
  std::unique_ptr<Subject> subject(new Subject);
  subject->name_ = descriptor.name;
  subject->core_ = core;
  subject->entry_host_ =
      std::make_unique<InstrumentedHost>(world, descriptor.name, ResolverConfig{}, core);
  trial.report.step("MP-19", "its entry");
  const muster_plugin_v1* table = nullptr;
  const auto thrown = catch_exception([&] { table = entry(subject->entry_host_->table()); });
  if (thrown) {
    trial.report.broke("MP-13", "its entry failed: " + *thrown);
    return nullptr;
  }
  if (table == nullptr) {
    trial.report.note("its entry says that it cannot run in this core");
    return nullptr;
  }
  if (!copy_struct(table, subject->table_) || subject->table_.create == nullptr ||
      subject->table_.destroy == nullptr || subject->table_.resolve == nullptr) {
    trial.report.broke("MP-3", "its table lacks create, destroy or resolve");
    return nullptr;
  }
  if (subject->table_.get_extension != nullptr) {
    trial.report.step("MP-12", "get_extension");
    const auto take = [&](const char* id, auto& ours) {
      using Table = std::remove_reference_t<decltype(ours)>;
      const void* theirs = subject->table_.get_extension(id);
      if (theirs != nullptr) copy_struct(static_cast<const Table*>(theirs), ours);
    };
    take(MUSTER_WATCH_V1, subject->watch_);
    take(MUSTER_PERMISSIONS_V1, subject->permissions_);
    take(MUSTER_PLAN_V1, subject->plan_);
    // Unknown is NULL, whatever it sounds like.
    if (subject->table_.get_extension("muster.nothing/1") != nullptr)
      trial.report.broke("MP-3", "get_extension(\"muster.nothing/1\") is not NULL");
  }
  return subject;
}

int32_t Subject::create(const ResolverConfig& config, const muster_host_v1* host,
                        muster_resolver** resolver, muster_error* error) const {
  const std::string& options = config.options_json;
  return isolated_ != nullptr
             ? isolated_->create(config.path, host, options.c_str(), options.size(), resolver,
                                 error)
             : table_.create(host, options.c_str(), options.size(), resolver, error);
}

bool Subject::offers(const muster_resolver* resolver, const char* extension) const {
  return isolated_ == nullptr || isolated_->offers(resolver, extension);
}

}  // namespace muster::check
