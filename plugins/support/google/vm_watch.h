// A watch on a VM of Google Cloud: an API without a stream is asked again and again, and in between the VM hears what becomes of itself.
#pragma once

#include <functional>
#include <string>

#include <muster/plugin.hpp>

#include "plugins/support/google/notices.h"

namespace muster::support::google {

// What one resolver's watches know of the one before, which ended with a failure. [one-at-a-time]
struct Watched {
  bool known = false;    // there are members to tell
  bool failing = false;  // the API, and the core has been told
  std::string told;      // of the notices, last
};

// `ask` finds the members anew and keeps them; `say` pushes those that are kept, with what the notices say of this VM. Each notice is an event
// at once, without another question. While the API fails, the members are those that were found before, and each failure is told again at
// the core's interval. UNIMPLEMENTED, before anybody is asked, where nobody tells what becomes of this machine, so that the core polls.
sdk::Status watch_vm(Watched& watched, const std::function<sdk::Status()>& ask,
                     const std::function<sdk::Status(const Notices&)>& say, sdk::Call& call);

}  // namespace muster::support::google
