#include "plugins/support/google/subject_token.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "plugins/support/google/aws_subject.h"
#include "plugins/support/google/certificate_subject.h"
#include "plugins/support/google/token.h"
#include "plugins/support/http_status.h"
#include "plugins/support/program.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/text.h"
#include "plugins/support/unique_keys.h"

namespace muster::support::google {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr uint64_t kMaximum = uint64_t{1} << 20;
constexpr const char* kRunIt = "run that program in a shell: there it tells why";
constexpr const char* kAllow = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";

sdk::Failure refused(const CredentialFile& file, const std::string& why) {
  return {MUSTER_E_UNAUTHENTICATED, fmt::format("the credential file {}: {}", file.place, why), {}};
}

// Of a server that gives no such token: whether it says no, or is not there.
sdk::Failure refused_by(const CredentialFile& file, int64_t status, const std::string& server) {
  const int32_t code = status == 400 || status == 422 || status == 404 || status == 410
                           ? MUSTER_E_UNAUTHENTICATED
                           : code_of_status(status);
  return {code,
          fmt::format("the credential file {}: {} answers {} ({})", file.place, server, status,
                      status_in_words(status)),
          {{"http_status", std::to_string(status)}}};
}

// The token in what a file or a server said.
sdk::Result<std::string> token_in(const CredentialFile& file, std::string_view content,
                                  const std::string& where, sdk::Call& call) {
  std::string token;
  if (file.subject.json_field.empty()) {
    token = trimmed(content);
  } else {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    std::string_view found;
    if (parser.parse(content.data(), content.size()).get(root) ||
        root[file.subject.json_field].get(found)) {
      call.mark_secret(content);  // whatever it is
      return refused(file,
                     fmt::format("{} is no JSON with a text '{}'", where, file.subject.json_field));
    }
    if (const std::string key = repeated_key(root); !key.empty()) {
      call.mark_secret(content);
      return refused(file, fmt::format("{} has the key {} twice", where, quote(key)));
    }
    token = found;
  }
  call.mark_secret(token);
  if (token.empty()) return refused(file, where + " is empty");
  return token;
}

sdk::Result<std::string> from_file(const CredentialFile& file, sdk::Call& call) {
  const std::string& path = file.subject.file;
  // Not as a secret whole: of JSON only one field is, and a replay reads the rest.
  auto content = call.file(path, kMaximum);
  if (!content)
    return std::move(content).failure().with(
        "hint",
        fmt::format("the credential file {} names it as its credential_source", file.place));
  return token_in(file, *content, quote(path, 4096), call);
}

sdk::Result<std::string> from_url(const CredentialFile& file, sdk::Call& call) {
  const SubjectSource& source = file.subject;
  std::vector<muster_http_header_v1> headers;
  for (const auto& [name, value] : source.headers)
    headers.push_back({name.c_str(), value.data(), value.size()});
  muster_http_request_v1 request = {};
  request.struct_size = sizeof request;
  request.method = "GET";
  request.url = source.url.data();
  request.url_size = source.url.size();
  request.headers = headers.data();
  request.header_count = headers.size();
  request.maximum_body_size = kMaximum;
  request.flags = MUSTER_HTTP_SECRET_BODY;
  request.purpose = "get the external account's own token";
  request.timeout_ns = request_timeout_ns(call);
  auto response = call.send(request);
  if (!response) return std::move(response).failure();
  if (const int64_t status = response->status(); status != 200)
    return refused_by(file, status, fmt::format("its credential_source {}", quote_url(source.url)));
  if (response->body() == "REDACTED") return std::string(response->body());  // a replay's
  return token_in(file, response->body(), "the answer of " + quote_url(source.url), call);
}

// What an executable said: its token, "" when it is over, or a failure.
sdk::Result<std::string> executable_token(const CredentialFile& file, std::string_view output,
                                          sdk::Call& call) {
  const std::string who = fmt::format("the program {}", quote(file.subject.command, 200));
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  object root;
  if (parser.parse(output.data(), output.size()).get(document) || document.get_object().get(root)) {
    call.mark_secret(output);
    return refused(file, who + " printed no JSON object");
  }
  if (const std::string key = repeated_key(document); !key.empty()) {
    call.mark_secret(output);
    return refused(file, fmt::format("{} printed the key {} twice", who, quote(key)));
  }
  bool success = false;
  if (root["success"].get(success) || !success) {
    call.mark_secret(output);
    return refused(file, fmt::format("{} says that it failed; {}", who,
                                     quote_answer(output, AskedFor::kCredential)))
        .with("hint", kRunIt);
  }
  std::string_view token;
  const bool saml = file.subject_token_type.find("saml2") != std::string::npos;
  const char* key = saml ? "saml_response" : "id_token";
  if (root[key].get(token) || token.empty()) {
    call.mark_secret(output);
    return refused(file, fmt::format("{} printed no '{}'", who, key));
  }
  call.mark_secret(token);
  int64_t expires = 0;
  if (!root["expiration_time"].get(expires) && expires <= now_s(call)) return std::string();
  return std::string(token);
}

sdk::Result<std::string> from_executable(const CredentialFile& file, sdk::Call& call) {
  const SubjectSource& source = file.subject;
  if (call.variable(kAllow) != "1")
    return refused(file, fmt::format("it would run {}, and {} is not 1", quote(source.command, 200),
                                     kAllow))
        .with("hint", fmt::format("set {}=1 when you trust that file", kAllow));
  if (!source.output_file.empty()) {
    const auto kept = call.file(source.output_file, kMaximum, 0, true);
    if (kept) {
      auto token = executable_token(file, *kept, call);
      if (token && !token->empty()) return token;
    }
  }
  sdk::Program program;
  program.arguments = split_command(source.command);
  if (program.arguments.empty())
    return refused(file, fmt::format("its command {} has an open quote, or is empty",
                                     quote(source.command, 200)));
  const std::string& url = file.impersonation_url;
  const size_t email = url.rfind('/') + 1;
  program.environment = {
      "GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE=" + file.audience,
      "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE=" + file.subject_token_type,
      "GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE=0",
      "GOOGLE_EXTERNAL_ACCOUNT_REVOKE=0",
  };
  if (!url.empty())
    program.environment.push_back("GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL=" +
                                  url.substr(email, url.rfind(':') - email));
  if (!source.output_file.empty())
    program.environment.push_back("GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE=" + source.output_file);
  program.timeout_ns = request_timeout_ns(call);
  auto run = call.run(program);
  if (!run)
    return std::move(run).failure().with(
        "hint", fmt::format("the credential file {} names this program", file.place));
  hide_said(run->error_output, call);  // a token may stand there too
  if (run->exit_status != 0) {
    call.mark_secret(run->output);
    return refused(file, fmt::format("the program {} failed with exit status {}: {}",
                                     quote(source.command, 200), run->exit_status,
                                     quote_answer(run->error_output, AskedFor::kCredential)))
        .with("hint", kRunIt);
  }
  auto token = executable_token(file, run->output, call);
  if (token && token->empty())
    return refused(file, fmt::format("the program {} printed a token that has expired",
                                     quote(source.command, 200)));
  return token;
}

}  // namespace

std::vector<std::string> split_command(std::string_view command) {
  std::vector<std::string> out;
  bool inside = false;  // a word
  char quoted = 0;
  for (size_t at = 0; at < command.size(); ++at) {
    const char c = command[at];
    if (quoted == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    if (c == quoted) {
      quoted = 0;
    } else if (quoted == 0 && (c == '\'' || c == '"')) {
      quoted = c;
    } else if (c == '\\' && quoted != '\'' && at + 1 < command.size()) {
      out.back() += command[++at];
    } else {
      out.back() += c;
    }
  }
  if (quoted != 0) out.clear();
  return out;
}

sdk::Result<SubjectToken> subject_token(const CredentialFile& file, sdk::Call& call) {
  using Kind = SubjectSource::Kind;
  const auto alone = [](sdk::Result<std::string>&& text) -> sdk::Result<SubjectToken> {
    if (!text) return std::move(text).failure();
    return SubjectToken{*std::move(text), "", ""};
  };
  switch (file.subject.kind) {
    case Kind::kFile: return alone(from_file(file, call));
    case Kind::kUrl: return alone(from_url(file, call));
    case Kind::kExecutable: return alone(from_executable(file, call));
    case Kind::kAws: return alone(aws_subject_token(file, call));
    case Kind::kCertificate: return certificate_subject(file, call);
  }
  return refused(file, "it has no such credential_source");
}

std::vector<std::string> urls_asked(const SubjectSource& source, const sdk::Call& call) {
  if (source.kind == SubjectSource::Kind::kAws) return aws_urls_asked(source, call);
  if (source.kind == SubjectSource::Kind::kUrl) return {source.url};
  return {};
}

}  // namespace muster::support::google
