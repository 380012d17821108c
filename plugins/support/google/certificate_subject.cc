#include "plugins/support/google/certificate_subject.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/support/base64.h"
#include "plugins/support/text.h"
#include "plugins/support/unique_keys.h"

namespace muster::support::google {
namespace {

constexpr uint64_t kMaximum = uint64_t{1} << 20;
constexpr const char* kVariable = "GOOGLE_API_CERTIFICATE_CONFIG";

std::string variable(const sdk::Call& call, const char* name) {
  const auto value = call.variable(name);
  return value ? std::string(*value) : std::string();
}

class Reader {
 public:
  Reader(const CredentialFile& file, sdk::Call& call) : file_(file), call_(call) {}

  sdk::Result<SubjectToken> read() {
    const std::string config = config_path();
    auto said = content(config, "names it as its certificate configuration");
    if (!said) return std::move(said).failure();
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    std::string_view certificate_path, key_path;
    if (parser.parse(said->data(), said->size()).get(root) ||
        root.at_pointer("/cert_configs/workload/cert_path").get(certificate_path) ||
        root.at_pointer("/cert_configs/workload/key_path").get(key_path) ||
        certificate_path.empty() || key_path.empty())
      return refused(
          fmt::format("{} is no JSON with 'cert_path' and 'key_path' of a workload in "
                      "'cert_configs'",
                      quote(config, 4096)));
    if (const std::string twice = repeated_key(root); !twice.empty())
      return refused(fmt::format("{} has the key {} twice", quote(config, 4096), quote(twice)));
    auto certificate = content(std::string(certificate_path), "is of this certificate");
    if (!certificate) return std::move(certificate).failure();
    auto key = call_.file(std::string(key_path), kMaximum, MUSTER_FILE_SECRET);
    if (!key) return std::move(key).failure().with("hint", quote(config, 4096) + " names it");
    call_.mark_secret(*key);
    auto chain = certificates(*certificate, std::string(certificate_path));
    if (!chain) return std::move(chain).failure();
    chain->resize(1);  // what follows it is told by the chain alone
    if (!file_.subject.trust_chain.empty())
      if (auto status = add_chain(*chain); !status) return std::move(status).failure();
    SubjectToken out;
    for (const std::string& one : *chain)
      out.text += fmt::format("{}\"{}\"", out.text.empty() ? "[" : ",", one);
    out.text += "]";
    out.certificate_pem = *certificate;
    out.key_pem = *key;
    return out;
  }

 private:
  sdk::Failure refused(const std::string& why) const {
    return {
        MUSTER_E_UNAUTHENTICATED, fmt::format("the credential file {}: {}", file_.place, why), {}};
  }

  sdk::Result<std::string_view> content(const std::string& path, const char* why) const {
    auto said = call_.file(path, kMaximum);
    if (said) return said;
    return std::move(said).failure().with(
        "hint", fmt::format("the credential file {} {}", file_.place, why));
  }

  std::string config_path() const {
    if (!file_.subject.certificate_config.empty()) return file_.subject.certificate_config;
    if (std::string path = variable(call_, kVariable); !path.empty()) return path;
    const std::string folder = variable(call_, "CLOUDSDK_CONFIG");
    return (folder.empty() ? "~/.config/gcloud" : folder) + "/certificate_config.json";
  }

  // Each certificate of a PEM text, as its DER in base64; at least one.
  sdk::Result<std::vector<std::string>> certificates(std::string_view pem,
                                                     const std::string& path) const {
    constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
    constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
    std::vector<std::string> out;
    for (size_t at = pem.find(kBegin); at != std::string_view::npos; at = pem.find(kBegin, at)) {
      at += kBegin.size();
      const size_t end = pem.find(kEnd, at);
      const auto der =
          end == std::string_view::npos ? std::nullopt : base64_decode(pem.substr(at, end - at));
      if (!der || der->empty())
        return refused(fmt::format("{} has a certificate that is no PEM", quote(path, 4096)));
      out.push_back(base64_encode(*der));
    }
    if (out.empty()) return refused(fmt::format("{} has no certificate in PEM", quote(path, 4096)));
    return out;
  }

  sdk::Status add_chain(std::vector<std::string>& chain) const {
    const std::string& path = file_.subject.trust_chain;
    auto pem = content(path, "names it as its trust chain");
    if (!pem) return std::move(pem).failure();
    auto further = certificates(*pem, path);
    if (!further) return std::move(further).failure();
    for (size_t n = 0; n < further->size(); ++n) {
      const bool own = (*further)[n] == chain.front();
      if (own && n > 0)
        return refused(fmt::format("{} has the workload's certificate, and not at its beginning",
                                   quote(path, 4096)));
      if (!own) chain.push_back((*further)[n]);
    }
    return {};
  }

  const CredentialFile& file_;
  sdk::Call& call_;
};

}  // namespace

sdk::Result<SubjectToken> certificate_subject(const CredentialFile& file, sdk::Call& call) {
  return Reader(file, call).read();
}

}  // namespace muster::support::google
