// How a resolver and its failures are told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/plugin/backend.h"
#include "core/result.h"
#include "core/spec/snapshot.h"

namespace muster {

// "kubernetes" of a leaf; "chain" or "merge".
const char* kind_name(const ResolverConfig& config);

// An error about an option shows the option's place in the config, and ${VAR} instead of the variable's value.
Error placed(const Config& config, const ResolverConfig& leaf, Error error);

// What a resolver did, in one line for the log.
std::string source_line(const SourceRecord& record);

// Adds a line with what the backend of a leaf waits for, where it waits for something.
void add_progress(const ResolverConfig& leaf, const Backend& backend, std::string& lines);

std::string first_line(const std::string& text);

// The error's message and, where it has one, its hint: "...; hint".
std::string with_hint(const Error& error);

// "cluster (kubernetes) fails since TIME; this is the last good answer; asking again failed: ...". `who` fails, and `kept` stays meanwhile.
std::string failing_words(const std::string& who, int64_t since_ns, const std::string& kept,
                          const Error& error);

// "cluster.chain[0] did not: NOT_FOUND, cluster.chain[1] did not: UNAVAILABLE", of the first `count` children of a chain.
std::string said_before(const ResolverConfig& chain, const std::vector<Error>& errors,
                        size_t count);

// The error of a chain of which child `at` failed with what only the user can mend; `errors` has one for each child up to it.
Error chain_stopped(const ResolverConfig& chain, std::vector<Error> errors, size_t at);

// The error of a chain of which every child failed.
Error chain_failed(const ResolverConfig& chain, const std::vector<Error>& errors);

}  // namespace muster
