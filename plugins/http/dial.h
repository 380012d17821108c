// TCP connections, to whichever address of a host answers first.
#pragma once

#include "plugins/http/resolver.h"

namespace muster::http {

// Connects to one of `addresses`, trying the families in turn and not waiting longer than 250 ms for
// one before the next is tried beside it (RFC 8305). On success `fd` is a connected socket that does
// not block, is closed on exec and belongs to the caller.
//
// `name` is the endpoint for messages. UNAVAILABLE tells each address with its reason.
Failed dial(const std::vector<Address> &addresses, const std::string &name,
            const Patience &patience, int &fd);

}  // namespace muster::http
