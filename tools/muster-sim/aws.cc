// AWS as federation needs it: the instance metadata service, and Signature Version 4 from the side of who verifies it.
#include "aws.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <rapidjson/document.h>

#include "json.h"
#include "tls_material.h"

namespace muster::sim {
namespace {

constexpr const char* kKeys = "/latest/meta-data/iam/security-credentials";
constexpr std::int64_t kSkew_s = 900;

std::string hex(const unsigned char* bytes, unsigned size) {
  std::string out;
  for (unsigned n = 0; n < size; ++n) out += fmt::format("{:02x}", bytes[n]);
  return out;
}

std::string hmac(const std::string& key, const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data(), &size);
  return {reinterpret_cast<const char*>(out.data()), size};
}

std::string digest(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), out.data(), &size, EVP_sha256(), nullptr);
  return hex(out.data(), size);
}

std::string decoded(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%' || at + 2 >= text.size()) {
      out += text[at];
      continue;
    }
    out += static_cast<char>(std::strtol(text.substr(at + 1, 2).c_str(), nullptr, 16));
    at += 2;
  }
  return out;
}

Answer plain(int status, std::string text) {
  Answer answer;
  answer.status = status;
  answer.content_type = "text/plain";
  answer.append(std::move(text));
  return answer;
}

// The text between two marks; "" when they are not there.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) return {};
  const auto begin = at + from.size();
  return text.substr(begin, std::min(text.find(to, begin), text.size()) - begin);
}

std::int64_t seconds_of(const std::string& date) {
  std::tm time{};
  const char* end = strptime(date.c_str(), "%Y%m%dT%H%M%SZ", &time);
  return end == nullptr || *end != '\0' ? 0 : timegm(&time);
}

}  // namespace

AwsMachine make_aws_machine() {
  AwsMachine out;
  out.secret_access_key = random_token();
  out.session_token = random_token() + "/+=";
  out.metadata_token = random_token();
  return out;
}

bool serves_aws(const std::string& path) { return path.starts_with("/latest/"); }

Answer answer_aws(const Call& call, const AwsMachine& machine) {
  if (call.path == "/latest/api/token") {
    if (call.method != "PUT") return plain(405, "Method Not Allowed");
    if (call.forwarded || std::atoi(call.aws_token_life.c_str()) < 1)
      return plain(400, "X-aws-ec2-metadata-token-ttl-seconds is needed");
    return plain(200, machine.metadata_token);
  }
  if (call.method != "GET") return plain(405, "Method Not Allowed");
  if (call.aws_token != machine.metadata_token) return plain(401, "Unauthorized");
  if (call.path == "/latest/meta-data/placement/availability-zone")
    return plain(200, machine.region + "b");
  if (call.path == kKeys || call.path == std::string(kKeys) + "/") return plain(200, machine.role);
  if (call.path != fmt::format("{}/{}", kKeys, machine.role)) return plain(404, "Not Found");
  JsonWriter out;
  out.open_object();
  out.member("Code", "Success");
  out.member("Type", "AWS-HMAC");
  out.member("AccessKeyId", machine.access_key_id);
  out.member("SecretAccessKey", machine.secret_access_key);
  out.member("Token", machine.session_token);
  out.close_object();
  return plain(200, out.str());
}

std::string judge_aws_token(const std::string& token, const std::string& audience,
                            const AwsMachine& machine, std::int64_t now) {
  rapidjson::Document request;
  request.Parse(decoded(token).c_str());
  if (!request.IsObject() || !request.HasMember("url") || !request["url"].IsString() ||
      !request.HasMember("method") || !request["method"].IsString() ||
      !request.HasMember("headers") || !request["headers"].IsArray())
    return "it is no request in JSON";
  std::map<std::string, std::string> headers;
  for (const auto& header : request["headers"].GetArray()) {
    if (!header.IsObject() || !header.HasMember("key") || !header["key"].IsString() ||
        !header.HasMember("value") || !header["value"].IsString())
      return "a header is no key and value";
    std::string name = header["key"].GetString();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    headers[name] = header["value"].GetString();
  }
  const std::string host = fmt::format("sts.{}.amazonaws.com", machine.region);
  const std::string query = "Action=GetCallerIdentity&Version=2011-06-15";
  if (request["url"].GetString() != fmt::format("https://{}?{}", host, query) ||
      headers["host"] != host || std::string(request["method"].GetString()) != "POST")
    return "it does not ask who asks";
  if (headers["x-goog-cloud-target-resource"] != audience) return "it is for another audience";
  if (headers["x-amz-security-token"] != machine.session_token)
    return "it lacks the role's session token";
  const std::string date = headers["x-amz-date"];
  if (std::abs(seconds_of(date) - now) > kSkew_s) return "Signature expired: " + date;

  const std::string authorization = headers["authorization"];
  const std::string names = between(authorization, "SignedHeaders=", ",");
  const std::string scope =
      fmt::format("{}/{}/sts/aws4_request", date.substr(0, 8), machine.region);
  if (!authorization.starts_with("AWS4-HMAC-SHA256 ") ||
      between(authorization, "Credential=", ",") != machine.access_key_id + "/" + scope)
    return "its Authorization is of another key or scope";
  std::string canonical = fmt::format("POST\n/\n{}\n", query);
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ';');)
    canonical += name + ":" + headers[name] + "\n";
  for (const char* needed : {"host", "x-amz-date", "x-amz-security-token"})
    if ((";" + names + ";").find(fmt::format(";{};", needed)) == std::string::npos)
      return fmt::format("'{}' is not signed", needed);
  canonical += fmt::format("\n{}\n{}", names, digest(""));
  std::string key = "AWS4" + machine.secret_access_key;
  for (const std::string& part :
       {date.substr(0, 8), machine.region, std::string("sts"), std::string("aws4_request")})
    key = hmac(key, part);
  const std::string signature =
      hmac(key, fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, scope, digest(canonical)));
  if (between(authorization, "Signature=", ",") !=
      hex(reinterpret_cast<const unsigned char*>(signature.data()),
          static_cast<unsigned>(signature.size())))
    return "The request signature we calculated does not match the signature you provided.";
  return {};
}

}  // namespace muster::sim
