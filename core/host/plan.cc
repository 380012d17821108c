// How many requests a resolve of a config makes, as JSON.
#include <fmt/format.h>
#include <muster/plugin.h>

#include <algorithm>

#include "core/host/handles.h"
#include "core/host/resolver_json.h"

namespace muster {
namespace {

// All that the resolvers of a tree ask of one API under one quota.
struct Quota {
  std::string api, name;
  int64_t per_minute = 0;
  int64_t most = 0;
};

std::vector<Quota> quotas_of(const std::vector<ResolverPlan>& all) {
  std::vector<Quota> out;
  for (const ResolverPlan& one : all) {
    if (!one.plan) continue;
    for (const PlannedRequests& planned : *one.plan) {
      if (planned.quota.empty()) continue;
      auto at = std::find_if(out.begin(), out.end(), [&](const Quota& quota) {
        return quota.api == planned.api && quota.name == planned.quota;
      });
      if (at == out.end())
        at = out.insert(out.end(), {planned.api, planned.quota, planned.quota_per_minute, 0});
      at->per_minute = std::min(at->per_minute, planned.quota_per_minute);
      at->most += planned.most;
    }
  }
  return out;
}

std::string plan_json(const std::vector<ResolverPlan>& all, int64_t members) {
  Emitter out(Emitter::Form::kJson, 4);
  out.begin_map();
  put(out, "members", members);
  out.key("resolvers");
  out.begin_list();
  for (const ResolverPlan& one : all) {
    out.begin_map();
    put_resolver(out, one, one.plan.has_value());
    if (one.plan) {
      out.key("requests");
      out.begin_list();
      for (const PlannedRequests& planned : *one.plan) {
        out.begin_map();
        put(out, "api", planned.api);
        put(out, "request", planned.request);
        put(out, "least", planned.least);
        put(out, "most", planned.most);
        put(out, "reason", planned.reason);
        if (!planned.quota.empty()) put(out, "quota", planned.quota);
        out.end_map();
      }
      out.end_list();
    }
    out.end_map();
  }
  out.end_list();
  out.key("quotas");
  out.begin_list();
  for (const Quota& quota : quotas_of(all)) {
    out.begin_map();
    put(out, "api", quota.api);
    put(out, "quota", quota.name);
    put(out, "per_minute", quota.per_minute);
    put(out, "most", quota.most);
    put(out, "resolves_per_minute", quota.per_minute / quota.most);
    out.end_map();
  }
  out.end_list();
  out.end_map();
  return std::move(out).take();
}

}  // namespace
}  // namespace muster

extern "C" int32_t muster_plan(muster_cluster* cluster, int64_t members, muster_text** json,
                               muster_error** error) {
  return muster::guarded(error, [&] {
    if (cluster == nullptr || json == nullptr)
      return muster::fail(
          {muster::Code::kInvalidArgument, "muster_plan: cluster and json must not be NULL", {}},
          error);
    if (members < 1 || members > MUSTER_TASKS_MAXIMUM)
      return muster::fail(
          {muster::Code::kInvalidArgument,
           fmt::format("no cluster has {} members: it has 1 to {}", members, MUSTER_TASKS_MAXIMUM),
           {}},
          error);
    auto all = cluster->cluster->plan(cluster->session(),
                                      muster::CancelToken::of(cluster->cancel_switch), members);
    if (!all) return muster::fail(std::move(all).error(), error);
    *json = new muster_text{muster::plan_json(*all, members)};
    return 0;
  });
}
