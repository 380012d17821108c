#include "tests/plugin/kubernetes/api.h"

namespace fake {

std::string pod_json(const PodText& pod) {
  std::string labels;
  for (const auto& [key, value] : pod.labels)
    labels += (labels.empty() ? "\"" : ", \"") + key + "\": \"" + value + "\"";
  const auto more = [](const std::string& text) { return text.empty() ? "" : ", " + text; };
  const std::string ip =
      pod.ip.empty() ? ""
                     : R"(, "podIP": ")" + pod.ip + R"(", "podIPs": [{"ip": ")" + pod.ip + "\"}]";
  return R"({"metadata": {"name": ")" + pod.name + R"(", "namespace": "default", "uid": "uid-)" +
         pod.name +
         R"(", "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:metadata": {"f:name": {}}}}], "labels": {)" +
         labels + "}" + more(pod.metadata) + R"(}, "spec": {"nodeName": "node-7")" +
         more(pod.spec) + R"(}, "status": {"phase": ")" + pod.phase +
         R"(", "hostIP": "192.0.2.1")" + ip + more(pod.status) + "}}";
}

std::string list_json(const std::vector<PodText>& pods, const std::string& next) {
  std::string out =
      R"({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "884210")";
  if (!next.empty()) out += R"(, "continue": ")" + next + "\"";
  out += R"(}, "items": [)";
  for (size_t n = 0; n < pods.size(); ++n) out += (n ? ",\n" : "\n") + pod_json(pods[n]);
  return out + "]}\n";
}

Response status_json(int64_t code, const std::string& reason, const std::string& message) {
  Response response;
  response.status = code;
  response.body =
      R"({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": ")" +
      message + R"(", "reason": ")" + reason + R"(", "code": )" + std::to_string(code) + "}";
  return response;
}

std::string query(const std::string& url, const std::string& name) {
  size_t at = url.find("?" + name + "=");
  if (at == std::string::npos) at = url.find("&" + name + "=");
  if (at == std::string::npos) return "";
  at += name.size() + 2;
  std::string out;
  for (; at < url.size() && url[at] != '&'; ++at) {
    if (url[at] == '%' && at + 2 < url.size()) {
      out += static_cast<char>(std::stoi(url.substr(at + 1, 2), nullptr, 16));
      at += 2;
    } else {
      out += url[at];
    }
  }
  return out;
}

World lab(std::map<std::string, std::vector<PodText>> pods,
          std::map<std::string, std::string> objects) {
  World world;
  world.files["/home/user/.kube/config"] = R"(apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab-cluster
  cluster: {server: "https://api.test:6443"}
users:
- name: me
  user:
    token: s3cret-token
contexts:
- name: lab
  context: {cluster: lab-cluster, user: me}
)";
  world.serve = [pods = std::move(pods), objects = std::move(objects)](const Request& request) {
    const std::string path = request.url.substr(request.url.find('/', request.url.find("://") + 3));
    const auto object = objects.find(path.substr(0, path.find('?')));
    if (object != objects.end()) {
      Response response;
      response.body = object->second;
      return response;
    }
    if (path.rfind("/apis/", 0) == 0)
      return status_json(404, "NotFound", "widgets \\\"x\\\" not found");
    const auto found = pods.find(query(request.url, "labelSelector"));
    Response response;
    response.body = list_json(found == pods.end() ? std::vector<PodText>{} : found->second);
    return response;
  };
  return world;
}

std::string owned_by(const std::string& kind, const std::string& name, const std::string& uid) {
  return R"("creationTimestamp": "2026-01-31T11:50:00Z", "ownerReferences": [{"kind": ")" + kind +
         R"(", "name": ")" + name + R"(", "uid": ")" + uid + R"(", "controller": true}])";
}

std::string object(const std::string& spec, const std::string& status, const std::string& version,
                   const std::string& metadata) {
  return R"({"kind": "X", "metadata": {"name": "train", "uid": "u1", "resourceVersion": ")" +
         version + "\"" + (metadata.empty() ? "" : ", " + metadata) + R"(}, "spec": )" + spec +
         R"(, "status": )" + status + "}";
}

PodText set_pod(const std::string& role, int job, int index, const std::string& ip) {
  const std::string name =
      "train-" + role + "-" + std::to_string(job) + "-" + std::to_string(index);
  return {name + "-x7k2p",
          ip,
          "Running",
          {{"jobset.sigs.k8s.io/replicatedjob-name", role},
           {"jobset.sigs.k8s.io/job-index", std::to_string(job)},
           {"jobset.sigs.k8s.io/jobset-uid", "u1"},
           {kIndex, std::to_string(index)}},
          owned_by("Job", "train-" + role + "-" + std::to_string(job), "j")};
}

}  // namespace fake
