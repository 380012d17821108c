#include "sdk/muster-check/world.h"

#include <time.h>

#include <algorithm>
#include <cstddef>

#include "core/service/recording.h"
#include "core/service/text.h"

namespace muster::check {
namespace {

// sizeof(muster_host_v1) of plugin ABI 1.0, whatever it is today.
constexpr size_t kHostSize_1_0 = 56;
static_assert(sizeof(muster_host_v1) >= kHostSize_1_0);

World* the_world = nullptr;
muster_host_v1 core_functions;  // what the watched ones pass on to

void watched_log(const muster_host_v1* host, int32_t level, const char* text, uint64_t size) {
  Said& said = World::here().said();
  said.add("a log line", view_of(text, size));
  if (level >= MUSTER_LOG_HOST_MISBEHAVES) said.host_misbehaves(view_of(text, size));
  core_functions.log(host, level, text, size);
}

int32_t watched_set_error(muster_error* error, int32_t code, const char* message, uint64_t size) {
  World::here().said().add("an error", view_of(message, size));
  return core_functions.set_error(error, code, message, size);
}

void watched_add_detail(muster_error* error, const char* key, const char* value, uint64_t size) {
  World::here().said().add("a detail of an error", view_of(value, size));
  core_functions.add_detail(error, key, value, size);
}

const void* no_service(const muster_host_v1* /*host*/, const char* /*id*/) { return nullptr; }

RecordedResolver content_of(const RecordedResolver* recorded) {
  if (recorded != nullptr) return *recorded;
  RecordedResolver nothing;
  nothing.times.push_back(int64_t{::time(nullptr)} * 1'000'000'000);
  return nothing;
}

}  // namespace

World::World(const ResolverConfig& config, const RecordedResolver* recorded)
    : recorded_(content_of(recorded)),
      path_(config.path),
      secrets_(std::make_shared<Secrets>()),
      log_(std::make_shared<const Log>()),
      said_(std::make_unique<Said>(secrets_)),
      servers_(recorded == nullptr ? nullptr : &recorded_, *secrets_),
      http_(make_http_library(Servers::transport())) {
  for (const std::string& secret : config.secrets) secrets_->add(secret);
  the_world = this;
}

World::~World() { the_world = nullptr; }

World& World::here() { return *the_world; }

std::shared_ptr<Session> World::session() const {
  return Session::replay_but_exchanges(
      std::make_unique<Recording>(RecordedResolvers{{path_, recorded_}}), log_, secrets_);
}

InstrumentedHost::InstrumentedHost(const World& world, const std::string& backend,
                                   const ResolverConfig& config, const Core& core)
    : host_(backend, config.path, config.options_json, world.log(), world.secrets(), world.http()) {
  core_functions = *host_.table();
  muster_host_v1 table = *host_.table();
  const size_t known = core.of_minor_0 ? kHostSize_1_0 : sizeof table;
  table.struct_size = known + core.later;
  table.abi_minor = core.minor;
  table.log = watched_log;
  table.set_error = watched_set_error;
  table.add_detail = watched_add_detail;
  if (!core.services) table.get_service = no_service;
  guarded_ = std::make_unique<Guarded>(&table, known, core.later);
}

}  // namespace muster::check
