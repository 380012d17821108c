// The API without a network: lists, pages, versions, access and faults.
#include <doctest/doctest.h>

#include <rapidjson/document.h>

#include <protozero/pbf_reader.hpp>

#include "tools/muster-sim/cloud.h"

using namespace muster::sim;

namespace {

constexpr const char* kWorld = R"(
kubernetes:
  namespaces: [ml, other]
  pods:
    - {name: "w-{0..4}", namespace: ml, labels: {app: trainer}}
    - {name: x, namespace: other, labels: {app: trainer}, phase: Pending}
)";

struct Reply {
  int status;
  std::string body;
  rapidjson::Document json;
  std::string content_type;

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& item : json["items"].GetArray())
      out.emplace_back(item["metadata"]["name"].GetString());
    return out;
  }
  std::string text(const char* key) const {
    return json.HasMember(key) ? json[key].GetString() : "";
  }
  std::string meta(const char* key) const {
    return json["metadata"].HasMember(key) ? json["metadata"][key].GetString() : "";
  }
};

using Query = std::multimap<std::string, std::string>;

class World {
 public:
  explicit World(const std::string& text = kWorld) {
    auto scenario = read_scenario(text, "world.yaml");
    REQUIRE_MESSAGE(scenario, (scenario ? std::string() : scenario.error()));
    give_tokens(scenario->kubernetes.users, {});
    cloud_ = std::make_unique<Cloud>(std::move(*scenario), false, "127.0.0.1:1");
  }

  Reply get(const std::string& path, const Query& query = {}, const std::string& authorization = {},
            const std::string& accept = {}) {
    Call call;
    call.accept = accept;
    call.method = "GET";
    call.path = path;
    call.parameters = query;
    call.authorization = authorization;
    const auto answer = cloud_->serve(call).answer;
    Reply reply{answer.status, {}, {}, answer.content_type};
    for (const auto& slice : answer.slices) reply.body += slice;
    reply.json.Parse(reply.body.c_str());
    return reply;
  }

  Cloud& cloud() { return *cloud_; }

 private:
  std::unique_ptr<Cloud> cloud_;
};

constexpr const char* kPods = "/api/v1/namespaces/ml/pods";
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a list without limit has every pod of the namespace, in the order of names") {
  World world;
  const auto list = world.get(kPods);
  CHECK(list.status == 200);
  CHECK(list.names() == Names{"w-0", "w-1", "w-2", "w-3", "w-4"});
  CHECK(list.meta("continue").empty());
  CHECK(world.get("/api/v1/pods").names().size() == 6);
  CHECK(world.get("/api/v1/namespaces/nowhere/pods").names().empty());
}

TEST_CASE("pages follow each other without loss or repetition") {
  World world;
  const auto first = world.get(kPods, {{"limit", "2"}});
  CHECK(first.names() == Names{"w-0", "w-1"});
  CHECK(first.json["metadata"]["remainingItemCount"].GetInt() == 3);
  const auto second = world.get(kPods, {{"limit", "2"}, {"continue", first.meta("continue")}});
  CHECK(second.names() == Names{"w-2", "w-3"});
  const auto third = world.get(kPods, {{"limit", "2"}, {"continue", second.meta("continue")}});
  CHECK(third.names() == Names{"w-4"});
  CHECK(third.meta("continue").empty());
  CHECK(third.meta("resourceVersion") == first.meta("resourceVersion"));
}

TEST_CASE("a selected list pages too, and tells no remaining count") {
  World world(
      "kubernetes:\n  pods:\n    - {name: \"a-{0..2}\", labels: {k: a}}\n    - {name: "
      "\"a-{0..2}-b\"}\n");
  const auto first = world.get("/api/v1/pods", {{"limit", "2"}, {"labelSelector", "k=a"}});
  CHECK(first.names() == Names{"a-0", "a-1"});
  CHECK_FALSE(first.json["metadata"].HasMember("remainingItemCount"));
  const auto rest =
      world.get("/api/v1/pods", {{"labelSelector", "k=a"}, {"continue", first.meta("continue")}});
  CHECK(rest.names() == Names{"a-2"});
}

TEST_CASE("pods come as protobuf when that is asked for, in the same pages") {
  World world;
  const std::string accept = "application/vnd.kubernetes.protobuf,application/json";
  const auto json = world.get(kPods, {{"limit", "2"}});
  const auto page = world.get(kPods, {{"limit", "2"}}, {}, accept);
  CHECK(page.content_type == "application/vnd.kubernetes.protobuf");
  REQUIRE(page.body.substr(0, 4) == std::string("k8s\0", 4));

  Names names;
  std::string next;
  protozero::pbf_reader envelope(page.body.data() + 4, page.body.size() - 4);
  REQUIRE(envelope.next(2));
  protozero::pbf_reader list = envelope.get_message();
  while (list.next()) {
    const auto number = list.tag();
    protozero::pbf_reader inside = list.get_message();
    if (number == 1 && inside.next(3)) next = inside.get_string();
    if (number != 2) continue;
    REQUIRE(inside.next(1));
    protozero::pbf_reader metadata = inside.get_message();
    REQUIRE(metadata.next(1));
    names.push_back(metadata.get_string());
  }
  CHECK(names == json.names());
  CHECK(next.empty() == false);
  CHECK(world.get(kPods, {{"limit", "2"}, {"continue", next}}).names() == Names{"w-2", "w-3"});

  CHECK(world.get(std::string(kPods) + "/w-0", {}, {}, accept).text("kind") == "Pod");
  World plain(std::string(kWorld) + "  protobuf: false\n");
  CHECK(plain.get(kPods, {}, {}, accept).names().size() == 5);
  CHECK(plain.get(kPods, {}, {}, "application/vnd.kubernetes.protobuf").status == 406);
}

TEST_CASE("page_size is the most a page has, whatever limit says") {
  World world(std::string(kWorld) + "  page_size: 3\n");
  CHECK(world.get(kPods).names().size() == 3);
  CHECK(world.get(kPods, {{"limit", "100"}}).names().size() == 3);
  CHECK(world.get(kPods, {{"limit", "1"}}).names().size() == 1);
}

TEST_CASE("a list goes on from its own state when the world changes in the middle") {
  World world;
  const auto first = world.get(kPods, {{"limit", "2"}});
  CHECK(world.cloud().replace("kubernetes:\n  pods: [{name: new, namespace: ml}]\n").empty());
  const auto rest = world.get(kPods, {{"continue", first.meta("continue")}});
  CHECK(rest.names() == Names{"w-2", "w-3", "w-4"});
  CHECK(world.get(kPods).names() == Names{"new"});
  CHECK(world.get(kPods).meta("resourceVersion") != first.meta("resourceVersion"));
}

TEST_CASE("a continue token that is too old is 410 with a fresh one that goes on") {
  World world(std::string(kWorld) + "  page_life: 0\n");
  const auto first = world.get(kPods, {{"limit", "2"}});
  Reply old{0, {}, {}, {}};
  for (int tries = 0; tries < 1000 && old.status != 410;
       ++tries) {  // until a millisecond has passed
    old = world.get(kPods, {{"continue", first.meta("continue")}});
  }
  CHECK(old.status == 410);
  CHECK(old.text("reason") == "Expired");
  CHECK(world.get(kPods, {{"continue", old.meta("continue")}}).names() ==
        Names{"w-2", "w-3", "w-4"});
}

TEST_CASE("the rules of resourceVersion are the real server's") {
  World world;
  const auto version = world.get(kPods).meta("resourceVersion");
  const auto next = std::to_string(std::stoll(version) + 1);
  CHECK(world.get(kPods, {{"resourceVersion", "0"}, {"limit", "2"}}).names().size() == 5);
  CHECK(world.get(kPods, {{"resourceVersion", version}}).status == 200);
  CHECK(
      world.get(kPods, {{"resourceVersion", version}, {"resourceVersionMatch", "Exact"}}).status ==
      200);
  CHECK(world.get(kPods, {{"resourceVersion", "1"}, {"resourceVersionMatch", "NotOlderThan"}})
            .status == 200);
  CHECK(world.get(kPods, {{"resourceVersion", "1"}, {"resourceVersionMatch", "Exact"}}).status ==
        410);
  CHECK(world.get(kPods, {{"resourceVersion", next}}).status == 504);
  CHECK(world.get(kPods, {{"resourceVersion", "x"}}).status == 400);
  CHECK(world.get(kPods, {{"resourceVersionMatch", "Exact"}}).status == 422);
  CHECK(world.get(kPods, {{"resourceVersion", "0"}, {"resourceVersionMatch", "Exact"}}).status ==
        422);
  CHECK(world.get(kPods, {{"resourceVersion", "1"}, {"resourceVersionMatch", "Newest"}}).status ==
        422);
  const auto token = world.get(kPods, {{"limit", "1"}}).meta("continue");
  CHECK(world.get(kPods, {{"continue", token}, {"resourceVersion", version}}).status == 400);
  CHECK(world.get(kPods, {{"continue", token}, {"resourceVersion", "0"}}).status == 200);
  CHECK(world.get(kPods, {{"continue", "bm90aGluZw"}}).status == 400);
  CHECK(world.get(kPods, {{"continue", "!"}}).status == 400);
  CHECK(world.get(kPods, {{"limit", "many"}}).status == 400);
}

TEST_CASE("field selectors know the fields of pods and no others") {
  World world;
  CHECK(world.get("/api/v1/pods", {{"fieldSelector", "status.phase!=Running"}}).names() ==
        Names{"x"});
  CHECK(world.get("/api/v1/pods", {{"fieldSelector", "metadata.namespace=ml,metadata.name=w-3"}})
            .names() == Names{"w-3"});
  CHECK(world.get("/api/v1/pods", {{"fieldSelector", "spec.nodeName=node-a"}}).names().size() == 5);
  const auto bad = world.get("/api/v1/pods", {{"fieldSelector", "spec.color=red"}});
  CHECK(bad.status == 400);
  CHECK(bad.text("message") == "field label not supported: spec.color");
}

TEST_CASE("one pod is found by its name, or is 404 by its name") {
  World world;
  const auto pod = world.get("/api/v1/namespaces/ml/pods/w-1");
  CHECK(pod.text("kind") == "Pod");
  CHECK(pod.meta("name") == "w-1");
  const auto none = world.get("/api/v1/namespaces/ml/pods/w-9");
  CHECK(none.status == 404);
  CHECK(none.text("message") == "pods \"w-9\" not found");
}

TEST_CASE("an unchanged pod keeps its version in a changed world, a changed one does not") {
  World world;
  const auto before = world.get("/api/v1/namespaces/ml/pods/w-1").meta("resourceVersion");
  const auto changed = world.get("/api/v1/namespaces/ml/pods/w-2").meta("resourceVersion");
  std::string text = kWorld;
  text.replace(text.find("w-{0..4}"), 8, "w-{0..1}");
  CHECK(world.cloud().replace(text + "    - {name: w-2, namespace: ml, ip: 10.9.9.9}\n").empty());
  CHECK(world.get("/api/v1/namespaces/ml/pods/w-1").meta("resourceVersion") == before);
  CHECK(world.get("/api/v1/namespaces/ml/pods/w-2").meta("resourceVersion") != changed);
}

TEST_CASE("what the scenario forbids is refused in the real server's words") {
  World world(std::string(kWorld) +
              "  auth: {user: picker, token: t, anonymous: deny}\n"
              "  forbid:\n"
              "    - {verb: list, resource: pods, namespace: ml}\n"
              "    - {verb: list, resource: pods, scope: cluster}\n");
  const auto in_ml = world.get(kPods, {}, "Bearer t");
  CHECK(in_ml.status == 403);
  CHECK(in_ml.text("message") ==
        "pods is forbidden: User \"picker\" cannot list resource \"pods\" in API group \"\" in the "
        "namespace \"ml\"");
  CHECK(world.get("/api/v1/pods", {}, "Bearer t").text("message") ==
        "pods is forbidden: User \"picker\" cannot list resource \"pods\" in API group \"\" at the "
        "cluster scope");
  CHECK(world.get("/api/v1/namespaces/other/pods", {}, "Bearer t").status == 200);
  CHECK(world.get("/api/v1/namespaces/ml/pods/w-1", {}, "Bearer t").status == 200);
  CHECK(world.get("/api/v1/namespaces/other/pods", {}, "Bearer wrong").status == 401);
  CHECK(world.get("/api/v1/namespaces/other/pods").status == 401);
}

TEST_CASE("a fault strikes as often as it says, and then no more") {
  World world(std::string(kWorld) +
              "  faults:\n    - {match: \"GET /api/v1/namespaces/ml/*\", after: 1, times: 2, "
              "status: 503, retry_after: 1}\n");
  CHECK(world.get(kPods).status == 200);
  CHECK(world.get(kPods).status == 503);
  CHECK(world.get("/api/v1/namespaces/other/pods").status == 200);
  CHECK(world.get(kPods).text("reason") == "ServiceUnavailable");
  CHECK(world.get(kPods).status == 200);
  world.cloud().reset_faults();
  CHECK(world.get(kPods).status == 200);
  CHECK(world.get(kPods).status == 503);
}

TEST_CASE("a fault can wait for a page") {
  World world(std::string(kWorld) + "  faults: [{match: \"GET *pods\", page: 2, status: 410}]\n");
  const auto first = world.get(kPods, {{"limit", "2"}});
  CHECK(first.status == 200);
  const auto second = world.get(kPods, {{"limit", "2"}, {"continue", first.meta("continue")}});
  CHECK(second.status == 410);
  CHECK_FALSE(second.meta("continue").empty());
}

TEST_CASE("overload is a text with a time to wait, as flow control gives it") {
  World world("kubernetes: {faults: [{match: \"*\", status: 429}]}\n");
  const auto reply = world.get("/api/v1/pods");
  CHECK(reply.status == 429);
  CHECK(reply.body == "Too many requests, please try again later.\n");
}

namespace {

// The lines of a watch that are there at once.
std::vector<std::string> lines_of(BodyStream& stream) {
  std::vector<std::string> lines;
  for (auto text = stream.next(std::chrono::milliseconds(0)); !text.empty();
       text = stream.next(std::chrono::milliseconds(0))) {
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      rapidjson::Document line;
      line.Parse(text.data(), end);
      REQUIRE_FALSE(line.HasParseError());
      const auto& object = line["object"];
      std::string shown = line["type"].GetString();
      if (object.HasMember("metadata") && object["metadata"].HasMember("name")) {
        shown += std::string(" ") + object["metadata"]["name"].GetString();
      }
      if (object.HasMember("code")) shown += " " + std::to_string(object["code"].GetInt());
      lines.push_back(shown);
      text.erase(0, end + 1);
    }
  }
  return lines;
}

std::shared_ptr<BodyStream> watch(World& world, Query query, const std::string& path = kPods) {
  Call call;
  call.method = "GET";
  call.path = path;
  call.parameters = std::move(query);
  call.parameters.emplace("watch", "1");
  const auto answer = world.cloud().serve(call).answer;
  REQUIRE(answer.status == 200);
  REQUIRE(answer.stream != nullptr);
  return answer.stream;
}

}  // namespace

TEST_CASE("a watch from a list's version tells what changed since, and selects") {
  World world;
  const auto version = world.get(kPods).meta("resourceVersion");
  const auto all = watch(world, {{"resourceVersion", version}});
  const auto trainers =
      watch(world, {{"resourceVersion", version}, {"labelSelector", "app=trainer"}});
  CHECK(lines_of(*all).empty());
  REQUIRE(world.cloud()
              .replace("kubernetes:\n  pods:\n"
                       "    - {name: \"w-{0..1}\", namespace: ml, labels: {app: trainer}, ip: "
                       "\"10.9.9.{1..2}\"}\n"
                       "    - {name: w-2, namespace: ml, labels: {app: retired}}\n"
                       "    - {name: v, namespace: ml}\n")
              .empty());
  CHECK(lines_of(*all) == Names{"DELETED w-3", "DELETED w-4", "MODIFIED w-0", "MODIFIED w-1",
                                "MODIFIED w-2", "ADDED v"});
  CHECK(lines_of(*trainers) ==
        Names{"DELETED w-3", "DELETED w-4", "MODIFIED w-0", "MODIFIED w-1", "DELETED w-2"});
}

TEST_CASE("a watch without a version begins with every pod") {
  World world;
  CHECK(lines_of(*watch(world, {{"fieldSelector", "metadata.name=w-1"}})) == Names{"ADDED w-1"});
  CHECK(lines_of(*watch(world, {{"resourceVersion", "0"}})).size() == 5);
}

TEST_CASE("a streaming list ends its first part with a bookmark") {
  World world;
  const auto stream = watch(world, {{"sendInitialEvents", "true"},
                                    {"resourceVersionMatch", "NotOlderThan"},
                                    {"allowWatchBookmarks", "true"},
                                    {"fieldSelector", "metadata.name=w-1"}});
  CHECK(lines_of(*stream) == Names{"ADDED w-1", "BOOKMARK"});
}

TEST_CASE("a server without streaming lists refuses them with 422") {
  World world(std::string(kWorld) + "  streaming_lists: false\n");
  CHECK(world
            .get(kPods, {{"watch", "1"},
                         {"sendInitialEvents", "true"},
                         {"resourceVersionMatch", "NotOlderThan"}})
            .status == 422);
}

TEST_CASE("a watch from a forgotten version is 410 in the stream, and over") {
  World world;
  const auto stream = watch(world, {{"resourceVersion", "1"}});
  CHECK(lines_of(*stream) == Names{"ERROR 410"});
  CHECK(stream->ended());
}

TEST_CASE("bookmarks come as often as the world says, to those who allow them") {
  World world(std::string(kWorld) + "  bookmark_every: 1ms\n");
  const auto version = world.get(kPods).meta("resourceVersion");
  const auto stream = watch(world, {{"resourceVersion", version}, {"allowWatchBookmarks", "true"}});
  std::string text;
  for (int tries = 0; tries < 1000 && text.empty(); ++tries)
    text = stream->next(std::chrono::milliseconds(5));
  CHECK(text.find("BOOKMARK") != std::string::npos);
}

TEST_CASE(
    "objects are watched as pods are: by name or label, from a version or from what there is") {
  const auto text = [](const char* objects) {
    return std::string("kubernetes:\n  objects:\n") + objects;
  };
  const char* const kJob =
      "    - {apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: ml, labels: {app: "
      "t}}, spec: {parallelism: 1}}\n"
      "    - {apiVersion: batch/v1, kind: Job, metadata: {name: b, namespace: ml}}\n";
  World world(text(kJob));
  const std::string jobs = "/apis/batch/v1/namespaces/ml/jobs";
  const auto list = world.get(jobs, {{"fieldSelector", "metadata.name=a"}});
  CHECK(list.names() == Names{"a"});
  const std::string version = list.meta("resourceVersion");
  const auto all = watch(world, {{"resourceVersion", version}}, jobs);
  const auto one = watch(world, {{"fieldSelector", "metadata.name=a"}}, jobs);
  const auto labelled =
      watch(world, {{"labelSelector", "app=t"}, {"resourceVersion", version}}, jobs);
  CHECK(lines_of(*one) == Names{"ADDED a"});
  const char* const kChanged =
      "    - {apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: ml}, spec: "
      "{parallelism: 2}}\n";
  CHECK(world.cloud().replace(text(kChanged)).empty());
  CHECK(lines_of(*all) == Names{"DELETED b", "MODIFIED a"});
  CHECK(lines_of(*one) == Names{"MODIFIED a"});
  CHECK(lines_of(*labelled) == Names{"DELETED a"});
}
