// The head of a response.
#include "plugins/http/head.h"

#include <algorithm>
#include <charconv>

#include "plugins/http/words.h"

namespace muster::http {

namespace {

Failure malformed(const std::string &why) {
  return failure(MUSTER_E_DATA_LOSS, Phase::wait,
                 "the answer is not HTTP that can be understood: " + why);
}

bool token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// A word of the server's; nothing of it where it is of an answer that is a secret (MUSTER_HTTP_SECRET_BODY).
std::string said(std::string_view word, bool secret) {
  return secret ? "something that is not shown, for a secret was asked for" : quote(word, 60);
}

// Takes the first line off `text`, without its end.
std::string_view take_line(std::string_view &text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Calls `fn` with each member of a comma-separated list.
template <typename Fn>
void each_member(std::string_view list, Fn fn) {
  while (true) {
    const size_t comma = list.find(',');
    if (const std::string_view member = trimmed(list.substr(0, comma)); !member.empty()) fn(member);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

Failed parse_status_line(std::string_view line, bool secret, Head &head) {
  // HTTP/1.1 200 OK; the reason may be absent with its space.
  const bool right = line.size() >= 12 && line.starts_with("HTTP/1.") &&
                     (line[7] == '0' || line[7] == '1') && line[8] == ' ' &&
                     std::all_of(line.begin() + 9, line.begin() + 12,
                                 [](char c) { return c >= '0' && c <= '9'; }) &&
                     (line.size() == 12 || line[12] == ' ') && line[9] >= '1' && line[9] <= '9';
  if (!right)
    return malformed("it begins with " + said(line, secret) +
                     " instead of 'HTTP/1.1 STATUS REASON'");
  head.http_1_0 = line[7] == '0';
  head.status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  return {};
}

Failed parse_headers(std::string_view text, Head &head) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    if (line.find('\0') != std::string_view::npos || line.find('\r') != std::string_view::npos) {
      return malformed("header " + std::to_string(head.headers.size() + 1) +
                       " holds a NUL or a bare CR");
    }
    if (line[0] == ' ' || line[0] == '\t') {
      // An old way to go on with the header before (RFC 9112, 5.2).
      if (head.headers.empty()) return malformed("its first header begins with a space");
      head.headers.back().second += ' ';
      head.headers.back().second += trimmed(line);
      continue;
    }
    const size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || name.empty() ||
        !std::all_of(name.begin(), name.end(), token_character)) {
      return malformed("header " + std::to_string(head.headers.size() + 1) + " has no valid name");
    }
    if (head.headers.size() >= kMostHeaders) {
      return failure(MUSTER_E_RESOURCE_EXHAUSTED, Phase::wait,
                     "the answer has more than " + std::to_string(kMostHeaders) + " headers");
    }
    head.headers.emplace_back(name, trimmed(line.substr(colon + 1)));
  }
  return {};
}

Failed find_framing(std::string_view method, bool secret, Head &head) {
  bool chunked = false;
  bool has_length = false;
  std::string wrong;
  for (const auto &[name, value] : head.headers) {
    if (equal_ignoring_case(name, "Transfer-Encoding")) {
      each_member(value, [&, &value = value](std::string_view coding) {
        if (equal_ignoring_case(coding, "chunked") && !chunked) {
          chunked = true;
        } else if (!equal_ignoring_case(coding, "identity")) {
          wrong = "the transfer coding " + said(value, secret) + " is not known";
        }
      });
    } else if (equal_ignoring_case(name, "Content-Length")) {
      size_t members = 0;
      each_member(value, [&](std::string_view text) {
        ++members;
        uint64_t length = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
        if (error != std::errc() || end != text.data() + text.size()) {
          wrong = "its Content-Length is " + said(text, secret);
        } else if (has_length && length != head.length) {
          wrong = "it has two lengths, " + std::to_string(head.length) + " and " +
                  std::to_string(length);
        }
        head.length = length;
        has_length = true;
      });
      if (members == 0) wrong = "its Content-Length is empty";
    }
  }
  if (!wrong.empty()) return malformed(wrong);
  const bool no_body = method == "HEAD" || head.status == 204 || head.status == 304 ||
                       head.status / 100 == 1 || (method == "CONNECT" && head.status / 100 == 2);
  if (no_body) {
    head.framing = Framing::none;
  } else if (chunked) {
    head.framing = Framing::chunked;  // a length beside it does not count (RFC 9112, 6.3)
  } else if (has_length) {
    head.framing = Framing::length;
  } else {
    head.framing = Framing::until_close;
  }
  return {};
}

Failed find_coding(bool secret, Head &head) {
  std::string wrong;
  for (const auto &[name, value] : head.headers) {
    if (!equal_ignoring_case(name, "Content-Encoding")) continue;
    each_member(value, [&, &value = value](std::string_view coding) {
      if ((equal_ignoring_case(coding, "gzip") || equal_ignoring_case(coding, "x-gzip")) &&
          !head.gzip) {
        head.gzip = true;
      } else if (!equal_ignoring_case(coding, "identity")) {
        wrong = "the body is encoded as " + said(value, secret) + ", which was not asked for";
      }
    });
  }
  if (!wrong.empty() && head.framing != Framing::none) return malformed(wrong);
  return {};
}

}  // namespace

std::string_view Head::header(std::string_view name) const {
  for (const auto &[key, value] : headers) {
    if (equal_ignoring_case(key, name)) return value;
  }
  return {};
}

size_t find_head_end(std::string_view text, size_t from) {
  // An empty line, with or without its CR.
  for (size_t at = text.find('\n', from); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    if (text.substr(at + 1, 1) == "\n") return at + 2;
    if (text.substr(at + 1, 2) == "\r\n") return at + 3;
  }
  return std::string_view::npos;
}

Failed parse_head(std::string_view text, std::string_view method, bool secret, Head &head) {
  head = {};
  if (Failed failed = parse_status_line(take_line(text), secret, head)) return failed;
  if (Failed failed = parse_headers(text, head)) return failed;
  if (Failed failed = find_framing(method, secret, head)) return failed;
  if (Failed failed = find_coding(secret, head)) return failed;
  head.keep_alive = !head.http_1_0 && head.framing != Framing::until_close;
  for (const auto &[name, value] : head.headers) {
    if (!equal_ignoring_case(name, "Connection")) continue;
    each_member(value, [&](std::string_view option) {
      if (equal_ignoring_case(option, "close")) head.keep_alive = false;
    });
  }
  return {};
}

}  // namespace muster::http
