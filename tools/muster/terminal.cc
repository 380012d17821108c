#include "tools/muster/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "core/spec/quote.h"

namespace muster_command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBeforeFirst = std::chrono::milliseconds(300);  // a quick answer shows no line
// A list of everything that is wrong with a large config is shorter; what a backend sends may be of any length.
constexpr size_t kMostOfAMessage = 64 * 1024;
constexpr auto kBetween = std::chrono::milliseconds(100);

std::mutex stderr_mutex;
bool line_shown = false;  // under stderr_mutex

// The signal that came, and a descriptor that is readable from then on.
volatile std::sig_atomic_t signal_number = 0;
int signal_event = -1;

// Waits until the descriptor takes something. False when a signal came and it does not: who ends waits for no reader.
bool wait_to_write(int descriptor) {
  pollfd both[2] = {{descriptor, POLLOUT, 0}, {signal_event, POLLIN, 0}};
  while (true) {
    const int ready = ::poll(both, 2, -1);
    if (ready < 0 && errno != EINTR) return true;  // the write says what is wrong
    if (ready > 0 && both[0].revents != 0) return true;
    if (signal_number != 0) return false;
  }
}

// 0, or the errno; EINTR: a signal came, and nobody reads. A pipe that poll calls writable takes PIPE_BUF bytes without waiting. The descriptor
// is not made non-blocking, for that would hold for everybody who has the same terminal or pipe.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    if (!wait_to_write(descriptor)) return EINTR;
    const ssize_t written =
        ::write(descriptor, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

// Under stderr_mutex.
void clear_line() {
  if (line_shown) write_all(STDERR_FILENO, "\r\x1b[K");
  line_shown = false;
}

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// The first line of a progress text, and how many others there are, cut to the terminal.
std::string one_line(std::string_view progress, double seconds, double timeout) {
  const size_t end = std::min(progress.find('\n'), progress.size());
  std::string line =
      fmt::format("muster: {:.0f} s, {:.0f} s left, waiting for {}", seconds,
                  std::max(timeout - seconds, 0.0), muster::printable(progress.substr(0, end)));
  const auto others = static_cast<size_t>(std::count(progress.begin(), progress.end(), '\n'));
  if (others > 0) line += fmt::format(" (and {} more)", others);
  // One column stays free, so that no terminal wraps. A column is a character, not a byte.
  size_t columns = 0;
  for (size_t n = 0; n < line.size(); ++n) {
    if ((static_cast<unsigned char>(line[n]) & 0xC0U) == 0x80U) continue;
    if (++columns == terminal_width()) {
      line.resize(n);
      break;
    }
  }
  return line;
}

// A terminal that takes escape sequences.
bool is_terminal(int descriptor) {
  const char* term = std::getenv("TERM");
  return term != nullptr && std::strcmp(term, "dumb") != 0 && isatty(descriptor) == 1;
}

std::atomic<muster_cluster*> signalled_cluster{nullptr};

extern "C" void on_signal(int number) {
  const int before = errno;
  signal_number = number;
  const uint64_t one = 1;
  (void)!::write(signal_event, &one, sizeof one);
  muster_cancel(signalled_cluster.load());
  errno = before;
}

}  // namespace

bool colored(int descriptor, const Options& options) {
  const char* no_color = std::getenv("NO_COLOR");
  return !options.no_color && (no_color == nullptr || *no_color == '\0') && is_terminal(descriptor);
}

void say(std::string_view text) {
  const std::lock_guard lock(stderr_mutex);
  clear_line();
  write_all(STDERR_FILENO,
            fmt::format("muster: {}\n", muster::printable_lines(text, kMostOfAMessage)));
}

void say_hint(std::string_view text) {
  const std::lock_guard lock(stderr_mutex);
  clear_line();
  write_all(STDERR_FILENO,
            fmt::format("  hint: {}\n", muster::printable_lines(text, kMostOfAMessage)));
}

void say_error(const muster_error* error) {
  size_t size = 0;
  const char* message = muster_error_message(error, &size);
  say({message, size});
  for (size_t n = 0; n < muster_error_detail_count(error); ++n) {
    const std::string_view hint = muster_error_detail_value(error, n, nullptr);
    if (std::strcmp(muster_error_detail_key(error, n, nullptr), "hint") == 0 &&
        std::string_view(message, size).find(hint) == std::string_view::npos) {
      say_hint(hint);
    }
  }
}

int print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return 0;
  CancelOnSignal::die_if_signalled();
  say(fmt::format("the answer cannot be written to standard output: {}{}", std::strerror(error),
                  error == EBADF ? " (it is closed)" : ""));
  return kExitNotWritten;
}

int print_page(std::string_view text) { return print(muster::printable_lines(text)); }

LiveLine::LiveLine(const muster_cluster* cluster, const Options& options) {
  if (!options.quiet && is_terminal(STDERR_FILENO) && options.verbose == 0)
    thread_ = std::thread([this, cluster] { run(cluster); });
}

LiveLine::~LiveLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  thread_.join();
  const std::lock_guard lock(stderr_mutex);
  clear_line();
}

void LiveLine::run(const muster_cluster* cluster) {
  const auto begin = Clock::now();
  const double timeout = static_cast<double>(muster_cluster_timeout_ms(cluster)) / 1000;
  std::unique_lock lock(mutex_);
  auto pause = kBeforeFirst;
  while (!wake_.wait_for(lock, pause, [this] { return done_; })) {
    pause = kBetween;
    char progress[1024];
    if (muster_progress(cluster, progress, sizeof progress) == 0) continue;
    const std::string line =
        one_line(progress, std::chrono::duration<double>(Clock::now() - begin).count(), timeout);
    const std::lock_guard out(stderr_mutex);
    write_all(STDERR_FILENO, "\r\x1b[K" + line);
    line_shown = true;
  }
}

CancelOnSignal::CancelOnSignal(muster_cluster* cluster) {
  // Never closed: a handler may still be writing to it.
  if (signal_event < 0) signal_event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  signalled_cluster.store(cluster);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (Handled& handled : handled_) {
    sigaction(handled.number, nullptr, &handled.before);
    // Who started us in the background or under nohup has said that the signal is not for us.
    if (handled.before.sa_handler != SIG_IGN) sigaction(handled.number, &action, nullptr);
  }
}

CancelOnSignal::~CancelOnSignal() {
  for (const Handled& handled : handled_) sigaction(handled.number, &handled.before, nullptr);
  signalled_cluster.store(nullptr);
}

void CancelOnSignal::die_if_signalled() {
  if (signal_number == 0) return;
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
  // The first process of a container outlives that: a signal without a handler is none to it.
  std::_Exit(128 + signal_number);
}

void occupy_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // Reading from a closed input, and writing to a closed output, fails as it would have.
    const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != descriptor) ::close(opened);
  }
}

}  // namespace muster_command
