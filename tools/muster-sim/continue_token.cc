// Continue tokens, in the form the real server uses with two keys more.
#include "continue_token.h"

#include <chrono>
#include <optional>

#include <rapidjson/document.h>

#include "json.h"

namespace muster::sim {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string to_base64url(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    held += 8;
    while (held >= 6) {
      held -= 6;
      out += kDigits[(bits >> held) & 63];
    }
  }
  if (held > 0) out += kDigits[(bits << (6 - held)) & 63];
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const auto digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>((bits >> held) & 255);
    }
  }
  return out;
}

}  // namespace

std::string ContinueToken::encode() const {
  JsonWriter out;
  out.open_object();
  out.member("v", "meta.k8s.io/v1");
  out.member("rv", version);
  out.member("start", start);
  out.member("page", page);
  out.member("issued", issued_ms);
  out.close_object();
  return to_base64url(out.view());
}

Result<ContinueToken> ContinueToken::decode(std::string_view text) {
  const auto json = from_base64url(text);
  if (!json) return Failure{"continue key is not valid: illegal base64 data"};
  rapidjson::Document document;
  // Iterative, so that hostile nesting costs no stack.
  document.Parse<rapidjson::kParseIterativeFlag>(json->data(), json->size());
  if (document.HasParseError() || !document.IsObject())
    return Failure{"continue key is not valid: not an object"};
  const auto number = [&](const char* key, std::int64_t& value) {
    const auto member = document.FindMember(key);
    if (member == document.MemberEnd() || !member->value.IsInt64()) return false;
    value = member->value.GetInt64();
    return true;
  };
  const auto version = document.FindMember("v");
  const auto start = document.FindMember("start");
  ContinueToken token;
  if (version == document.MemberEnd() || !version->value.IsString() ||
      start == document.MemberEnd() || !start->value.IsString() ||
      std::string_view(version->value.GetString()) != "meta.k8s.io/v1" ||
      !number("rv", token.version) || !number("page", token.page) ||
      !number("issued", token.issued_ms)) {
    return Failure{"continue key is not valid: server does not recognize this encoded version"};
  }
  token.start.assign(start->value.GetString(), start->value.GetStringLength());
  return token;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace muster::sim
