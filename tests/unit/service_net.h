// A call into a plugin that has a fake transport, for the tests of muster.http/1.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service_world.h"

namespace muster::testing {

// A world whose transport plays this script.
struct Net {
  explicit Net(std::vector<Answer> script, int64_t time_ns = 20 * kSecond)
      : transport(std::move(script)),
        world(Session::live(lines.log(), std::make_shared<Secrets>()), transport.library(),
              time_ns) {}
  Lines lines;
  FakeTransport transport;
  World world;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

}  // namespace muster::testing
