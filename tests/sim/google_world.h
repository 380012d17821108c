// A cloud of Google's without a network: what a call is answered.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <rapidjson/document.h>

#include "tools/muster-sim/cloud.h"

namespace muster::sim {

struct Reply {
  int status;
  std::string body;
  rapidjson::Document json;
  std::string etag;

  std::vector<std::string> names(const char* list = "items") const {
    std::vector<std::string> out;
    if (!json.HasMember(list)) return out;
    for (const auto& item : json[list].GetArray()) out.emplace_back(item["name"].GetString());
    return out;
  }
  std::string next() const {
    return json.HasMember("nextPageToken") ? json["nextPageToken"].GetString() : "";
  }
};

using Query = std::multimap<std::string, std::string>;
using Names = std::vector<std::string>;

class World {
 public:
  explicit World(const std::string& text) {
    auto scenario = read_scenario(text, "world.yaml");
    REQUIRE_MESSAGE(scenario, (scenario ? std::string() : scenario.error()));
    give_tokens(scenario->kubernetes.users, {});
    cloud_ = std::make_unique<Cloud>(std::move(*scenario), false, "127.0.0.1:1");
  }

  Reply ask(const std::string& path, Query query = {}, const std::string& method = "GET",
            const std::string& body = "", const std::string& token = "let-me-in") {
    Call call;
    call.method = method;
    call.path = path;
    query.emplace("prettyPrint", "false");
    for (const auto& [key, value] : query) call.query += key + "=" + value + "&";
    call.parameters = std::move(query);
    call.body = body;
    call.metadata_flavor = flavor;
    if (!token.empty()) call.authorization = "Bearer " + token;
    const auto answer = cloud_->serve(call).answer;
    Reply reply{answer.status, {}, {}, {}};
    for (const auto& slice : answer.slices) reply.body += slice;
    for (const auto& [name, value] : answer.headers)
      if (name == "ETag") reply.etag = value;
    reply.json.Parse(reply.body.c_str());
    return reply;
  }

  // Another world from now on.
  void replace(const std::string& text) { REQUIRE(cloud_->replace(text).empty()); }

  std::string flavor = "Google";

 private:
  std::unique_ptr<Cloud> cloud_;
};

}  // namespace muster::sim
