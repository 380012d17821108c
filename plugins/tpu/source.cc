#include "plugins/tpu/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/support/google/metadata.h"
#include "plugins/support/json.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using support::quote;
using support::trimmed;

constexpr std::string_view kGrpc = "grpc://";
constexpr int64_t kDefaultPort = 8470;
constexpr const char* kEndpointsVariable = "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS";
constexpr const char* kHint =
    "-O tpu=NAME, or TPU_NAME; on a TPU VM and in a GKE pod with TPUs nothing is needed; "
    "gcloud compute tpus tpu-vm list --zone=-";

// Without blanks; "" where it is not set.
std::string variable(const sdk::Call& call, const char* name) {
  return std::string(trimmed(call.variable(name).value_or("")));
}

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (const std::string_view one = trimmed(list.substr(0, comma)); !one.empty())
      out.emplace_back(one);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return out;
}

sdk::Failure no_name(const std::string& said, const std::string& by) {
  sdk::Failure out{
      MUSTER_E_INVALID_ARGUMENT,
      fmt::format("{} says {}, which is no TPU's name: that has small letters, digits and '-'", by,
                  quote(said)),
      {{"hint", said.find_first_of(".:") == std::string::npos
                    ? "gcloud compute tpus tpu-vm list --zone=-"
                    : "an address has grpc:// before it: grpc://" + said}}};
  if (by == "the option tpu") out.details.emplace_back("option", "/tpu");
  return out;
}

// Names of nodes, addresses, or "local".
sdk::Result<Source> read_names(const std::vector<std::string>& texts, Source out) {
  if (texts.size() == 1 && texts[0] == "local") {
    out.kind = Source::Kind::kLocal;
    return out;
  }
  size_t addresses = 0;
  for (const std::string& text : texts) addresses += begins_with(text, kGrpc) ? 1 : 0;
  if (addresses > 0) {
    out.kind = Source::Kind::kEndpoints;
    for (const std::string& text : texts) {
      if (!begins_with(text, kGrpc)) return no_name(text, out.said_by);
      for (std::string& one : split(text)) out.names.push_back(std::move(one));
    }
    return out;
  }
  for (const std::string& text : texts)
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
      return no_name(text, out.said_by);
  for (size_t n = 1; n < texts.size(); ++n)
    if (std::find(texts.begin(), texts.begin() + static_cast<int64_t>(n), texts[n]) !=
        texts.begin() + static_cast<int64_t>(n))
      return sdk::Failure{
          MUSTER_E_INVALID_ARGUMENT,
          fmt::format("TPU {} is there twice: a slice has one place", quote(texts[n])),
          {{"option", "/tpu"}}};
  out.names = texts;
  return out;
}

// {"tpu_node_name": "plum", "project": "orchard", "zone": "us-central2-b"}
sdk::Result<Source> read_tpu_config(const std::string& text, Source out) {
  const simdjson::padded_string padded(text);
  const support::JsonSource json{std::string_view(padded.data(), padded.size()), "TPU_CONFIG"};
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(padded).get(root))
    return support::json_failure(json, error, nullptr);
  const auto text_of = [&](const char* key) {
    std::string_view value;
    return root[key].get_string().get(value) ? std::string() : std::string(trimmed(value));
  };
  const std::string name = text_of("tpu_node_name");
  if (name.empty())
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        "TPU_CONFIG has no tpu_node_name that is a text",
                        {{"hint", R"(TPU_CONFIG='{"tpu_node_name": "NAME", "zone": "ZONE"}')"}}};
  if (out.project.empty()) out.project = text_of("project");
  if (out.zone.empty()) out.zone = text_of("zone");
  return read_names({name}, std::move(out));
}

// The workers of another slice of a JobSet: its pods are called JOBSET-JOB-SLICE-WORKER.SUBDOMAIN. Nothing where these are not.
std::optional<std::string> in_slice(const std::string& host, size_t worker, int64_t own,
                                    int64_t wanted) {
  const size_t dot = std::min(host.find('.'), host.size());
  const std::string end = fmt::format("-{}-{}", own, worker);
  if (dot <= end.size() || host.compare(dot - end.size(), end.size(), end) != 0)
    return std::nullopt;
  return fmt::format("{}-{}-{}{}", host.substr(0, dot - end.size()), wanted, worker,
                     host.substr(dot));
}

struct Megascale {
  int64_t slices = 1, own = 0;
};

// The number of slices, and which is ours.
sdk::Result<Megascale> read_megascale(const sdk::Call& call) {
  Megascale out;
  const std::string slices = variable(call, "MEGASCALE_NUM_SLICES");
  const std::string own = variable(call, "MEGASCALE_SLICE_ID");
  if (slices.empty()) return out;
  const auto count = support::parse_digits(slices, MUSTER_TASKS_MAXIMUM);
  const auto number = support::parse_digits(own, MUSTER_TASKS_MAXIMUM);
  if (!count || *count == 0 || !number || *number >= *count)
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("MEGASCALE_NUM_SLICES is {} and MEGASCALE_SLICE_ID is {}: "
                                    "they name no slice",
                                    quote(slices), quote(own)),
                        {}};
  out.slices = *count;
  out.own = *number;
  return out;
}

}  // namespace

sdk::Result<Source> find_source(const Options& options, const sdk::Call& call) {
  Source out;
  out.project = options.project;
  out.zone = options.zone;
  if (!options.queued_resource.empty()) {
    out.kind = Source::Kind::kQueued;
    out.said_by = "the option queued_resource";
    out.names = {options.queued_resource};
    return out;
  }
  if (!options.tpu.empty()) {
    out.said_by = "the option tpu";
    return read_names(options.tpu, std::move(out));
  }
  if (const std::string text = variable(call, kEndpointsVariable); !text.empty()) {
    out.kind = Source::Kind::kEndpoints;
    out.said_by = kEndpointsVariable;
    out.names = split(text);
    return out;
  }
  if (const std::string text = variable(call, "TPU_NAME"); !text.empty()) {
    out.said_by = "TPU_NAME";
    return read_names({text}, std::move(out));
  }
  if (const std::string text = variable(call, "TPU_CONFIG"); !text.empty()) {
    out.said_by = "TPU_CONFIG";
    return read_tpu_config(text, std::move(out));
  }
  if (!variable(call, "TPU_WORKER_HOSTNAMES").empty()) {
    out.kind = Source::Kind::kGke;
    out.said_by = "TPU_WORKER_HOSTNAMES";
    return out;
  }
  const bool skip = !variable(call, "TPU_SKIP_MDS_QUERY").empty();
  if (!skip && support::google::Metadata::expected(call)) {
    out.kind = Source::Kind::kVm;
    out.said_by = "the metadata server";
    return out;
  }
  return sdk::Failure{
      MUSTER_E_NOT_FOUND,
      fmt::format(
          "nothing says which TPU it is: not the option tpu, not {}, TPU_NAME, TPU_CONFIG or "
          "TPU_WORKER_HOSTNAMES, and {}",
          kEndpointsVariable,
          skip ? "TPU_SKIP_MDS_QUERY says not to ask the metadata server"
               : "this is no machine of Google Cloud"),
      {{"hint", kHint}}};
}

sdk::Result<Answer> read_endpoints(const Source& source, const Options& options,
                                   const sdk::Host& host) {
  Answer out;
  out.wrong = MUSTER_E_INVALID_ARGUMENT;
  Slice& slice = out.slices.emplace_back();
  for (const std::string& text : source.names) {
    Worker worker;
    worker.host = begins_with(text, kGrpc) ? text.substr(kGrpc.size()) : text;
    // With a port of its own, or without one.
    if (const auto problem = host.address_problem(worker.host)) {
      worker.port = options.port != 0 ? options.port : kDefaultPort;
      if (host.address_problem(worker.host, worker.port))
        return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                            fmt::format("{}: {}", source.said_by, *problem),
                            {{"option", source.said_by == "the option tpu" ? "/tpu" : ""}}};
    }
    slice.workers.push_back(std::move(worker));
  }
  if (slice.workers.empty())
    return sdk::Failure{
        MUSTER_E_INVALID_ARGUMENT, fmt::format("{} has no address in it", source.said_by), {}};
  return out;
}

sdk::Result<Answer> read_gke(const Options& options, const sdk::Call& call) {
  const std::vector<std::string> hosts = split(variable(call, "TPU_WORKER_HOSTNAMES"));
  auto megascale = read_megascale(call);
  if (!megascale) return std::move(megascale).failure();
  const int64_t port = options.port != 0 ? options.port : kDefaultPort;
  for (const std::string& host : hosts)
    if (const auto problem = call.host().address_problem(host, port))
      return sdk::Failure{
          MUSTER_E_INVALID_ARGUMENT, fmt::format("TPU_WORKER_HOSTNAMES: {}", *problem), {}};
  Answer out;
  out.wrong = MUSTER_E_INVALID_ARGUMENT;
  out.master = false;
  out.megascale_address = variable(call, "MEGASCALE_COORDINATOR_ADDRESS");
  const std::string type = variable(call, "TPU_ACCELERATOR_TYPE");
  const std::string topology = variable(call, "TPU_TOPOLOGY");
  for (int64_t number = 0; number < megascale->slices; ++number) {
    Slice& slice = out.slices.emplace_back();
    slice.name = fmt::format("slice-{}", number);
    for (size_t n = 0; n < hosts.size(); ++n) {
      Worker worker;
      worker.port = port;
      const auto host = number == megascale->own ? std::optional<std::string>(hosts[n])
                                                 : in_slice(hosts[n], n, megascale->own, number);
      worker.name = host ? *host : worker_name(slice.name, n);
      worker.host = host.value_or("");
      if (!host)
        worker.missing = fmt::format(
            "TPU_WORKER_HOSTNAMES tells the hosts of slice {} alone, and not by names of a "
            "JobSet's "
            "pods: the kubernetes backend finds them all",
            megascale->own);
      slice.workers.push_back(std::move(worker));
    }
    describe(type, topology, slice);
  }
  const std::string id = variable(call, "TPU_WORKER_ID");
  if (id.empty()) return out;
  const auto worker = support::parse_digits(id, MUSTER_TASKS_MAXIMUM);
  if (!worker || *worker >= static_cast<int64_t>(hosts.size()))
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("TPU_WORKER_ID is {}, and TPU_WORKER_HOSTNAMES has {} host{}",
                                    quote(id), hosts.size(), hosts.size() == 1 ? "" : "s"),
                        {}};
  std::string evidence = "TPU_WORKER_ID is " + id;
  if (megascale->slices > 1)
    evidence += fmt::format(" and MEGASCALE_SLICE_ID is {}", megascale->own);
  out.own = Own{static_cast<size_t>(megascale->own), *worker, std::move(evidence)};
  return out;
}

}  // namespace muster::tpu
