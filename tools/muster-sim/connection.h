#pragma once

namespace muster::sim {

// Ends the TCP connection between two ports of this machine at once, from the server's side.
//
// reset  with a TCP reset instead of an orderly end
// Only the thread that serves the connection may call it: another one could hit a descriptor
// that means something else by then.
void cut_connection(int local_port, int remote_port, bool reset);

}  // namespace muster::sim
