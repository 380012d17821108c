// The query parameters of a list.
#include "list_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace muster::sim {
namespace {

constexpr std::array<std::string_view, 11> kPodFields = {"metadata.name",
                                                         "metadata.namespace",
                                                         "spec.nodeName",
                                                         "spec.restartPolicy",
                                                         "spec.schedulerName",
                                                         "spec.serviceAccountName",
                                                         "spec.hostNetwork",
                                                         "status.phase",
                                                         "status.podIP",
                                                         "status.podIPs",
                                                         "status.nominatedNodeName"};

std::string field_of(const Pod& pod, std::string_view field) {
  if (field == "metadata.name") return pod.name;
  if (field == "metadata.namespace") return pod.name_space;
  if (field == "spec.nodeName") return pod.node;
  if (field == "spec.restartPolicy") return pod.restart_policy;
  if (field == "spec.schedulerName") return pod.scheduler;
  if (field == "spec.serviceAccountName") return pod.service_account;
  if (field == "spec.hostNetwork") return pod.host_network ? "true" : "false";
  if (field == "status.phase") return pod.phase;
  if (field == "status.podIP") return pod.ips.empty() ? "" : pod.ips.front();
  if (field == "status.nominatedNodeName") return pod.nominated_node;
  return {};
}

std::optional<std::int64_t> to_number(std::string_view s) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (s.empty() || error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

Status invalid_options(const std::vector<std::pair<std::string, std::string>>& causes,
                       std::string_view field = "resourceVersionMatch") {
  Status status;
  status.code = 422;
  status.reason = "Invalid";
  status.group = "meta.k8s.io";
  status.kind = "ListOptions";
  status.causes = causes;
  std::vector<std::string> texts;
  texts.reserve(causes.size());
  for (const auto& [reason, message] : causes)
    texts.push_back(fmt::format("{}: {}", field, message));
  const auto all = fmt::format("{}", fmt::join(texts, ", "));
  status.message = fmt::format("ListOptions.meta.k8s.io \"\" is invalid: {}",
                               texts.size() > 1 ? "[" + all + "]" : all);
  return status;
}

// The rules about resourceVersionMatch, in the real server's words.
std::vector<std::pair<std::string, std::string>> match_mistakes(const std::string& match,
                                                                const std::string& version,
                                                                bool continues) {
  std::vector<std::pair<std::string, std::string>> causes;
  const auto forbidden = [&](std::string_view why) {
    causes.emplace_back("FieldValueForbidden", fmt::format("Forbidden: {}", why));
  };
  if (match.empty()) return causes;
  if (version.empty())
    forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (continues) forbidden("resourceVersionMatch is forbidden when continue is provided");
  if (match != "Exact" && match != "NotOlderThan") {
    causes.emplace_back(
        "FieldValueNotSupported",
        fmt::format(
            "Unsupported value: \"{}\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
            match));
  }
  if (match == "Exact" && version == "0") {
    forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  return causes;
}

Status too_large_version(std::int64_t asked, std::int64_t current) {
  Status status;
  status.code = 504;
  status.reason = "Timeout";
  status.message =
      fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current);
  status.causes.emplace_back("ResourceVersionTooLarge", "Too large resource version");
  status.retry_after = 1;
  return status;
}

Status expired_version(std::int64_t asked) {
  Status status;
  status.code = 410;
  status.reason = "Expired";
  status.message = fmt::format("The resourceVersion for the provided list is too old. ({})", asked);
  return status;
}

// A 410 for the token, with a fresh one that goes on from the same key without the old state.
Status expired_token(const ContinueToken& token) {
  const ContinueToken fresh{-1, token.start, token.page, now_ms()};
  Status status;
  status.code = 410;
  status.reason = "Expired";
  status.fresh_continue = fresh.encode();
  status.message =
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list "
      "without the continue parameter, or use the continue token in this response to retrieve the "
      "remainder of the "
      "results. Continuing with the provided token results in an inconsistent list - objects that "
      "were created, "
      "modified, or deleted between the time the first chunk was returned and now may show up in "
      "the list.";
  return status;
}

// Which state a list is of; also drops a limit where the real server does.
std::optional<Status> choose_state(const std::string& version_text, const std::string& match,
                                   const History& history, ListOptions& out) {
  const auto now = history.now();
  out.state = now;
  if (version_text.empty()) return std::nullopt;
  const auto version = to_number(version_text);
  if (!version || *version < 0) {
    return bad_request(
        fmt::format("invalid resource version: strconv.ParseUint: parsing \"{}\": invalid syntax",
                    version_text));
  }
  if (*version == 0) {
    out.limit = 0;  // answered from the cache, which does not page
    return std::nullopt;
  }
  if (*version > now->version()) return too_large_version(*version, now->version());
  const bool exactly = match == "Exact" || (match.empty() && out.limit > 0);
  if (!exactly) return std::nullopt;
  out.state = history.at(*version);
  if (out.state == nullptr) return expired_version(*version);
  return std::nullopt;
}

// labelSelector and fieldSelector.
std::optional<Status> read_selectors(const Call& call, ListOptions& out) {
  auto labels = LabelSelector::parse(call.parameter("labelSelector"));
  if (!labels) return bad_request(labels.error());
  out.labels = std::move(*labels);

  auto fields = parse_field_selector(call.parameter("fieldSelector"));
  if (!fields) return bad_request(fields.error());
  for (const auto& term : *fields) {
    if (std::find(kPodFields.begin(), kPodFields.end(), term.field) == kPodFields.end()) {
      return bad_request(fmt::format("field label not supported: {}", term.field));
    }
  }
  out.fields = std::move(*fields);
  return std::nullopt;
}

bool is_true(const std::string& text) { return text == "1" || text == "true"; }

}  // namespace

Status bad_request(std::string message) {
  Status status;
  status.code = 400;
  status.reason = "BadRequest";
  status.message = std::move(message);
  return status;
}

std::variant<ListOptions, Status> read_list_options(const Call& call, const History& history,
                                                    std::int64_t page_life_ms) {
  ListOptions out;
  if (auto refusal = read_selectors(call, out)) return *refusal;

  if (const auto text = call.parameter("limit"); !text.empty()) {
    const auto limit = to_number(text);
    if (!limit)
      return bad_request(fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", text));
    out.limit = std::max<std::int64_t>(0, *limit);
  }

  const auto version = call.parameter("resourceVersion");
  const auto match = call.parameter("resourceVersionMatch");
  const auto token_text = call.parameter("continue");
  if (const auto mistakes = match_mistakes(match, version, !token_text.empty());
      !mistakes.empty()) {
    return invalid_options(mistakes);
  }

  if (token_text.empty()) {
    if (auto refusal = choose_state(version, match, history, out)) return *refusal;
    return out;
  }

  if (!version.empty() && version != "0") {
    return bad_request("specifying resource version is not allowed when using continue");
  }
  auto token = ContinueToken::decode(token_text);
  if (!token) return bad_request(token.error());
  if (token->version == -1) {
    out.state = history.now();
  } else {
    out.state = history.at(token->version);
    const bool old = now_ms() - token->issued_ms > page_life_ms;
    if (old || out.state == nullptr || out.state->version() != token->version)
      return expired_token(*token);
  }
  out.token = std::move(*token);
  return out;
}

std::variant<WatchOptions, Status> read_watch_options(const Call& call, const History& history,
                                                      bool streaming_lists) {
  WatchOptions out;
  if (auto refusal = read_selectors(call, out.select)) return *refusal;
  out.select.state = history.now();
  out.bookmarks = is_true(call.parameter("allowWatchBookmarks"));

  if (const auto text = call.parameter("timeoutSeconds"); !text.empty()) {
    out.seconds = to_number(text);
    if (!out.seconds)
      return bad_request(fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", text));
  }
  const auto match = call.parameter("resourceVersionMatch");
  const auto send = call.parameter("sendInitialEvents");
  if (!send.empty() && !streaming_lists) {
    return invalid_options({{"FieldValueForbidden",
                             "Forbidden: sendInitialEvents is forbidden for watch unless the "
                             "WatchList feature gate is "
                             "enabled"}},
                           "sendInitialEvents");
  }
  if (!send.empty() && match != "NotOlderThan") {
    return invalid_options(
        {{"FieldValueForbidden",
          "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"}});
  }
  if (send.empty() && !match.empty()) {
    return invalid_options(
        {{"FieldValueForbidden",
          "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
          "provided"}});
  }

  const auto version = call.parameter("resourceVersion");
  out.initial_events = is_true(send) || (send.empty() && (version.empty() || version == "0"));
  out.end_of_initial_events = is_true(send) && out.bookmarks;
  if (version.empty() || version == "0") return out;
  const auto number = to_number(version);
  if (!number || *number < 0) {
    return bad_request(fmt::format(
        "invalid resource version: strconv.ParseUint: parsing \"{}\": invalid syntax", version));
  }
  if (*number > history.now()->version())
    return too_large_version(*number, history.now()->version());
  out.version = *number;
  if (out.initial_events) return out;  // at least that version: the present one
  out.select.state = history.at(*number);
  out.too_old = out.select.state == nullptr;
  return out;
}

bool selected(const ListOptions& options, const Pod& pod) {
  if (!options.labels.empty() && !options.labels.matches(pod.labels)) return false;
  return std::all_of(options.fields.begin(), options.fields.end(), [&](const FieldTerm& term) {
    if (term.field == "status.podIPs") {
      const bool has = std::find(pod.ips.begin(), pod.ips.end(), term.value) != pod.ips.end();
      return has == term.equal;
    }
    return (field_of(pod, term.field) == term.value) == term.equal;
  });
}

bool selected(const ListOptions& options, const Object& object) {
  return options.labels.matches(object.labels) &&
         std::all_of(options.fields.begin(), options.fields.end(), [&](const FieldTerm& term) {
           const std::string& value =
               term.field == "metadata.name" ? object.name : object.name_space;
           return (value == term.value) == term.equal;
         });
}

}  // namespace muster::sim
