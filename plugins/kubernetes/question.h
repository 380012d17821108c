// One GET of the API server that is no list of pods, and what its refusals mean.
#pragma once

#include <string>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"

namespace muster::kubernetes {

struct Question {
  std::string path;      // below the server: "/apis/batch/v1/namespaces/ml/jobs/train"
  std::string what;      // "Job 'train'"
  std::string verb;      // "get"
  std::string resource;  // "jobs.batch"
  std::string look;  // the command with which a person looks: "kubectl get jobs.batch train -n ml"
  std::string pointer;  // of the option that makes us ask
};

// The answer with status 200. Others become failures with the server's words: NOT_FOUND (it is not there, or the cluster does
// not have such objects at all), and what `refusal` makes of them.
sdk::Result<sdk::Response> ask_server(const Access& access, const Question& question,
                                      sdk::Call& call);

// What an answer with another status than 200 means.
sdk::Failure question_refusal(const Access& access, const Question& question,
                              const sdk::Response& response);

}  // namespace muster::kubernetes
