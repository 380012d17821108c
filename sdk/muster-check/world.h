// The world that a plugin under test lives in: its recording, its servers, what it says, and the tables that it is given.
#pragma once

#include <muster/plugin.h>

#include <memory>
#include <string>

#include "core/service/host.h"
#include "core/service/session.h"
#include "sdk/muster-check/guarded.h"
#include "sdk/muster-check/said.h"
#include "sdk/muster-check/servers.h"
#include "sdk/muster-check/target.h"

namespace muster::check {

// Which core the plugin meets.
struct Core {
  uint32_t minor = MUSTER_PLUGIN_ABI_MINOR;
  bool of_minor_0 = false;  // the tables of 1.0, and not a byte more
  size_t later = 0;         // bytes of fields that come with a later minor
  bool services = true;     // whether it has any
};

// One a process.
class World {
 public:
  // `recorded` null: nothing is there; no server, file, variable or program.
  World(const ResolverConfig& config, const RecordedResolver* recorded);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Servers& servers() { return servers_; }
  Said& said() { return *said_; }
  const std::shared_ptr<Secrets>& secrets() const { return secrets_; }
  const std::shared_ptr<const Log>& log() const { return log_; }
  const std::shared_ptr<HttpLibrary>& http() const { return http_; }
  // The recording from its start.
  std::shared_ptr<Session> session() const;
  // That of this process.
  static World& here();

 private:
  RecordedResolver recorded_;
  std::string path_;
  std::shared_ptr<Secrets> secrets_;
  std::shared_ptr<const Log> log_;
  std::unique_ptr<Said> said_;
  Servers servers_;
  std::shared_ptr<HttpLibrary> http_;
};

// The host table that a resolver is given: the core's own, watched, read-only, and of the core that a test wants.
class InstrumentedHost {
 public:
  InstrumentedHost(const World& world, const std::string& backend, const ResolverConfig& config,
                   const Core& core);
  const muster_host_v1* table() const {
    return static_cast<const muster_host_v1*>(guarded_->data());
  }

 private:
  Host host_;
  std::unique_ptr<Guarded> guarded_;
};

}  // namespace muster::check
