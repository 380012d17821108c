// What a config needs to be allowed, as JSON.
#include "core/host/handles.h"
#include "core/host/resolver_json.h"

namespace muster {
namespace {

std::string needs_json(const std::vector<ResolverNeeds>& all) {
  Emitter out(Emitter::Form::kJson, 4);
  out.begin_list();
  for (const ResolverNeeds& one : all) {
    out.begin_map();
    put_resolver(out, one, one.needs.has_value());
    if (one.needs) {
      out.key("permissions");
      out.begin_list();
      for (const Permission& permission : one.needs->permissions) {
        out.begin_map();
        put(out, "principal_kind", permission.principal_kind);
        put(out, "principal", permission.principal);
        put(out, "scope", permission.scope);
        put(out, "rule", permission.rule);
        out.end_map();
      }
      out.end_list();
      put(out, "command", one.needs->command);
      put(out, "text", one.needs->text);
    }
    out.end_map();
  }
  out.end_list();
  return std::move(out).take();
}

}  // namespace
}  // namespace muster

extern "C" int32_t muster_permissions(muster_cluster* cluster, const char* principal, int32_t watch,
                                      muster_text** json, muster_error** error) {
  return muster::guarded(error, [&] {
    if (cluster == nullptr || json == nullptr)
      return muster::fail({muster::Code::kInvalidArgument,
                           "muster_permissions: cluster and json must not be NULL",
                           {}},
                          error);
    const muster::NeedsRequest request{principal == nullptr ? "" : principal, watch != 0};
    auto all = cluster->cluster->needs(cluster->session(),
                                       muster::CancelToken::of(cluster->cancel_switch), request);
    if (!all) return muster::fail(std::move(all).error(), error);
    *json = new muster_text{muster::needs_json(*all)};
    return 0;
  });
}
