#include "core/isolate/child/idle.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/cancel.h"
#include "core/isolate/child/descendants.h"

namespace muster::isolate {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kSecond = 1'000 * kMillisecond;

int64_t nanoseconds(const timeval& time) {
  return int64_t{time.tv_sec} * kSecond + int64_t{time.tv_usec} * 1'000;
}

// utime, stime, cutime and cstime of proc_pid_stat(5), which are the 12th to the 15th behind the name.
int64_t own_ns(pid_t pid) {
  std::FILE* file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
  if (file == nullptr) return 0;
  char text[1024];
  const size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = '\0';
  const char* behind_name = std::strrchr(text, ')');  // a name may have spaces and parentheses
  unsigned long long user = 0, system = 0;
  long long of_children_user = 0, of_children_system = 0;
  if (behind_name == nullptr ||
      std::sscanf(behind_name + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld", &user,
                  &system, &of_children_user, &of_children_system) != 4)
    return 0;
  return (static_cast<int64_t>(user + system) + of_children_user + of_children_system) *
         (kSecond / ::sysconf(_SC_CLK_TCK));
}

}  // namespace

int64_t processor_ns() {
  rusage buried{};
  ::getrusage(RUSAGE_CHILDREN, &buried);
  int64_t sum = nanoseconds(buried.ru_utime) + nanoseconds(buried.ru_stime);
  for (const pid_t pid : descendants()) sum += own_ns(pid);
  return sum;
}

void IdleTime::call_is_over() {
  looked_ns_ = monotonic_ns();
  used_ns_ = -1;
}

int IdleTime::milliseconds_left() const {
  if (looked_ns_ == 0) return -1;
  const int64_t left = looked_ns_ + period_ns_ - monotonic_ns();
  return static_cast<int>(std::max<int64_t>(left, 0) / kMillisecond) + 1;
}

int64_t IdleTime::too_much() {
  const int64_t now = monotonic_ns();
  if (looked_ns_ == 0 || now < looked_ns_ + period_ns_) return 0;
  const int64_t used = processor_ns();
  const int64_t since = used_ns_ < 0 ? 0 : used - used_ns_;
  const bool much = since > (now - looked_ns_) / 2;
  looked_ns_ = now;
  used_ns_ = used;
  return much ? since : 0;
}

}  // namespace muster::isolate
