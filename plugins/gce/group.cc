#include "plugins/gce/group.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

#include "plugins/support/google/pages.h"
#include "plugins/support/google/place.h"
#include "plugins/support/json_at.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/strict_json.h"
#include "plugins/support/text.h"

namespace muster::gce {
namespace {

using simdjson::dom::element;
using support::plain_answer;
using support::quote;
using support::StrictJson;
using support::google::last_segment;

constexpr size_t kNameMaximum = 63;

struct Words {
  const char* word;
  const char* meaning;
};

// Actions of a managed group during which a member is no task. VERIFYING and REFRESHING are of one that runs.
constexpr std::array<Words, 10> kActions = {{
    {"CREATING", "being created"},
    {"CREATING_WITHOUT_RETRIES", "being created"},
    {"RECREATING", "being recreated"},
    {"DELETING", "being deleted by its group"},
    {"ABANDONING", "being abandoned by its group"},
    {"RESTARTING", "being restarted"},
    {"RESUMING", "being resumed"},
    {"STARTING", "being started"},
    {"STOPPING", "being stopped by its group"},
    {"SUSPENDING", "being suspended by its group"},
}};

constexpr std::array<Words, 9> kStatuses = {{
    {"PROVISIONING", "resources are being found for it"},
    {"STAGING", "it is about to boot"},
    {"STOPPING", "it is being stopped"},
    {"STOPPED", "it is stopped"},
    {"SUSPENDING", "it is being suspended"},
    {"SUSPENDED", "it is suspended"},
    {"REPAIRING", "it failed and is being repaired"},
    {"TERMINATED", "it is stopped"},
    {"DEPROVISIONING", "its resources are being freed"},
}};

template <typename Table>
std::string meaning_of(const Table& table, std::string_view word) {
  for (const Words& one : table)
    if (one.word == word) return one.meaning;
  return "";
}

std::string why_not_running(const std::string& status, const std::string& message) {
  if (status == "RUNNING") return "";
  if (status.empty()) return "it has no status yet";
  const std::string meaning = meaning_of(kStatuses, status);
  std::string out = meaning.empty() ? plain_answer(status) : fmt::format("{}: {}", status, meaning);
  if (!message.empty()) out += fmt::format(" ({})", plain_answer(message, 200));
  return out;
}

}  // namespace

const char* const kManagedFields =
    "nextPageToken,managedInstances(instance,instanceStatus,currentAction,lastAttempt/errors/"
    "errors(code,message),instanceHealth/detailedHealthState,version/instanceTemplate)";
const char* const kMemberFields = "nextPageToken,items(instance,status)";

sdk::Result<GroupPage> read_group(std::string_view json, bool managed) {
  const auto wrong = [](std::string_view why) {
    return sdk::Failure{
        MUSTER_E_DATA_LOSS,
        fmt::format("Compute Engine's list of a group's members cannot be understood: {}", why),
        {}};
  };
  simdjson::dom::parser parser;
  element root;
  if (const std::string why = support::parse_object(json, parser, root); !why.empty())
    return wrong(why);
  GroupPage out;
  std::string odd;
  const StrictJson answer(root, odd);
  out.next = support::google::next_token(answer);
  // An empty list is left out, as all that is empty is.
  for (const StrictJson& item : answer.list_or_none(managed ? "/managedInstances" : "/items")) {
    const std::string_view url = item.text("/instance");
    GroupMember member;
    // From "projects/" on alone: the hosts before it differ.
    member.name = last_segment(url);
    member.zone = zone_of(url);
    if (member.name.empty() || member.zone.empty() || member.name.size() > kNameMaximum)
      item.refuse("/instance", fmt::format("is {}, which names no instance", quote(url, 200)));
    if (managed) {
      member.status = item.text_or("/instanceStatus", "");
      member.action = item.text_or("/currentAction", "");
      const std::string_view code = item.text_or("/lastAttempt/errors/errors/0/code", "");
      const std::string_view message = item.text_or("/lastAttempt/errors/errors/0/message", "");
      if (!code.empty())
        member.error = fmt::format("{}: {}", plain_answer(code), plain_answer(message, 200));
      member.template_name = last_segment(item.text_or("/version/instanceTemplate", ""));
      member.health = item.text_or("/instanceHealth/0/detailedHealthState", "");
    } else {
      member.status = item.text_or("/status", "");
    }
    out.members.push_back(std::move(member));
  }
  if (!odd.empty()) return wrong(odd);
  return out;
}

sdk::Result<int64_t> named_port(std::string_view json, const std::string& name,
                                std::string& known) {
  simdjson::dom::parser parser;
  element root;
  std::string odd = support::parse_object(json, parser, root);
  int64_t found = 0;
  if (odd.empty()) {
    const StrictJson answer(root, odd);
    for (const StrictJson& port : answer.list_or_none("/namedPorts")) {
      const std::string_view called = port.text("/name");
      const int64_t number = port.number("/port", {1, 65535});
      if (called == name && found == 0) found = number;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", quote(called));
    }
  }
  if (!odd.empty())
    return sdk::Failure{
        MUSTER_E_DATA_LOSS,
        fmt::format("Compute Engine's named ports of a group cannot be understood: {}", odd),
        {}};
  return found;
}

std::string why_missing(const Instance& instance) {
  return why_not_running(instance.status, instance.message);
}

std::string why_missing(const GroupMember& member, const Instance* instance) {
  std::string doing = meaning_of(kActions, member.action);
  if (!doing.empty()) {
    if (!member.error.empty()) doing += "; the last attempt failed: " + member.error;
    return doing;
  }
  if (instance != nullptr) return why_missing(*instance);
  if (member.status.empty()) return "there is no instance yet";
  const std::string not_running = why_not_running(member.status, "");
  return not_running.empty() ? "it was gone when its address was asked for" : not_running;
}

}  // namespace muster::gce
