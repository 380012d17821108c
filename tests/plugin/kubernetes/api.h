// A small API server for the fake core: pods in, pages of JSON out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/plugin/support/fake_core.h"

namespace fake {

struct PodText {
  std::string name;
  std::string ip = "10.8.0.1";
  std::string phase = "Running";
  std::map<std::string, std::string> labels = {};
  std::string metadata = {};  // more fields of it: R"("deletionTimestamp": "...")"
  std::string spec = {};
  std::string status = {};
};

// A pod as the API server writes it.
std::string pod_json(const PodText& pod);

// One page; `next` is the continue token.
std::string list_json(const std::vector<PodText>& pods, const std::string& next = "");

// A failure in the server's form.
Response status_json(int64_t code, const std::string& reason, const std::string& message);

// The value of a query parameter of a URL, decoded; "" when it is not there.
std::string query(const std::string& url, const std::string& name);

// A world outside of any cluster, with a kubeconfig at home for https://api.test:6443 and token "s3cret-token",
// whose server answers each label selector with its pods, and each path (without its query) of `objects` with that text.
World lab(std::map<std::string, std::vector<PodText>> pods,
          std::map<std::string, std::string> objects = {});

// A controller's reference in a pod's metadata.
std::string owned_by(const std::string& kind, const std::string& name, const std::string& uid);

constexpr const char* kIndex = "batch.kubernetes.io/job-completion-index";
constexpr const char* kSetPath = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets/train";

// The object "train" that has pods, with uid "u1".
std::string object(const std::string& spec, const std::string& status = "{}",
                   const std::string& version = "7", const std::string& metadata = "");

// A pod of the JobSet "train": this one of a job of that role.
PodText set_pod(const std::string& role, int job, int index, const std::string& ip);

}  // namespace fake
