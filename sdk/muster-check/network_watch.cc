#include "sdk/muster-check/network_watch.h"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "sdk/muster-check/socket_address.h"

namespace muster::check {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#elif defined(__powerpc64__)
constexpr uint32_t kMachine = AUDIT_ARCH_PPC64LE;
#else
constexpr uint32_t kMachine = 0;  // no call is one of it
#endif

// Holds connect, and sendto that says where to. What it points to, no filter can see.
FileDescriptor hold_calls() {
  constexpr uint32_t kCall = offsetof(seccomp_data, nr);
  constexpr uint32_t kArch = offsetof(seccomp_data, arch);
  constexpr uint32_t kAddress = offsetof(seccomp_data, args[4]);
  std::array<sock_filter, 11> rules = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 0, 7),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kCall),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_connect, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sendto, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddress),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddress + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
  }};
  const sock_fprog program = {rules.size(), rules.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FileDescriptor();
  const long held =
      ::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  return FileDescriptor(static_cast<int>(held));
}

// The address that a held call points to; all zero when it cannot be read.
sockaddr_storage address_of(const seccomp_notif& call) {
  const bool connects = call.data.nr == __NR_connect;
  sockaddr_storage address{};
  const uint64_t size = std::min<uint64_t>(call.data.args[connects ? 2 : 5], sizeof address);
  const iovec ours = {&address, size};
  const uint64_t address_there = call.data.args[connects ? 1 : 4];
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel has a pointer of another process as a number
  void* const place = reinterpret_cast<void*>(address_there);
  const iovec theirs = {place, size};
  if (::process_vm_readv(static_cast<pid_t>(call.pid), &ours, 1, &theirs, 1, 0) < 0) return {};
  return address;
}

// "it", of a thread of ours; else which of the processes that were started.
std::string who(uint32_t process) {
  if (::access(fmt::format("/proc/self/task/{}", process).c_str(), F_OK) == 0) return "it";
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::string name;
  std::getline(file, name);
  return fmt::format("its process '{}'", name);
}

}  // namespace

Result<std::unique_ptr<NetworkWatch>> NetworkWatch::start(
    std::function<void(const std::string&)> listener) {
  FileDescriptor held = hold_calls();
  if (held.get() < 0)
    return Error{
        Code::kUnimplemented,
        fmt::format("this system does not let connections be watched: {}", ::strerror(errno)),
        {}};
  return std::unique_ptr<NetworkWatch>(new NetworkWatch(std::move(held), std::move(listener)));
}

NetworkWatch::NetworkWatch(FileDescriptor held, std::function<void(const std::string&)> listener)
    : held_(std::move(held)), listener_(std::move(listener)), thread_([this] { look(); }) {}

NetworkWatch::~NetworkWatch() {
  over_ = true;
  thread_.join();
}

void NetworkWatch::look() {
  while (!over_) {
    pollfd waiting = {held_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 20) <= 0 || (waiting.revents & POLLIN) == 0) continue;
    seccomp_notif call{};
    if (::ioctl(held_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
    const sockaddr_storage address = address_of(call);
    seccomp_notif_resp answer{};
    answer.id = call.id;
    if (address.ss_family == AF_INET || address.ss_family == AF_INET6) {
      listener_(fmt::format("{} connected to {}", who(call.pid),
                            text_of(reinterpret_cast<const sockaddr*>(&address))));
      answer.error = -ENETUNREACH;
    } else {
      answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    ::ioctl(held_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

}  // namespace muster::check
