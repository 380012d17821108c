// Secrets and the log that hides them.
#include <algorithm>
#include <cstring>
#include <limits>

#include "core/service/session.h"
#include "core/service/text.h"

namespace muster {
namespace {

constexpr size_t kShortestSecret = 4;
constexpr size_t kShortestEncoded = 9;
constexpr std::string_view kRedacted = "REDACTED";

size_t two_bytes(const char* at) {
  return size_t{static_cast<unsigned char>(at[0])} << 8 | static_cast<unsigned char>(at[1]);
}

// Hides the beginnings of `secrets` that stand before a mark by which a quote says that it was cut.
std::string without_beginnings(std::string text, const std::vector<std::string>& secrets) {
  for (const std::string_view mark : {std::string_view("…"), std::string_view("...")}) {
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      size_t longest = 0;
      for (const std::string& secret : secrets) {
        for (size_t size = std::min(secret.size(), at); size > longest && size >= kShortestSecret;
             --size) {
          if (text[at - size] == secret[0] && text.compare(at - size, size, secret, 0, size) == 0)
            longest = size;
        }
      }
      if (longest != 0) {
        text.replace(at - longest, longest, kRedacted);
        at = at - longest + kRedacted.size();
      }
      at += mark.size();
    }
  }
  return text;
}

std::string_view without_padding(std::string_view base64) {
  const size_t last = base64.find_last_not_of('=');
  return last == std::string_view::npos ? std::string_view() : base64.substr(0, last + 1);
}

}  // namespace

void Secrets::add(std::string_view text) {
  // A token file ends with a newline that the header made of it does not have.
  const std::string_view secret = trim(text);
  if (secret.size() < kShortestSecret || secret == kRedacted) return;

  std::vector<std::string> forms = {std::string(secret), json_escape(secret)};
  if (secret.size() >= kShortestEncoded) {
    // Unpadded: that finds the padded form too, of which a '=' or two then stay.
    forms.emplace_back(without_padding(base64_encode(secret)));
    forms.emplace_back(without_padding(base64_encode(secret, true)));
    forms.push_back(percent_encode(secret));
    if (text != secret) {
      forms.emplace_back(without_padding(base64_encode(text)));
      forms.emplace_back(without_padding(base64_encode(text, true)));
    }
  }

  const std::lock_guard lock(mutex_);
  auto texts = std::make_shared<Texts>(*texts_);
  Texts& all = *texts;
  for (std::string& form : forms) {
    if (std::find(all.begin(), all.end(), form) != all.end()) continue;
    const size_t beginning = two_bytes(form.data());
    beginnings_[beginning / 64].fetch_or(uint64_t{1} << beginning % 64, std::memory_order_relaxed);
    all.push_back(std::move(form));
  }
  if (all.size() == texts_->size()) return;
  std::stable_sort(all.begin(), all.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  shortest_.store(all.back().size(), std::memory_order_release);
  texts_ = std::move(texts);
  additions_.fetch_add(1, std::memory_order_acq_rel);
}

std::shared_ptr<const Secrets::Texts> Secrets::texts() const {
  const std::lock_guard lock(mutex_);
  return texts_;
}

bool Secrets::may_be_in(std::string_view text) const {
  if (empty()) return false;
  // A secret may be cut.
  for (size_t at = 0; at + kShortestSecret <= text.size(); ++at) {
    const size_t beginning = two_bytes(text.data() + at);
    if ((beginnings_[beginning / 64].load(std::memory_order_relaxed) >> beginning % 64 & 1) != 0)
      return true;
  }
  return false;
}

std::string Secrets::redact(std::string_view text) const {
  if (!may_be_in(text)) return std::string(text);
  const auto known = texts();
  const Texts& all = *known;
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  const auto find = [&](size_t secret, size_t from) {
    const std::string& needle = all[secret];
    if (from + needle.size() > text.size()) return kNone;
    const void* hit = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
    return hit == nullptr ? kNone
                          : static_cast<size_t>(static_cast<const char*>(hit) - text.data());
  };

  // Almost every text has none.
  bool any = false;
  for (size_t i = 0; i < all.size() && !any; ++i) any = find(i, 0) != kNone;
  if (!any) return without_beginnings(std::string(text), all);

  // Where each secret stands next. Every search goes on where the last one ended, so each secret reads the text once.
  std::vector<size_t> next(all.size());
  for (size_t i = 0; i < next.size(); ++i) next[i] = find(i, 0);

  std::string redacted;
  size_t done = 0;
  for (;;) {
    size_t first = kNone;
    for (const size_t at : next) first = std::min(first, at);
    if (first == kNone) break;
    // Everything that begins before the covered part ends belongs to it, also what only overlaps.
    size_t end = first;
    for (bool grew = true; grew;) {
      grew = false;
      for (size_t i = 0; i < next.size(); ++i) {
        while (next[i] != kNone && (next[i] < end || next[i] == first)) {
          end = std::max(end, next[i] + all[i].size());
          next[i] = find(i, next[i] + all[i].size());
          grew = true;
        }
      }
    }
    redacted.append(text.substr(done, first - done)).append(kRedacted);
    done = end;
  }
  return without_beginnings(std::move(redacted.append(text.substr(done))), all);
}

void Log::write(int32_t level, std::string_view text, const Secrets& secrets) const {
  if (!enabled(level)) return;
  const std::string line = clean_text(secrets.redact(text), false);
  const std::lock_guard lock(mutex_);
  if (armed_) write_(level, line);
}

void Log::disarm() const {
  const std::lock_guard lock(mutex_);
  armed_ = false;
}

}  // namespace muster
