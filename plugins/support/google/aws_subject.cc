#include "plugins/support/google/aws_subject.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "plugins/support/google/aws_signature.h"
#include "plugins/support/google/token.h"
#include "plugins/support/http_status.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/text.h"
#include "plugins/support/unique_keys.h"

namespace muster::support::google {
namespace {

constexpr uint64_t kMaximum = uint64_t{1} << 16;
constexpr int64_t kTimeout_ns = 10'000'000'000;
constexpr const char* kSessionLife_s = "300";  // it is used at once
constexpr const char* kRedacted = "REDACTED";  // a replay's
constexpr std::string_view kRegionMark = "{region}";

std::string variable(const sdk::Call& call, const char* name) {
  const auto value = call.variable(name);
  return value ? std::string(*value) : std::string();
}

std::string region_variable(const sdk::Call& call) {
  const std::string region = variable(call, "AWS_REGION");
  return region.empty() ? variable(call, "AWS_DEFAULT_REGION") : region;
}

std::optional<AwsKeys> variable_keys(const sdk::Call& call) {
  AwsKeys keys{variable(call, "AWS_ACCESS_KEY_ID"), variable(call, "AWS_SECRET_ACCESS_KEY"),
               variable(call, "AWS_SESSION_TOKEN")};
  if (keys.access_key_id.empty() || keys.secret_access_key.empty()) return std::nullopt;
  return keys;
}

// One header's line, or one segment of a path.
bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7F && c != '/' && c != '?' && c != '#';
  });
}

bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

class Aws {
 public:
  Aws(const CredentialFile& file, sdk::Call& call)
      : file_(file), source_(file.subject), call_(call) {}

  sdk::Result<std::string> token() {
    auto region = find_region();
    if (!region) return std::move(region).failure();
    auto keys = find_keys();
    if (!keys) return std::move(keys).failure();
    std::string url = source_.aws_verification_url;
    for (size_t at = url.find(kRegionMark); at != std::string::npos; at = url.find(kRegionMark))
      url.replace(at, kRegionMark.size(), *region);
    AwsRequest request{"POST", url, {{"x-goog-cloud-target-resource", file_.audience}}};
    // sts.us-east-2.amazonaws.com and sts-fips.us-east-2.amazonaws.com are of the service sts.
    std::string_view service = https_host(url);
    service = service.substr(0, service.find('.'));
    constexpr std::string_view kFips = "-fips";
    if (service.size() > kFips.size() && service.substr(service.size() - kFips.size()) == kFips)
      service.remove_suffix(kFips.size());
    const auto headers = sign_for_aws(request, *keys, *region, service, now_s(call_));
    std::string text = percent_encoded(serialized(url, headers));
    call_.mark_secret(text);
    return text;
  }

 private:
  using Headers = std::map<std::string, std::string>;

  static std::string serialized(const std::string& url, const Headers& headers) {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> out(buffer);
    const auto member = [&](const char* key, const std::string& value) {
      out.Key(key);
      out.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    };
    out.StartObject();
    member("url", url);
    member("method", "POST");
    out.Key("headers");
    out.StartArray();
    for (const auto& [name, value] : headers) {
      out.StartObject();
      member("key", name);
      member("value", value);
      out.EndObject();
    }
    out.EndArray();
    out.EndObject();
    return {buffer.GetString(), buffer.GetSize()};
  }

  sdk::Failure refused(const std::string& why) const {
    return {
        MUSTER_E_UNAUTHENTICATED,
        fmt::format("the credential file {}: {}", file_.place, why),
        {{"hint",
          "on AWS outside of EC2 set AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"}}};
  }

  // What the metadata service answers, whose session token is asked for once.
  sdk::Result<std::string> ask(const std::string& url, const char* purpose, bool secret) {
    if (!source_.aws_session_url.empty() && session_.empty()) {
      auto session = send("PUT", source_.aws_session_url, "X-aws-ec2-metadata-token-ttl-seconds",
                          kSessionLife_s, "begin a session with AWS's metadata service", true);
      if (!session) return session;
      call_.mark_secret(*session);
      if (!is_word(*session))
        return refused(quote_url(source_.aws_session_url) + " gives no token");
      session_ = *std::move(session);
    }
    return send("GET", url, "X-aws-ec2-metadata-token", session_, purpose, secret);
  }

  sdk::Result<std::string> send(const char* method, const std::string& url, const char* header,
                                std::string_view value, const char* purpose, bool secret) {
    const muster_http_header_v1 line = {header, value.data(), value.size()};
    muster_http_request_v1 request = {};
    request.struct_size = sizeof request;
    request.method = method;
    request.url = url.data();
    request.url_size = url.size();
    request.headers = &line;
    request.header_count = value.empty() ? 0 : 1;
    request.maximum_body_size = kMaximum;
    request.flags =
        MUSTER_HTTP_NO_PROXY | MUSTER_HTTP_IDEMPOTENT | (secret ? MUSTER_HTTP_SECRET_BODY : 0);
    request.purpose = purpose;
    request.timeout_ns = kTimeout_ns;
    call_.progress("AWS's metadata service");
    auto response = call_.send(request);
    if (!response)
      return std::move(response).failure().with(
          "hint",
          fmt::format("the credential file {} names it as AWS's metadata service", file_.place));
    if (const int64_t status = response->status(); status != 200) {
      sdk::Failure failure =
          refused(fmt::format("AWS's metadata service answers {} ({}) to {} {}", status,
                              status_in_words(status), method, quote_url(url)));
      // That it knows no such thing means that there are no credentials.
      if (status != 400 && status != 404 && status != 410 && status != 422)
        failure.code = code_of_status(status);
      return std::move(failure).with("http_status", std::to_string(status));
    }
    return std::string(trimmed(response->body()));
  }

  sdk::Result<std::string> find_region() {
    std::string region = region_variable(call_);
    if (region.empty()) {
      if (source_.aws_region_url.empty())
        return refused("neither AWS_REGION nor its 'region_url' says the region");
      auto zone = ask(source_.aws_region_url, "find the region of AWS", false);
      if (!zone) return zone;
      region = zone->substr(0, zone->size() - (zone->empty() ? 0 : 1));  // us-east-2b
      if (!is_region(region))
        return refused(fmt::format("{} answers with no zone of AWS: {}",
                                   quote_url(source_.aws_region_url),
                                   quote_answer(*zone, AskedFor::kCredential)));
    }
    if (!is_region(region)) return refused(fmt::format("{} is no region of AWS", quote(region)));
    return region;
  }

  sdk::Result<AwsKeys> find_keys() {
    if (auto keys = variable_keys(call_)) {
      call_.mark_secret(keys->secret_access_key);
      if (!keys->session_token.empty()) call_.mark_secret(keys->session_token);
      return *std::move(keys);
    }
    if (source_.aws_keys_url.empty())
      return refused(
          "neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY nor its 'url' say the keys");
    auto role = ask(source_.aws_keys_url, "find the role of this machine at AWS", false);
    if (!role) return std::move(role).failure();
    const std::string name = role->substr(0, role->find('\n'));
    if (!is_word(name)) return refused("this machine has no role at AWS");
    auto said = ask(source_.aws_keys_url + "/" + name, "get the keys of that role", true);
    if (!said) return std::move(said).failure();
    if (*said == kRedacted) return AwsKeys{kRedacted, kRedacted, kRedacted};
    return read_keys(*said);
  }

  sdk::Result<AwsKeys> read_keys(std::string_view said) const {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    std::string_view id, secret, session;
    if (parser.parse(said.data(), said.size()).get(root) || root["AccessKeyId"].get(id) ||
        root["SecretAccessKey"].get(secret) || id.empty() || secret.empty()) {
      call_.mark_secret(said);
      return refused("AWS's metadata service answers without keys");
    }
    if (const std::string key = repeated_key(root); !key.empty()) {
      call_.mark_secret(said);
      return refused(
          fmt::format("AWS's metadata service answers with the key {} twice", quote(key)));
    }
    if (root["Token"].get(session)) session = {};
    call_.mark_secret(secret);
    if (!session.empty()) call_.mark_secret(session);
    return AwsKeys{std::string(id), std::string(secret), std::string(session)};
  }

  const CredentialFile& file_;
  const SubjectSource& source_;
  sdk::Call& call_;
  std::string session_;
};

}  // namespace

sdk::Result<std::string> aws_subject_token(const CredentialFile& file, sdk::Call& call) {
  return Aws(file, call).token();
}

std::vector<std::string> aws_urls_asked(const SubjectSource& source, const sdk::Call& call) {
  std::vector<std::string> out;
  if (region_variable(call).empty()) out.push_back(source.aws_region_url);
  if (!variable_keys(call)) {
    out.push_back(source.aws_keys_url);
    out.push_back(source.aws_keys_url + "/ROLE");
  }
  if (!out.empty() && !source.aws_session_url.empty())
    out.insert(out.begin(), source.aws_session_url);
  return out;
}

}  // namespace muster::support::google
