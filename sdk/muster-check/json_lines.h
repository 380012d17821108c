// --json: one object a line, the name of a test before it runs.
#pragma once

#include <cstdint>
#include <string>

#include "sdk/muster-check/runner.h"

namespace muster::check {

void json_begin(const std::string& name);
void json_result(const std::string& name, const TestResult& result);
void json_end(const std::string& file, uint64_t seed, int passed, int failed, int skipped);

}  // namespace muster::check
