#include "plugins/kubernetes/reasons.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/support/rfc3339.h"

namespace muster::kubernetes {
namespace {

constexpr size_t kReasonMaximum = 300;

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  if (text.size() <= kReasonMaximum) return text;
  size_t end = kReasonMaximum;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// "Pending since 2026-01-31T11:50:00Z", "Failed at ..."
std::string phase_and_time(const Pod& pod) {
  const bool ended = pod.phase == Phase::kFailed || pod.phase == Phase::kSucceeded;
  const int64_t time = ended ? pod.end() : pod.phase == Phase::kPending ? pod.created : 0;
  if (time == 0) return std::string(phase_name(pod.phase));
  return fmt::format("{} {} {}", phase_name(pod.phase), ended ? "at" : "since",
                     support::to_rfc3339(time));
}

std::string with_message(Text reason, Text message) {
  if (message.empty()) return reason.string();
  return reason.empty() ? message.string() : fmt::format("{}: {}", reason.view(), message.view());
}

// What is known of why it is not running.
std::string cause(const Pod& pod) {
  const Trouble& trouble = pod.trouble();
  if (pod.phase == Phase::kFailed) {
    if (trouble.reason.empty() && !trouble.terminated.empty())
      return with_message(trouble.terminated, trouble.message);
    return with_message(trouble.reason, trouble.message);
  }
  if (!trouble.unschedulable.empty()) return trouble.unschedulable.string();
  if (!trouble.waiting.empty()) {
    std::string said = trouble.waiting.string();
    if (pod.restarts > 0 && !trouble.restarted_because.empty())
      said +=
          fmt::format(" ({} restarts, before: {})", pod.restarts, trouble.restarted_because.view());
    return said;
  }
  if (!trouble.reason.empty() || !trouble.message.empty())
    return with_message(trouble.reason, trouble.message);
  if (pod.phase == Phase::kPending)
    return pod.node.empty() ? "not scheduled yet" : fmt::format("starting on {}", pod.node.view());
  return "";
}

}  // namespace

bool is_task(const Pod& pod, const Judge& judge) {
  if (pod.deleted != 0 || (pod.ip.empty() && !judge.by_name)) return false;
  switch (judge.require) {
    case Require::kReady: return pod.phase == Phase::kRunning && pod.ready;
    case Require::kAddress: return pod.phase == Phase::kRunning || pod.phase == Phase::kPending;
    default: return pod.phase == Phase::kRunning;
  }
}

std::string why_missing(const Pod& pod, const Judge& judge) {
  if (is_task(pod, judge)) return "";
  const Trouble& trouble = pod.trouble();
  if (pod.deleted != 0) {
    std::string said = "being deleted";
    // The timestamp is the end of its grace.
    if (pod.deleted != kSomeTime)
      said += fmt::format(", due at {}", support::to_rfc3339(pod.deleted));
    if (!trouble.disruption.empty()) said += fmt::format(": {}", trouble.disruption.view());
    return one_line(std::move(said));
  }
  const bool running = pod.phase == Phase::kRunning;
  const std::string said = phase_and_time(pod);
  if (running && (!pod.ip.empty() || judge.by_name)) {
    const std::string why =
        trouble.waiting.empty() ? trouble.not_ready.string() : trouble.waiting.string();
    return one_line(fmt::format("{}, not ready{}{}", said, why.empty() ? "" : ": ", why));
  }
  if (running) return said + ", but it has no IP address yet";
  const std::string why = cause(pod);
  return one_line(why.empty() ? said : fmt::format("{}: {}", said, why));
}

}  // namespace muster::kubernetes
