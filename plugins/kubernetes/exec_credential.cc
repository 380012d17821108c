#include "plugins/kubernetes/exec_credential.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <simdjson.h>
#include <yaml-cpp/yaml.h>

#include "plugins/kubernetes/kubeconfig_yaml.h"
#include "plugins/support/base64.h"
#include "plugins/support/program.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/rfc3339.h"
#include "plugins/support/text.h"
#include "plugins/support/unique_keys.h"

namespace muster::kubernetes {
namespace {

using support::quote;

// A credential is not used in its last seconds: the request must still arrive with it.
constexpr int64_t kMargin_s = 10;
// A watch has no deadline that would end a program that hangs. One that may ask a person has longer.
constexpr int64_t kTime_ns = 60'000'000'000;
constexpr int64_t kTimeWithTerminal_ns = 300'000'000'000;

sdk::Failure refused(std::string message) {
  return {MUSTER_E_UNAUTHENTICATED, std::move(message), {}};
}

int64_t now(const sdk::Call& call) {
  const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
  return clock == nullptr ? 0 : clock->realtime_ns(call.get()) / 1'000'000'000;
}

// The text under a key; "" when it is absent or null. False: it is something else.
bool text_of(simdjson::dom::object object, const char* key, std::string& out) {
  simdjson::dom::element element;
  if (object[key].get(element) || element.is_null()) return true;
  std::string_view text;
  if (element.get(text)) return false;
  out = text;
  return true;
}

// As client-go tells the two apart.
bool is_json(std::string_view text) { return support::trimmed(text).starts_with('{'); }

// What was printed as JSON, with what simdjson needs behind it; "" when it is neither JSON nor YAML.
std::string json_of_output(std::string_view text) {
  std::string json;
  if (is_json(text)) {
    json = text;
  } else if (support::is_text(text)) {
    try {
      json = json_of(YAML::Load(std::string(text))).value_or("");
    } catch (const YAML::Exception&) {
      return "";
    }
  }
  json.reserve(json.size() + simdjson::SIMDJSON_PADDING);
  return json;
}

// The secrets as they stand in what was printed, which a recording keeps: JSON has many ways to write one text.
void mark_as_printed_json(std::string_view output, sdk::Call& call) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  for (const char* key : {"token", "clientKeyData"}) {
    std::string_view raw;
    if (!parser.iterate(output.data(), output.size(), output.size() + simdjson::SIMDJSON_PADDING)
             .get(document) &&
        !document["status"][key].raw_json_token().get(raw) && raw.size() > 2)
      call.mark_secret(raw.substr(1, raw.rfind('"') - 1));
  }
}

// The same of a program that printed YAML: a text of several lines stands there in pieces. Where the secrets do not stand there as
// they are, nothing of it may be kept.
void mark_as_printed_yaml(std::string_view output, const ExecCredential& credential,
                          sdk::Call& call) {
  std::vector<std::string> secrets;
  for (const std::string& secret : {credential.token, credential.key_pem})
    add_secret(secret, secrets);
  for (const std::string& secret : secrets) {
    call.mark_secret(secret);
    if (secret.find_first_of(" \n") == std::string::npos &&
        output.find(secret) == std::string_view::npos)
      call.mark_secret(output);
  }
}

// kubectl lets a credential program write to the terminal. An answer, a log and a recording live longer than a terminal's screen.
std::string unshown(const sdk::Run& run) {
  return support::quote_answer(run.error_output, support::AskedFor::kCredential);
}

bool interactive(const KubeExec& exec, const sdk::Call& call) {
  return exec.interactive_mode != "Never" && call.has_terminal();
}

}  // namespace

std::string exec_info(const KubeExec& exec, const KubeCluster& cluster, const std::string& ca_pem,
                      bool interactive) {
  rapidjson::StringBuffer out;
  rapidjson::Writer<rapidjson::StringBuffer> json(out);
  const auto text = [&](const std::string& value) {
    json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  json.StartObject();
  json.Key("kind");
  json.String("ExecCredential");
  json.Key("apiVersion");
  text(exec.api_version);
  json.Key("spec");
  json.StartObject();
  if (exec.provide_cluster_info) {
    json.Key("cluster");
    json.StartObject();
    json.Key("server");
    text(cluster.server);
    if (!cluster.tls_server_name.empty()) {
      json.Key("tls-server-name");
      text(cluster.tls_server_name);
    }
    if (cluster.insecure) {
      json.Key("insecure-skip-tls-verify");
      json.Bool(true);
    }
    if (!ca_pem.empty()) {
      json.Key("certificate-authority-data");
      text(support::base64_encode(ca_pem));
    }
    if (!cluster.proxy_url.empty()) {
      json.Key("proxy-url");
      text(cluster.proxy_url);
    }
    if (cluster.disable_compression) {
      json.Key("disable-compression");
      json.Bool(true);
    }
    json.Key("config");
    json.RawValue(cluster.exec_config.data(), cluster.exec_config.size(), rapidjson::kObjectType);
    json.EndObject();
  }
  json.Key("interactive");
  json.Bool(interactive);
  json.EndObject();
  json.EndObject();
  return {out.GetString(), out.GetSize()};
}

sdk::Result<ExecCredential> read_exec_credential(std::string_view text,
                                                 const std::string& api_version) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  simdjson::dom::object root, status;
  if (support::trimmed(text).empty()) return refused("printed nothing");
  const std::string json = json_of_output(text);
  if (parser.parse(json.data(), json.size(), false).get(document) || document.get(root))
    return refused("did not print an object, as JSON or YAML");
  if (const std::string key = support::repeated_key(document); !key.empty())
    return refused(fmt::format("printed the key {} twice", quote(key)));
  std::string kind, version;
  if (!text_of(root, "kind", kind) || kind != "ExecCredential")
    return refused("did not print an ExecCredential");
  if (!text_of(root, "apiVersion", version) || version != api_version)
    return refused(
        fmt::format("printed an ExecCredential of another apiVersion than {}", quote(api_version)));
  if (root["status"].get(status)) return refused("printed an ExecCredential without status");
  ExecCredential out;
  std::string expires;
  if (!text_of(status, "token", out.token) ||
      !text_of(status, "clientCertificateData", out.certificate_pem) ||
      !text_of(status, "clientKeyData", out.key_pem) ||
      !text_of(status, "expirationTimestamp", expires))
    return refused("printed an ExecCredential whose status has a field that is no text");
  if (out.certificate_pem.empty() != out.key_pem.empty())
    return refused("printed only one of clientCertificateData and clientKeyData");
  if (out.token.empty() && out.certificate_pem.empty())
    return refused("printed an ExecCredential with neither token nor client certificate");
  if (!expires.empty()) {
    out.expires = support::parse_rfc3339(expires);
    if (!out.expires) return refused("printed an expirationTimestamp that is no time (RFC 3339)");
  }
  return out;
}

sdk::Result<ExecCredential> exec_credential(const Chosen& chosen, const std::string& ca_pem,
                                            ExecCache& cache, bool anew, sdk::Call& call) {
  const KubeExec& exec = *chosen.user.exec;
  const std::string who =
      fmt::format("{}: user {}", exec.place.to_string(), quote(chosen.user_name));
  const bool terminal = interactive(exec, call);
  if (exec.interactive_mode == "Always" && !terminal)
    return sdk::Failure{
        MUSTER_E_FAILED_PRECONDITION,
        fmt::format("{}: the program {} asks its user (interactiveMode: Always), and standard "
                    "input is no terminal",
                    who, quote(exec.command)),
        {{"hint", "run this in a terminal, or give it credentials that need nobody"}}};

  sdk::Program program;
  program.arguments = {exec.command};
  program.arguments.insert(program.arguments.end(), exec.arguments.begin(), exec.arguments.end());
  for (const auto& [name, value] : exec.environment)
    program.environment.push_back(fmt::format("{}={}", name, value));
  program.environment.push_back("KUBERNETES_EXEC_INFO=" +
                                exec_info(exec, chosen.cluster, ca_pem, terminal));
  if (terminal) program.flags = MUSTER_PROCESS_TERMINAL;
  program.timeout_ns = terminal ? kTimeWithTerminal_ns : kTime_ns;

  std::string asked;
  for (const auto* texts : {&program.arguments, &program.environment})
    for (const std::string& text : *texts) asked += text + '\0';
  const auto mark = [&](const ExecCredential& credential) {
    call.mark_secret(credential.token);
    call.mark_secret(credential.key_pem);
  };
  const bool kept =
      cache.asked == asked && !anew &&
      (!cache.credential.expires || now(call) < *cache.credential.expires - kMargin_s);
  if (kept) {
    mark(cache.credential);
    return cache.credential;
  }
  cache = {};

  auto run = call.run(program);
  if (!run) {
    sdk::Failure failure = std::move(run).failure();
    const bool absent =
        failure.code == MUSTER_E_NOT_FOUND || failure.code == MUSTER_E_PERMISSION_DENIED;
    std::string hint = fmt::format("{} gets its credentials from it", who);
    if (absent && !exec.install_hint.empty())
      hint += "\n" + std::string(support::trimmed(exec.install_hint));
    if (failure.code == MUSTER_E_DEADLINE_EXCEEDED)
      hint += fmt::format(
          "; it has {} seconds, and no longer than the call: run it by hand to see what it waits "
          "for",
          program.timeout_ns / 1'000'000'000);
    return std::move(failure).with("hint", std::move(hint));
  }
  support::hide_said(run->error_output, call);  // whatever it is; a recording keeps it
  if (run->exit_status != 0) {
    call.mark_secret(run->output);
    return refused(fmt::format("{}: the program {} failed with exit status {}; {}", who,
                               quote(exec.command), run->exit_status, unshown(*run)))
        .with("hint", "run it by hand: it may want you to log in again");
  }
  auto credential = read_exec_credential(run->output, exec.api_version);
  if (!credential) {
    call.mark_secret(run->output);
    sdk::Failure failure = std::move(credential).failure();
    failure.message =
        fmt::format("{}: the program {} {}", who, quote(exec.command), failure.message);
    if (!run->error_output.empty()) failure.message += "; " + unshown(*run);
    return std::move(failure).with("hint", "run it by hand to see what it prints");
  }
  mark(*credential);
  if (is_json(run->output)) {
    mark_as_printed_json(run->output, call);
  } else {
    mark_as_printed_yaml(run->output, *credential, call);
  }
  if (run->keep) cache = {asked, *credential};
  return credential;
}

}  // namespace muster::kubernetes
