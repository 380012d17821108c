#include "plugins/support/google/metadata.h"

#include <fmt/format.h>

#include "plugins/support/http_status.h"
#include "plugins/support/text.h"

namespace muster::support::google {
namespace {

constexpr const char* kProductName = "/sys/class/dmi/id/product_name";
constexpr int64_t kSecond_ns = 1'000'000'000;
constexpr uint64_t kMaximum = uint64_t{1} << 20;
constexpr const char* kFlavor = "Metadata-Flavor";
constexpr const char* kGoogle = "Google";

std::string variable(const sdk::Call& call, const char* name) {
  const auto value = call.variable(name);
  return value ? std::string(*value) : std::string();
}

}  // namespace

bool Metadata::expected(const sdk::Call& call) {
  if (!variable(call, "GCE_METADATA_HOST").empty() || !variable(call, "GCE_METADATA_ROOT").empty())
    return true;
  if (variable(call, "NO_GCE_CHECK") == "true") return false;
  const auto product = call.file(kProductName, 4096, 0, true);
  return product && trimmed(*product).substr(0, 6) == "Google";
}

std::string Metadata::host(const sdk::Call& call) {
  for (const char* name : {"GCE_METADATA_HOST", "GCE_METADATA_ROOT"})
    if (std::string host = variable(call, name); !host.empty()) return host;
  return "metadata.google.internal";
}

sdk::Request Metadata::request(const std::string& path, const char* purpose,
                               const sdk::Call& call) {
  sdk::Request out;
  out.url = fmt::format("http://{}/computeMetadata/v1/{}", host(call), path);
  out.headers = {{kFlavor, kGoogle}};
  out.purpose = purpose;
  out.flags = MUSTER_HTTP_NO_PROXY;
  return out;
}

bool Metadata::told(const sdk::Response& response) { return response.header(kFlavor) == kGoogle; }

bool Metadata::whole(const sdk::Response& response) {
  return response.header("Content-Length") || response.header("Transfer-Encoding");
}

sdk::Result<std::optional<std::string>> Metadata::get(const std::string& path, const char* purpose,
                                                      const sdk::Call& call, AskedFor asked) {
  const std::string server = host(call);
  if (!expected(call) && variable(call, "NO_GCE_CHECK") == "true")
    return sdk::Failure{
        MUSTER_E_UNAVAILABLE, "the metadata server is not asked, for NO_GCE_CHECK is 'true'", {}};
  const bool probing = !expected(call);
  sdk::Request request = Metadata::request(path, purpose, call);
  if (probing) request.flags |= MUSTER_HTTP_NO_RETRY;
  if (asked == AskedFor::kCredential) request.flags |= MUSTER_HTTP_SECRET_BODY;
  request.maximum_body_size = kMaximum;
  request.timeout_ns = (probing ? 1 : 10) * kSecond_ns;
  auto response = call.send(request);
  if (!response) return std::move(response).failure();
  const auto unusable = [&](int32_t code, const std::string& why) {
    return sdk::Failure{
        code,
        fmt::format("the metadata server {} {}", server, why),
        {{"http_status", std::to_string(response->status())}, {"endpoint", "http://" + server}}};
  };
  if (!told(*response))
    return unusable(MUSTER_E_UNAVAILABLE,
                    fmt::format("answers {} without Metadata-Flavor: Google, so it is not Google's",
                                response->status()));
  if (response->status() == 404) return std::optional<std::string>();
  if (const int64_t status = response->status(); status != 200)
    return unusable(
        // No configuration of the user's is behind a question that it does not take.
        status == 400 || status == 422 ? MUSTER_E_UNAVAILABLE : code_of_status(status),
        fmt::format("answers {} ({}): {}", status, status_in_words(status),
                    quote_answer(response->body(), asked)));
  if (!whole(*response))
    return unusable(MUSTER_E_DATA_LOSS,
                    "answers without a length: whether its text is whole cannot be told");
  return std::optional<std::string>(trimmed(response->body()));
}

}  // namespace muster::support::google
