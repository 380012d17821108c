// The kubernetes backend's pages as they arrive: in both encodings, in pieces of every size.
#include <doctest/doctest.h>

#include <protozero/pbf_writer.hpp>

#include "plugins/kubernetes/pod_list_stream.h"

namespace {

using namespace muster::kubernetes;
using protozero::pbf_writer;

const Wanted kWanted = {{"example.com/none", "example.com/port"}, true};

// All that is kept of a pod.
std::string told(const Pod& pod) {
  std::string out;
  const auto text = [&](const char* name, std::string_view value) {
    if (!value.empty()) out.append(name).append("=").append(value).append(" ");
  };
  const auto number = [&](const char* name, int64_t value) { text(name, std::to_string(value)); };
  text("name", pod.name), text("namespace", pod.name_space), text("uid", pod.uid);
  text("node", pod.node), text("host_ip", pod.host_ip), text("host_ip2", pod.second_host_ip);
  text("hostname", pod.hostname), text("subdomain", pod.subdomain);
  text("ip", pod.ip), text("ip2", pod.second_ip);
  text("owner", pod.owner), text("owner_uid", pod.owner_uid), text("set_uid", pod.set_uid);
  text("role", pod.role), text("model", pod.accelerator_model);
  text("topology", pod.accelerator_topology);
  if (pod.annotations != nullptr)
    text("annotation0", pod.annotations[0]), text("annotation1", pod.annotations[1]);
  for (int n = 0; n < pod.port_count; ++n) {
    text("port", pod.ports[n].name);
    number("number", pod.ports[n].number), number("host_port", pod.ports[n].host_port);
  }
  number("created", pod.created), number("deleted", pod.deleted);
  number("ended", pod.ended), number("container_ended", pod.container_ended);
  number("container_runs", pod.container_runs), number("disrupted", pod.trouble().disrupted);
  text("revision", pod.revision);
  number("index", pod.index), number("group", pod.group), number("global", pod.global_group);
  number("size", pod.group_size), number("attempt", pod.attempt), number("restarts", pod.restarts);
  for (const int32_t count : pod.devices) number("devices", count);
  text("phase", phase_name(pod.phase));
  number("ready", pod.ready), number("host_network", pod.host_network);
  const Trouble& trouble = pod.trouble();
  text("reason", trouble.reason), text("message", trouble.message);
  text("unschedulable", trouble.unschedulable), text("not_ready", trouble.not_ready);
  text("disruption", trouble.disruption), text("waiting", trouble.waiting);
  text("terminated", trouble.terminated), text("restarted", trouble.restarted_because);
  return out;
}

struct Outcome {
  bool good = false;
  std::string next, version, why, pods;
};

// Gives `body` in steps of so many bytes.
Outcome stream(const std::string& body, size_t step, size_t piece = 256 << 10) {
  PodListReader reader;
  PodList list;
  PodListStream stream(reader, kWanted, list, piece);
  Outcome out;
  for (size_t at = 0; at < body.size(); at += step) {
    if (auto status = stream.take(std::string_view(body).substr(at, step)); !status) {
      CHECK(status.failure().code == MUSTER_E_DATA_LOSS);
      out.why = status.failure().message;
      return out;
    }
  }
  auto next = stream.finish();
  if (!next) {
    CHECK(next.failure().code == MUSTER_E_DATA_LOSS);
    out.why = next.failure().message;
    return out;
  }
  out.good = true;
  out.next = *next;
  out.version = list.version;
  for (const Pod& pod : list.pods) out.pods += told(pod) + "\n";
  return out;
}

std::string plain_pod(int n, const std::string& spec = "") {
  return R"({"metadata":{"name":"w-)" + std::to_string(n) + R"("},"spec":{)" + spec +
         R"("nodeName":"n"},"status":{"phase":"Running","podIP":"10.8.0.1"}})";
}

// A message within another.
template <typename Fill>
void inside(pbf_writer& out, uint32_t number, const Fill& fill) {
  pbf_writer message(out, number);
  fill(message);
}

void entry(pbf_writer& out, uint32_t number, const char* key, const char* value) {
  inside(out, number,
         [&](pbf_writer& pair) { pair.add_string(1, key), pair.add_string(2, value); });
}

std::string envelope(const std::string& list, const std::string& kind = "PodList") {
  std::string text("k8s\0", 4);
  pbf_writer out(text);
  inside(out, 1, [&](pbf_writer& type) { type.add_string(1, "v1"), type.add_string(2, kind); });
  out.add_message(2, list);
  out.add_string(3, "");
  out.add_string(4, "");
  return text;
}

const char* const kJson =
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"token"},"items":[
{"metadata": {"name": "vintage-0", "namespace": "ml", "uid": "5f1c", "creationTimestamp": "2026-02-11T11:14:15Z", "deletionTimestamp": "2026-03-01T00:00:00Z",
    "labels": {"jobset.sigs.k8s.io/jobset-uid": "7a", "jobset.sigs.k8s.io/job-global-index": "5", "jobset.sigs.k8s.io/replicatedjob-name": "worker",
      "jobset.sigs.k8s.io/job-index": "3", "jobset.sigs.k8s.io/restart-attempt": "2", "leaderworkerset.sigs.k8s.io/template-revision-hash": "r9", "leaderworkerset.sigs.k8s.io/size": "9"},
    "annotations": {"batch.kubernetes.io/job-completion-index": "7", "example.com/port": "7001", "other": "x"},
    "ownerReferences": [{"kind": "Node", "name": "n"}, {"kind": "Job", "name": "vintage", "uid": "1b2f", "controller": true}]},
  "spec": {"nodeName": "node-a", "hostname": "vintage-0", "subdomain": "vintage", "hostNetwork": true,
    "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice", "cloud.google.com/gke-tpu-topology": "4x4"},
    "containers": [{"name": "main", "ports": [{"name": "rpc", "containerPort": 8471, "hostPort": 18471}],
      "resources": {"limits": {"google.com/tpu": "4", "memory": "200Gi"}, "requests": {"google.com/tpu": "4"}}},
      {"name": "side", "ports": [{"containerPort": 80}]}]},
  "status": {"phase": "Running", "hostIP": "10.128.0.31", "hostIPs": [{"ip": "10.128.0.31"}, {"ip": "fd00::31"}],
    "podIP": "10.8.4.19", "podIPs": [{"ip": "10.8.4.19"}, {"ip": "fd00:10:8:4::13"}], "startTime": "1970-01-02T00:00:01Z",
    "reason": "Odd", "message": "very odd",
    "conditions": [{"type": "Ready", "status": "True"}, {"type": "DisruptionTarget", "status": "True", "reason": "Preempted", "message": "p", "lastTransitionTime": "1970-01-04T00:00:00Z"}],
    "initContainerStatuses": [{"restartCount": 1, "state": {"terminated": {"reason": "Error", "exitCode": 3, "finishedAt": "1970-01-03T00:00:00Z"}}}],
    "containerStatuses": [{"restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "5m"}},
      "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}, {"state": {"running": {"startedAt": "1970-01-03T00:00:00Z"}}}]}},
{"metadata": {"name": "late"}, "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4"},
  {"type": "Ready", "status": "False", "reason": "R"}]}}]})";

// The same pods.
std::string protobuf_items() {
  std::string text;
  pbf_writer list(text);
  inside(list, 2, [](pbf_writer& pod) {
    inside(pod, 1, [](pbf_writer& m) {
      m.add_string(1, "vintage-0"), m.add_string(3, "ml"), m.add_string(4, "");
      m.add_string(5, "5f1c"), m.add_int64(7, 0);
      inside(m, 8, [](pbf_writer& time) { time.add_int64(1, 1770808455), time.add_int32(2, 0); });
      inside(m, 9, [](pbf_writer& time) { time.add_int64(1, 1772323200); });
      entry(m, 11, "jobset.sigs.k8s.io/jobset-uid", "7a");
      entry(m, 11, "jobset.sigs.k8s.io/job-global-index", "5");
      entry(m, 11, "jobset.sigs.k8s.io/replicatedjob-name", "worker");
      entry(m, 11, "jobset.sigs.k8s.io/job-index", "3");
      entry(m, 11, "jobset.sigs.k8s.io/restart-attempt", "2");
      entry(m, 11, "leaderworkerset.sigs.k8s.io/template-revision-hash", "r9");
      entry(m, 11, "leaderworkerset.sigs.k8s.io/size", "9");
      entry(m, 12, "batch.kubernetes.io/job-completion-index", "7");
      entry(m, 12, "example.com/port", "7001");
      entry(m, 12, "other", "x");
      inside(m, 13, [](pbf_writer& o) { o.add_string(1, "Node"), o.add_string(3, "n"); });
      inside(m, 13, [](pbf_writer& o) {
        o.add_string(1, "Job"), o.add_string(3, "vintage"), o.add_string(4, "1b2f");
        o.add_string(5, "batch/v1"), o.add_bool(6, true);
      });
      inside(m, 17, [](pbf_writer& fields) { fields.add_bytes(7, "\xff\x00", 2); });
    });
    inside(pod, 2, [](pbf_writer& spec) {
      inside(spec, 2, [](pbf_writer& c) {
        c.add_string(1, "main");
        inside(c, 6, [](pbf_writer& p) {
          p.add_string(1, "rpc"), p.add_int32(2, 18471), p.add_int32(3, 8471),
              p.add_string(4, "TCP");
        });
        inside(c, 8, [](pbf_writer& resources) {
          for (const uint32_t kind : {1, 2})
            for (const auto& [name, count] :
                 {std::pair("google.com/tpu", "4"), {"memory", "200Gi"}})
              inside(resources, kind, [name = name, count = count](pbf_writer& limit) {
                limit.add_string(1, name);
                inside(limit, 2, [&](pbf_writer& quantity) { quantity.add_string(1, count); });
              });
        });
      });
      inside(spec, 2, [](pbf_writer& c) {
        inside(c, 6, [](pbf_writer& p) { p.add_string(1, ""), p.add_int32(3, 80); });
      });
      entry(spec, 7, "cloud.google.com/gke-tpu-accelerator", "tpu-v5-lite-podslice");
      entry(spec, 7, "cloud.google.com/gke-tpu-topology", "4x4");
      spec.add_string(10, "node-a"), spec.add_bool(11, true);
      spec.add_string(16, "vintage-0"), spec.add_string(17, "vintage");
    });
    inside(pod, 3, [](pbf_writer& status) {
      status.add_string(1, "Running");
      inside(status, 2, [](pbf_writer& c) { c.add_string(1, "Ready"), c.add_string(2, "True"); });
      inside(status, 2, [](pbf_writer& c) {
        c.add_string(1, "DisruptionTarget"), c.add_string(2, "True");
        inside(c, 4, [](pbf_writer& time) { time.add_int64(1, 259200); });
        c.add_string(5, "Preempted"), c.add_string(6, "p");
      });
      status.add_string(3, "very odd"), status.add_string(4, "Odd");
      status.add_string(5, "10.128.0.31"), status.add_string(6, "10.8.4.19");
      inside(status, 7, [](pbf_writer& time) { time.add_int64(1, 86401); });
      inside(status, 10, [](pbf_writer& one) {
        inside(one, 2, [](pbf_writer& state) {
          inside(state, 3, [](pbf_writer& t) {
            t.add_int32(1, 3), t.add_string(3, "Error");
            inside(t, 6, [](pbf_writer& time) { time.add_int64(1, 172800); });
          });
        });
        one.add_int32(5, 1);
      });
      inside(status, 8, [](pbf_writer& one) {
        inside(one, 2, [](pbf_writer& state) {
          inside(state, 1,
                 [](pbf_writer& w) { w.add_string(1, "CrashLoopBackOff"), w.add_string(2, "5m"); });
        });
        inside(one, 3, [](pbf_writer& state) {
          inside(state, 3,
                 [](pbf_writer& t) { t.add_int32(1, 137), t.add_string(3, "OOMKilled"); });
        });
        one.add_int32(5, 3);
      });
      inside(status, 8, [](pbf_writer& one) {
        inside(one, 2, [](pbf_writer& state) {
          inside(state, 2, [](pbf_writer& r) {
            inside(r, 1, [](pbf_writer& time) { time.add_int64(1, 172800); });
          });
        });
      });
      for (const char* ip : {"10.8.4.19", "fd00:10:8:4::13"})
        inside(status, 12, [&](pbf_writer& one) { one.add_string(1, ip); });
      for (const char* ip : {"10.128.0.31", "fd00::31"})
        inside(status, 16, [&](pbf_writer& one) { one.add_string(1, ip); });
    });
  });
  inside(list, 2, [](pbf_writer& pod) {
    inside(pod, 1, [](pbf_writer& m) {
      m.add_string(1, "late");
      m.add_message(8, std::string());
    });
    inside(pod, 3, [](pbf_writer& status) {
      status.add_string(1, "Pending");
      inside(status, 2, [](pbf_writer& c) {
        c.add_string(1, "PodScheduled"), c.add_string(2, "False");
        c.add_string(5, "Unschedulable"), c.add_string(6, "0/4");
      });
      inside(status, 2, [](pbf_writer& c) {
        c.add_string(1, "Ready"), c.add_string(2, "False"), c.add_string(5, "R");
      });
    });
  });
  return text;
}

std::string protobuf_list() {
  std::string text;
  pbf_writer list(text);
  inside(list, 1, [](pbf_writer& meta) { meta.add_string(2, "7"), meta.add_string(3, "token"); });
  return text + protobuf_items();
}

// A list of one pod, made by `fill`.
std::string one_pod(void (*fill)(pbf_writer&)) {
  std::string text;
  pbf_writer list(text);
  inside(list, 2, fill);
  return envelope(text);
}

}  // namespace

TEST_CASE("protobuf says of a pod what JSON says") {
  const Outcome json = stream(kJson, 1 << 20);
  const Outcome protobuf = stream(envelope(protobuf_list()), 1 << 20);
  REQUIRE_MESSAGE(json.good, json.why);
  REQUIRE_MESSAGE(protobuf.good, protobuf.why);
  CHECK(protobuf.next == "token");
  CHECK(json.next == "token");
  CHECK(protobuf.version == "7");
  CHECK(json.version == "7");
  CHECK(protobuf.pods == json.pods);
  CHECK(json.pods.find("restarted=OOMKilled, exit code 137") != std::string::npos);
}

TEST_CASE("however its bytes are parted, a page says the same") {
  for (const std::string& body : {std::string(kJson), envelope(protobuf_list())}) {
    const Outcome whole = stream(body, body.size());
    for (size_t step = 1; step < 100; ++step) {
      const Outcome parted = stream(body, step, 200);
      CHECK(parted.good);
      CHECK(parted.next == whole.next);
      CHECK(parted.pods == whole.pods);
    }
  }
}

TEST_CASE("a page of many pods is read in parts, each pod once, and only what is left is kept") {
  std::string body = R"({"kind":"PodList","metadata":{"continue":"c"},"items":[)";
  std::string names;
  for (int n = 0; n < 500; ++n) {
    body += (n ? "," : "") + plain_pod(n);
    names += "w-" + std::to_string(n) + " ";
  }
  body += "]}\n";
  PodListReader reader;
  PodList list;
  PodListStream stream(reader, kWanted, list, 4096);
  size_t read_before_the_end = 0;
  for (size_t at = 0; at < body.size(); at += 1000) {
    REQUIRE(bool(stream.take(std::string_view(body).substr(at, 1000))));
    read_before_the_end = list.pods.size();
  }
  CHECK(read_before_the_end > 400);
  const auto next = stream.finish();
  REQUIRE(bool(next));
  CHECK(*next == "c");
  std::string came;
  for (const Pod& pod : list.pods) came += pod.name.string() + " ";
  CHECK(came == names);
}

TEST_CASE("what only looks like the end of a pod does not part it") {
  const std::string inner = R"("volumes":[{"a":1},{"metadata":{"name":"x"}},{"metadata":{}}],)";
  std::string body = R"({"kind":"PodList","metadata":{},"items":[)";
  for (int n = 0; n < 20; ++n) body += (n ? "," : "") + plain_pod(n, n % 3 ? inner : "");
  body += "]}";
  const Outcome whole = stream(body, body.size(), 1 << 20);
  REQUIRE(whole.good);
  for (size_t step = 20; step < 200; step += 7) {
    const Outcome parted = stream(body, step, 300);
    CHECK_MESSAGE(parted.good, parted.why);
    CHECK(parted.pods == whole.pods);
  }
}

TEST_CASE("the metadata may stand behind the items, and the items in something else are none") {
  std::string items;
  for (int n = 0; n < 9; ++n) items += (n ? "," : "") + plain_pod(n);
  const Outcome behind = stream(
      R"({"kind":"PodList","items":[)" + items + R"(],"metadata":{"continue":"c"}})", 50, 200);
  CHECK(behind.good);
  CHECK(behind.next == "c");
  CHECK_FALSE(stream(R"({"kind":"PodList","x":{"items":[)" + items + "]}}", 50, 200).good);
  CHECK_FALSE(stream(R"({"kind":"NodeList","items":[)" + items + "]}", 50, 200).good);
}

TEST_CASE("what cannot be read in parts is held up to a limit, and not as long as it comes") {
  constexpr size_t kMiB = size_t{1} << 20;
  const std::string head = R"({"kind":"PodList","metadata":{},"items":[)";
  const std::string piece = std::string(kMiB, 'x');
  std::string broken;  // what looks like ends of pods and is not
  while (broken.size() < kMiB) broken += R"(},{"metadata":{"name":"x"}},{"metadata":5)";
  // A list, and in it one pod of 500 MB that comes.
  const std::string pod =
      std::string("k8s\0", 4) + "\x12\xff\xff\xff\xff\x01\x12\x80\xca\xb5\xee\x01";
  struct Sent {
    std::string begin, goes_on;
  };
  for (const Sent& sent :
       std::vector<Sent>{{head + R"({"metadata":{"name":")", piece},
                         {R"({"kind":"PodList", "items": [{"metadata":{"name":")", piece},
                         {head + R"({"x":[)", broken},
                         {pod, piece}}) {
    CAPTURE(sent.begin);
    PodListReader reader;
    PodList list;
    PodListStream stream(reader, kWanted, list);
    size_t taken = sent.begin.size();
    muster::sdk::Status status = stream.take(sent.begin);
    while (status && taken < 300 * kMiB) {
      status = stream.take(sent.goes_on);
      taken += sent.goes_on.size();
    }
    REQUIRE_FALSE(bool(status));
    CHECK(taken < 100 * kMiB);
    CHECK(status.failure().code == MUSTER_E_RESOURCE_EXHAUSTED);
    CHECK_MESSAGE(status.failure().message.find("67108864 bytes") != std::string::npos,
                  status.failure().message);
  }
}

TEST_CASE("protobuf that is cut off anywhere is no list") {
  const std::string body = envelope(protobuf_list());
  const size_t tail = 4;  // two empty texts of the envelope, which say nothing
  for (size_t size = 0; size < body.size() - tail; ++size) {
    CAPTURE(size);
    CHECK_FALSE(stream(body.substr(0, size), 7).good);
  }
  CHECK(stream(body, 7).good);
}

TEST_CASE("protobuf of another shape than Kubernetes' is refused with a reason") {
  const auto why = [](const std::string& body) { return stream(body, 5).why; };
  const auto says = [](const std::string& text, const char* words) {
    CHECK_MESSAGE(text.find(words) != std::string::npos, text);
  };
  says(why(envelope(protobuf_list(), "NodeList")), "something else than a PodList");
  says(why(std::string("k8s\0", 4)), "no list");
  says(why(std::string("k8s\0\x12\x05\x12\xff\xff\xff\x7f", 11)), "longer than the list");
  says(why(std::string("k8s\0\x12\x0c\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 18)),
       "a number does not end");
  says(why(std::string("k8s\0\x12\x03\x15\x01\x01", 9)), "another type");
  says(why(std::string("k8s\0\x12\x02\x02\x01", 8)), "no number");
  says(why(envelope(std::string("\x10\x01", 2))), "another type");
  const std::string listed = envelope(protobuf_list());
  says(why(listed + listed.substr(4)), "no list, or several");

  const auto pod = [](void (*fill)(pbf_writer&)) { return stream(one_pod(fill), 9).why; };
  says(pod([](pbf_writer& p) { p.add_int64(1, 3); }), "another type");
  says(pod([](pbf_writer& p) { inside(p, 1, [](pbf_writer& m) { m.add_int64(1, 3); }); }),
       "another type");
  says(pod([](pbf_writer& p) { inside(p, 2, [](pbf_writer& m) { m.add_string(11, "yes"); }); }),
       "another type");
  says(pod([](pbf_writer& p) { inside(p, 1, [](pbf_writer& m) { m.add_string(1, "\xff"); }); }),
       "no UTF-8");
  says(pod([](pbf_writer& p) {
         inside(p, 1, [](pbf_writer& m) { m.add_string(1, std::string("a\0b", 3)); });
       }),
       "NUL");
  says(pod([](pbf_writer& p) { inside(p, 3, [](pbf_writer& s) { s.add_string(1, "Running"); }); }),
       "a pod has no name");
  says(pod([](pbf_writer& p) {
         inside(p, 1, [](pbf_writer& m) { m.add_string(1, "w"); });
         inside(p, 3, [](pbf_writer& s) { s.add_string(1, "Running"), s.add_string(6, "x"); });
       }),
       "no IP address");
}

namespace {

// Of megabytes, so that it is read in parts by another thread.
std::string large_page(const std::string& metadata, int first) {
  std::string text = R"({"kind":"PodList","metadata":{)" + metadata + R"(},"items":[)";
  for (int n = 0; n < 20000; ++n) text += (n ? "," : "") + plain_pod(first + n);
  return text + "]}\n";
}

bool give(PodListStream& stream, std::string_view body, size_t step) {
  for (size_t at = 0; at < body.size(); at += step)
    if (!stream.take(body.substr(at, step))) return false;
  return true;
}

std::string names(const PodList& list) {
  std::string out;
  for (const Pod& pod : list.pods) out += pod.name.string() + " ";
  return out;
}

std::string names_from(int first, int count) {
  std::string out;
  for (int n = first; n < first + count; ++n) out += "w-" + std::to_string(n) + " ";
  return out;
}

}  // namespace

TEST_CASE("large pages are read in another thread, in their order, and all by the end") {
  PodListReader reader;
  PodList list;
  PodListStream stream(reader, kWanted, list);
  for (int page = 0; page < 3; ++page) {
    if (page != 0) stream.begin();
    const std::string token = page == 2 ? "" : R"("continue":"c)" + std::to_string(page) + '"';
    REQUIRE(give(stream, large_page(token, page * 20000), 100'000));
    const auto next = stream.finish();
    REQUIRE(bool(next));
    CHECK(*next == (page == 2 ? "" : "c" + std::to_string(page)));
  }
  REQUIRE(bool(stream.end()));
  CHECK(stream.count() == 60000);
  CHECK((names(list) == names_from(0, 60000)));
}

TEST_CASE("protobuf may follow JSON, and both stand in the list in their order") {
  PodListReader reader;
  PodList list;
  PodListStream stream(reader, kWanted, list);
  REQUIRE(give(stream, large_page(R"("continue":"c")", 0), 100'000));
  CHECK(bool(stream.finish()));
  stream.begin();
  REQUIRE(give(stream, envelope(protobuf_list()), 999));
  CHECK(bool(stream.finish()));
  REQUIRE(bool(stream.end()));
  CHECK((names(list) == names_from(0, 20000) + "vintage-0 late "));
}

TEST_CASE("a page that broke off is forgotten with its pods, in either form") {
  PodListReader reader;
  PodList list;
  PodListStream stream(reader, kWanted, list);
  REQUIRE(give(stream, large_page(R"("continue":"c")", 0), 100'000));
  CHECK(bool(stream.finish()));
  const std::string second = large_page("", 20000);
  stream.begin();
  REQUIRE(give(stream, std::string_view(second).substr(0, 1'000'000), 50'000));
  stream.begin();
  const std::string protobuf = envelope(protobuf_list());
  REQUIRE(give(stream, std::string_view(protobuf).substr(0, protobuf.size() - 20), 999));
  stream.begin();
  REQUIRE(give(stream, second, 300'000));
  CHECK(bool(stream.finish()));
  REQUIRE(bool(stream.end()));
  CHECK((names(list) == names_from(0, 40000)));
}

TEST_CASE("a large page that is no list is told at its end, or when the one after it is there") {
  const auto failure_of = [](const std::string& metadata, bool at_once) {
    std::string body = large_page(metadata, 0);
    body.replace(body.find("},{", body.size() / 2), 1, "]");
    PodListReader reader;
    PodList list;
    PodListStream stream(reader, kWanted, list);
    if (give(stream, body, 100'000)) CHECK(bool(stream.finish()) != at_once);
    const auto end = stream.end();
    CHECK(bool(end) == at_once);
    return end ? 0 : end.failure().code;
  };
  CHECK(failure_of("", true) == 0);
  CHECK(failure_of(R"("continue":"c")", false) == MUSTER_E_DATA_LOSS);
}

TEST_CASE("a page that says two continue tokens is none") {
  for (const int pods : {9, 20000}) {
    std::string body = R"({"kind":"PodList","metadata":{"continue":"a"},"items":[)";
    for (int n = 0; n < pods; ++n) body += (n ? "," : "") + plain_pod(n);
    body += R"(],"metadata":{"continue":"b"}})";
    PodListReader reader;
    PodList list;
    PodListStream stream(reader, kWanted, list);
    REQUIRE(give(stream, body, 100'000));
    const bool good = bool(stream.finish()) && bool(stream.end());
    CHECK_FALSE(good);
  }
}

TEST_CASE("nobody waits for pages that are given up") {
  PodListReader reader;
  PodList list;
  PodListStream stream(reader, kWanted, list);
  REQUIRE(give(stream, large_page("", 0), 300'000));
}
