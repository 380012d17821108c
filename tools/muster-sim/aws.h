#pragma once

#include <cstdint>
#include <string>

#include "answer.h"

namespace muster::sim {

// A machine of AWS's: its keys, of which its metadata service tells, and by which a signed request says that it is its.
struct AwsMachine {
  std::string region = "us-east-2";
  std::string role = "trainer";
  std::string access_key_id = "ASIASIMULATED";
  std::string secret_access_key, session_token;  // of the role
  std::string metadata_token;                    // of IMDSv2
};
AwsMachine make_aws_machine();

// Whether the path is one of the instance metadata service.
bool serves_aws(const std::string& path);

// Its answer: to nobody without a token of IMDSv2.
Answer answer_aws(const Call& call, const AwsMachine& machine);

// Why a subject token is not a GetCallerIdentity request for this audience that the machine has signed within a quarter of an hour of
// `now` (seconds since 1970); "" when it is.
std::string judge_aws_token(const std::string& token, const std::string& audience,
                            const AwsMachine& machine, std::int64_t now);

}  // namespace muster::sim
