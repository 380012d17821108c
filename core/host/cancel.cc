// muster_cancel: a switch that calls look at, and an event that launchers can poll.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "core/host/handles.h"

muster_cluster::~muster_cluster() {
  cluster.reset();
  if (log != nullptr) log->disarm();
  if (const int event = cancel_event.load(); event >= 0) ::close(event);
}

void muster_cluster::cancel() {
  const int before = errno;
  cancel_switch->set();
  const uint64_t one = 1;
  if (const int event = cancel_event.load(); event >= 0) (void)!::write(event, &one, sizeof one);
  errno = before;
}

void muster_cluster::reset_cancel() {
  cancel_switch->reset();
  confirm_cancel();
}

bool muster_cluster::make_cancel_event() {
  const std::lock_guard lock(watches_mutex);
  if (cancel_event.load() >= 0) return true;
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) return false;
  cancel_event.store(event);
  // Who set the switch before saw no event.
  if (cancel_switch->is_set()) cancel();
  return true;
}

bool muster_cluster::confirm_cancel() {
  const int event = cancel_event.load();
  if (event < 0) return cancel_switch->is_set();
  uint64_t count = 0;
  (void)!::read(event, &count, sizeof count);
  // One that came meanwhile may have been read away.
  if (!cancel_switch->is_set()) return false;
  cancel();
  return true;
}

std::string muster_cluster::watch_progress() const {
  const std::lock_guard lock(watches_mutex);
  std::string lines;
  for (const muster::LiveCluster* watch : watches) {
    const std::string more = watch->progress();
    lines += (lines.empty() || more.empty() ? "" : "\n") + more;
  }
  return lines;
}
