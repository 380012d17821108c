// Backend "needs": says what its option `say` names: "two" permissions with their grant, "nothing", "no rule" in one, "no grant",
// "fail", "wait" until it is told to stop, "outside": one in resolve instead. The principal and the rule "watch" are the request's.
// Of its requests it says one list for each ten members, or, by `say`, "nothing", "no name", "less than least", "half a quota", "fail",
// "outside plan": one in resolve instead.
#include <string>

#include <muster/plugin.hpp>

MUSTER_DESCRIPTOR({
  "name" : "needs",
  "version" : "1.0.0",
  "abi" : {"major" : 1, "minor" : 0},
  "options" : {"type" : "object", "properties" : {"say" : {"type" : "string"}}}
})

namespace {

using namespace muster::sdk;

class NeedsPermissions {
 public:
  static Result<std::unique_ptr<NeedsPermissions>> create(const Host& host, std::string_view) {
    const auto* options = host.service<muster_options_v1>(MUSTER_OPTIONS_V1);
    const char* say = "";
    uint64_t size = 0;
    options->get_text(host.get(), "/say", &say, &size);
    auto made = std::make_unique<NeedsPermissions>();
    made->say_.assign(say, size);
    return made;
  }

  Status resolve(Call& call) const {
    if (say_ == "outside") call.add_permission({"User", "me", "here", "list"});
    if (say_ == "outside plan") call.add_planned({"api", "list", 1, 1, "", "", 0});
    if (!call.refused()) call.add_task({"worker", 0, "w", "10.0.0.1:1"});
    return {};
  }

  Status permissions(Call& call, const PermissionsRequest& request) const {
    if (say_ == "fail") return Failure{MUSTER_E_NOT_FOUND, "cannot find out where", {}};
    while (say_ == "wait" && !call.cancelled()) {
    }
    if (say_ == "wait") return Failure{MUSTER_E_CANCELLED, "told to stop", {}};
    if (say_ == "nothing") return {};
    call.add_permission({"User", request.principal, "here", say_ == "no rule" ? "" : "list"});
    if (request.watch) call.add_permission({"User", request.principal, "here", "watch"});
    if (say_ != "no grant") call.set_grant("sh", "# allow\n");
    return {};
  }

  Status plan(Call& call, int64_t members) const {
    if (say_ == "fail") return Failure{MUSTER_E_NOT_FOUND, "cannot find out where", {}};
    if (say_ == "nothing") return {};
    const int64_t lists = (members + 9) / 10;
    call.add_planned({say_ == "no name" ? "" : "api", "list", say_ == "less than least" ? 9 : 1,
                      lists, "10 a page", "reads", say_ == "half a quota" ? 0 : 600});
    return {};
  }

 private:
  std::string say_;
};

}  // namespace

MUSTER_PLUGIN(NeedsPermissions, "needs", "1.0.0")
