// Session: the world as it is, as it is being recorded, or as it was.
#include "core/service/session.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "core/service/atomic_file.h"
#include "core/service/file.h"
#include "core/service/recording.h"

namespace muster {
namespace {

// A recording is read whole. Ten thousand pods take 60 MB.
constexpr uint64_t kLargestRecording = uint64_t{1} << 30;

int64_t time_of_day_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Session::Session(Mode mode, std::shared_ptr<const Log> log, std::shared_ptr<Secrets> secrets)
    : mode_(mode), log_(std::move(log)), secrets_(std::move(secrets)) {
  if (log_ == nullptr) log_ = std::make_shared<const Log>();
  if (secrets_ == nullptr) secrets_ = std::make_shared<Secrets>();
}

Session::~Session() = default;

std::shared_ptr<Session> Session::live(std::shared_ptr<const Log> log,
                                       std::shared_ptr<Secrets> secrets) {
  return std::shared_ptr<Session>(new Session(Mode::kLive, std::move(log), std::move(secrets)));
}

std::shared_ptr<Session> Session::record(std::shared_ptr<const Log> log,
                                         std::shared_ptr<Secrets> secrets) {
  std::shared_ptr<Session> session(new Session(Mode::kRecord, std::move(log), std::move(secrets)));
  session->recording_ = std::make_unique<Recording>();
  return session;
}

Result<std::shared_ptr<Session>> Session::replay(const std::string& path,
                                                 std::shared_ptr<const Log> log,
                                                 std::shared_ptr<Secrets> secrets,
                                                 int64_t deadline_ns) {
  Result<std::string> text = read_regular_file(path, kLargestRecording);
  if (!text)
    return Error{text.error().code, "the recording cannot be read: " + text.error().message,
                 text.error().details};
  Result<RecordedResolvers> resolvers = read_recording(*text, path, deadline_ns);
  if (!resolvers) return std::move(resolvers).error();
  std::shared_ptr<Session> session(new Session(Mode::kReplay, std::move(log), std::move(secrets)));
  session->recording_ = std::make_unique<Recording>(std::move(resolvers).value());
  return session;
}

std::shared_ptr<Session> Session::replay_again() const {
  std::shared_ptr<Session> session(new Session(Mode::kReplay, log_, secrets_));
  session->recording_ = recording_->from_the_start();
  return session;
}

std::shared_ptr<Session> Session::replay_but_exchanges(std::unique_ptr<Recording> recording,
                                                       std::shared_ptr<const Log> log,
                                                       std::shared_ptr<Secrets> secrets) {
  std::shared_ptr<Session> session(new Session(Mode::kReplay, std::move(log), std::move(secrets)));
  session->plays_servers_ = true;
  session->recording_ = std::move(recording);
  return session;
}

int64_t Session::realtime_ns(const std::string& path) {
  if (mode_ == Mode::kReplay) return recording_->time(path);
  const int64_t now = time_of_day_ns();
  if (mode_ == Mode::kRecord) recording_->add_time(path, now);
  return now;
}

std::optional<std::string> Session::variable(const std::string& path, const std::string& name) {
  if (mode_ == Mode::kReplay) return recording_->variable(path, name);
  std::optional<std::string> value;
  // A name with '=' or without letters is none that could be set.
  if (!name.empty() && name.find('=') == std::string::npos) {
    const char* found = std::getenv(name.c_str());
    if (found != nullptr) value = found;
  }
  if (mode_ == Mode::kRecord) recording_->add_variable(path, name, value);
  return value;
}

std::optional<std::string> Session::hostname(const std::string& path) {
  if (mode_ == Mode::kReplay) return recording_->hostname(path);
  std::array<char, 257> name{};  // Linux has 64 at most, POSIX 255
  std::optional<std::string> found;
  if (::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0') found = name.data();
  if (mode_ == Mode::kRecord && found) recording_->set_hostname(path, *found);
  return found;
}

Result<std::string> Session::read_file(const std::string& path, const std::string& file,
                                       uint64_t maximum_size, bool secret) {
  Result<std::string> content =
      mode_ == Mode::kReplay ? recording_->file(path, file) : read_regular_file(file, maximum_size);
  if (plays_servers_ && !content && content.error().code == Code::kInvalidArgument)
    content = Error{Code::kNotFound, fmt::format("'{}' does not exist", file), {}};
  if (content && secret) secrets_->add(*content);
  if (mode_ == Mode::kRecord) {
    RecordedFile record;
    record.file = file;
    if (content) {
      record.content = secret ? "REDACTED" : *content;
    } else {
      record.error = content.error();
    }
    recording_->add_file(path, std::move(record));
  }
  return content;
}

int64_t Session::milliseconds(const std::string& path, int64_t measured) {
  if (mode_ == Mode::kReplay) return recording_->milliseconds(path).value_or(0);
  if (mode_ == Mode::kRecord) recording_->set_milliseconds(path, measured);
  return measured;
}

Status Session::write(const std::string& file) const {
  if (mode_ != Mode::kRecord)
    return Error{Code::kInternal, "only a recording session can be written", {}};
  return write_private_file(file, recording_->text(*secrets_));
}

}  // namespace muster
