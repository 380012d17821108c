// Recording: what a running session adds and takes.
#include "core/service/recording.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/service/text.h"

namespace muster {
namespace {

// Where a path stands in the messages of a replay.
std::string place(const std::string& path) {
  return path.empty() ? "the core" : fmt::format("'{}'", path);
}

// How alike two texts are: the length of what they share at both ends.
size_t likeness(const std::string& a, const std::string& b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t front = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  size_t back = 0;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return front + back;
}

// HTTPS_PROXY, http_proxy, ALL_PROXY ...
bool is_proxy_variable(const std::string& name) {
  constexpr std::string_view end = "_proxy";
  return name.size() > end.size() &&
         equal_without_case(std::string_view(name).substr(name.size() - end.size()), end);
}

// A proxy's URL whose user and password, however short or wrongly written, are not kept.
std::optional<std::string> without_user_info(const std::string& url) {
  const size_t at = url.rfind('@');
  if (at == std::string::npos) return url;
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string::npos || scheme > at ? 0 : scheme + 3;
  return url.substr(0, begin) + "REDACTED" + url.substr(at);
}

}  // namespace

Recording::Recording(std::shared_ptr<RecordedResolvers> resolvers)
    : resolvers_(std::move(resolvers)) {
  for (const auto& [path, resolver] : *resolvers_) {
    cursors_[path].taken.resize(resolver.exchanges.size());
    cursors_[path].taken_runs.resize(resolver.runs.size());
  }
}

std::unique_ptr<Recording> Recording::from_the_start() const {
  return std::unique_ptr<Recording>(new Recording(resolvers_));
}

void Recording::add_time(const std::string& path, int64_t time_ns) {
  const std::lock_guard lock(mutex_);
  (*resolvers_)[path].times.push_back(time_ns);
}

void Recording::add_variable(const std::string& path, const std::string& name,
                             const std::optional<std::string>& value) {
  const std::lock_guard lock(mutex_);
  (*resolvers_)[path].variables.insert_or_assign(
      name, value && is_proxy_variable(name) ? without_user_info(*value) : value);
}

void Recording::set_hostname(const std::string& path, const std::string& name) {
  const std::lock_guard lock(mutex_);
  (*resolvers_)[path].hostname = name;
}

void Recording::add_file(const std::string& path, RecordedFile file) {
  const std::lock_guard lock(mutex_);
  (*resolvers_)[path].files.push_back(std::move(file));
}

void Recording::add_exchange(const std::string& path, RecordedExchange exchange) {
  const std::lock_guard lock(mutex_);
  (*resolvers_)[path].exchanges.push_back(std::move(exchange));
}

void Recording::add_run(const std::string& path, RecordedRun run) {
  const std::lock_guard lock(mutex_);
  (*resolvers_)[path].runs.push_back(std::move(run));
}

void Recording::set_terminal(const std::string& path, bool terminal) {
  const std::lock_guard lock(mutex_);
  (*resolvers_)[path].terminal = terminal;
}

void Recording::set_milliseconds(const std::string& path, int64_t milliseconds) {
  const std::lock_guard lock(mutex_);
  (*resolvers_)[path].milliseconds = milliseconds;
}

std::string Recording::text(const Secrets& secrets) const {
  const std::lock_guard lock(mutex_);
  return write_recording(*resolvers_, secrets);
}

int64_t Recording::time(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = resolvers_->find(path);
  if (found != resolvers_->end() && !found->second.times.empty()) {
    // Asked more often than recorded: time stands still.
    size_t& next = cursors_[path].time;
    const std::vector<int64_t>& times = found->second.times;
    return next < times.size() ? times[next++] : times.back();
  }
  // Never asked there while recording: the time of the resolve, which is the core's.
  const auto core = resolvers_->find("");
  return core != resolvers_->end() && !core->second.times.empty() ? core->second.times.front() : 0;
}

std::optional<std::string> Recording::variable(const std::string& path,
                                               const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = resolvers_->find(path);
  if (found == resolvers_->end()) return std::nullopt;
  const auto variable = found->second.variables.find(name);
  return variable == found->second.variables.end() ? std::nullopt : variable->second;
}

std::optional<std::string> Recording::hostname(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = resolvers_->find(path);
  return found == resolvers_->end() ? std::nullopt : found->second.hostname;
}

Result<std::string> Recording::file(const std::string& path, const std::string& file) {
  const std::lock_guard lock(mutex_);
  const auto found = resolvers_->find(path);
  const RecordedFile* answer = nullptr;
  if (found != resolvers_->end()) {
    // The n-th reading gets the n-th record of this file; once they are used up, the last one.
    size_t& taken = cursors_[path].files[file];
    size_t nth = 0;
    for (const RecordedFile& recorded : found->second.files) {
      if (recorded.file != file) continue;
      answer = &recorded;
      if (nth++ == taken) break;
    }
    ++taken;
  }
  if (answer == nullptr) {
    return Error{Code::kInvalidArgument,
                 fmt::format("the recording has no file '{}' for {}", file, place(path)),
                 {}}
        .with("hint", "record again with this config");
  }
  if (answer->error) return *answer->error;
  return answer->content;
}

std::optional<int64_t> Recording::milliseconds(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = resolvers_->find(path);
  return found == resolvers_->end() ? std::nullopt : found->second.milliseconds;
}

Result<RecordedExchange> Recording::exchange(const std::string& path, const std::string& method,
                                             const std::string& url, const std::string& body) {
  const std::lock_guard lock(mutex_);
  const auto found = resolvers_->find(path);
  if (found == resolvers_->end() || found->second.exchanges.empty()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} {} is not in the recording, which has no request of {}", method,
                             url, place(path)),
                 {}}
        .with("hint", "record again with this config");
  }
  const std::vector<RecordedExchange>& exchanges = found->second.exchanges;
  std::vector<bool>& taken = cursors_[path].taken;
  size_t same = 0;
  bool other_body = false;
  for (size_t i = 0; i < exchanges.size(); ++i) {
    const RecordedExchange& recorded = exchanges[i];
    if (recorded.method != method || recorded.url != url) continue;
    if (recorded.body != body) {
      other_body = true;
      continue;
    }
    ++same;
    if (taken[i]) continue;
    taken[i] = true;
    return recorded;
  }

  std::string message;
  if (same > 0) {
    message = fmt::format("{} {} is asked more often than the {} of the recording for {}", method,
                          url, same == 1 ? std::string("one time") : fmt::format("{} times", same),
                          place(path));
  } else if (other_body) {
    message = fmt::format("{} {} is in the recording for {}, but with another body", method, url,
                          place(path));
  } else {
    std::vector<const RecordedExchange*> nearest;
    for (const RecordedExchange& recorded : exchanges) {
      const bool told =
          std::any_of(nearest.begin(), nearest.end(), [&](const RecordedExchange* other) {
            return other->method == recorded.method && other->url == recorded.url;
          });
      if (!told) nearest.push_back(&recorded);
    }
    std::stable_sort(nearest.begin(), nearest.end(),
                     [&](const RecordedExchange* a, const RecordedExchange* b) {
                       return likeness(a->url, url) > likeness(b->url, url);
                     });
    if (nearest.size() > 3) nearest.resize(3);
    message = fmt::format("{} {} is not in the recording for {}; the nearest recorded:", method,
                          url, place(path));
    for (const RecordedExchange* recorded : nearest)
      message += fmt::format("\n  {} {}", recorded->method, recorded->url);
  }
  return Error{Code::kInvalidArgument, message, {}}.with("hint", "record again with this config");
}

Result<RecordedRun> Recording::run(const std::string& path,
                                   const std::vector<std::string>& arguments) {
  const std::lock_guard lock(mutex_);
  std::string others;
  if (const auto found = resolvers_->find(path); found != resolvers_->end()) {
    std::vector<bool>& taken = cursors_[path].taken_runs;
    for (size_t i = 0; i < taken.size(); ++i) {
      const RecordedRun& recorded = found->second.runs[i];
      if (!taken[i] && recorded.arguments == arguments) {
        taken[i] = true;
        return recorded;
      }
      others += fmt::format("\n  {}", fmt::join(recorded.arguments, " "));
    }
  }
  return Error{
      Code::kInvalidArgument,
      fmt::format("the recording has no {}run of '{}' for {}{}{}", others.empty() ? "" : "further ",
                  fmt::join(arguments, " "), place(path), others.empty() ? "" : "; it has", others),
      {}}
      .with("hint", "record again with this config");
}

bool Recording::terminal(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = resolvers_->find(path);
  return found != resolvers_->end() && found->second.terminal.value_or(false);
}

bool Recording::tried_again(const std::string& path, const std::string& method,
                            const std::string& url, const std::string& body, int attempt) const {
  const std::lock_guard lock(mutex_);
  const auto found = resolvers_->find(path);
  const auto cursor = cursors_.find(path);
  if (found == resolvers_->end() || cursor == cursors_.end()) return false;
  const std::vector<RecordedExchange>& exchanges = found->second.exchanges;
  for (size_t i = 0; i < exchanges.size(); ++i) {
    if (cursor->second.taken[i] || exchanges[i].method != method || exchanges[i].url != url ||
        exchanges[i].body != body)
      continue;
    return exchanges[i].attempt == attempt;
  }
  return false;
}

}  // namespace muster
