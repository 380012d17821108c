// muster-check: is this plugin what sdk/duties.md says that it is?
#include <fmt/format.h>
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

#include "sdk/muster-check/json_lines.h"
#include "sdk/muster-check/runner.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

enum ExitStatus : int {
  kAllPassed = 0,
  kDutyBroken = 1,
  kUsage = 2,
  kNoPlugin = 3,       // the file cannot be read or not be trusted
  kNothingRun = 4,     // no test was left to run
  kCheckerFailed = 5,  // or has no muster-isolate
};

constexpr const char* kStatuses =
    "Exit status: 0 every duty was kept, 1 a duty was broken, 2 wrong usage, wrong options or a "
    "wrong\n"
    "recording, 3 the file cannot be read or not be trusted, 4 no test was run, 5 muster-check\n"
    "itself failed, or has no muster-isolate.";

struct Request {
  std::string file, options = "{}", recording, path, one;
  std::vector<std::string> include, exclude;
  uint64_t seed = 1;
  bool json = false, list = false, quiet = false, isolated = false;
};

bool matches(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    // A group stands for its tests.
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 || name.starts_with(pattern + ".");
  });
}

// What the process of one test needs to know.
std::vector<std::string> arguments_of(const Request& request) {
  std::vector<std::string> words = {"--options", request.options, "--seed",
                                    std::to_string(request.seed)};
  if (!request.recording.empty()) words.insert(words.end(), {"--recording", request.recording});
  if (!request.path.empty()) words.insert(words.end(), {"--path", request.path});
  if (request.isolated) words.emplace_back("--isolated");
  words.insert(words.end(), {"--", request.file});
  return words;
}

void show(const Request& request, const TestResult& result) {
  using Kind = TestResult::Kind;
  const Verdict& verdict = result.verdict;
  const char* word = result.kind == Kind::kPassed    ? "ok"
                     : result.kind == Kind::kSkipped ? "skipped"
                     : result.kind == Kind::kFailed  ? "FAILED"
                                                     : "could not be run";
  fmt::print("{}{}\n", word, verdict.skipped.empty() ? "" : ": " + verdict.skipped);
  for (const Finding& finding : verdict.findings)
    fmt::print("    {}: {}\n", finding.duty, finding.text);
  if (request.quiet) return;
  for (const std::string& note : verdict.notes) fmt::print("    note: {}\n", note);
}

int run_all(const Request& request, const std::vector<Test>& tests) {
  int passed = 0, failed = 0, skipped = 0, broken = 0;
  for (const Test& test : tests) {
    if (request.json) {
      json_begin(test.name);
    } else {
      fmt::print("{} ... ", test.name);
    }
    std::fflush(stdout);
    const TestResult result = run_apart(test, arguments_of(request));
    passed += result.kind == TestResult::Kind::kPassed ? 1 : 0;
    failed += result.kind == TestResult::Kind::kFailed ? 1 : 0;
    skipped += result.kind == TestResult::Kind::kSkipped ? 1 : 0;
    broken += result.kind == TestResult::Kind::kBroken ? 1 : 0;
    if (request.json) {
      json_result(test.name, result);
    } else {
      show(request, result);
    }
    std::fflush(stdout);
  }
  if (request.json) {
    json_end(request.file, request.seed, passed, failed, skipped);
  } else {
    fmt::print("{} passed, {} failed, {} skipped\n", passed, failed, skipped);
    if (failed > 0) fmt::print("the duties are in sdk/duties.md\n");
  }
  if (broken > 0) return kCheckerFailed;
  if (failed > 0) return kDutyBroken;
  return passed > 0 ? kAllPassed : kNothingRun;
}

int usage(const std::string& text) {
  fmt::print(stderr, "muster-check: {}\n", text);
  return kUsage;
}

int list(const std::vector<Test>& tests) {
  for (const Test& test : tests) fmt::print("{:<24}{}\n", test.name, test.what);
  return tests.empty() ? kNothingRun : kAllPassed;
}

int check(const Request& request) {
  std::vector<Test> tests;
  std::copy_if(all_tests().begin(), all_tests().end(), std::back_inserter(tests),
               [&](const Test& test) {
                 return (request.include.empty() || matches(request.include, test.name)) &&
                        !matches(request.exclude, test.name) &&
                        (request.one.empty() || request.one == test.name);
               });
  if (request.list && request.file.empty()) return list(tests);
  if (request.file.empty()) return usage("which file? see --help");
  for (const auto* patterns : {&request.include, &request.exclude}) {
    for (const std::string& pattern : *patterns) {
      if (std::none_of(all_tests().begin(), all_tests().end(),
                       [&](const Test& test) { return matches({pattern}, test.name); }))
        return usage(fmt::format("no test is called '{}'; --list has them", pattern));
    }
  }
  Result<Target> target = read_target(request.file, request.isolated);
  if (!target) {
    fmt::print(stderr, "muster-check: {}\n", target.error().message);
    return target.error().code == Code::kFailedPrecondition ? kCheckerFailed : kNoPlugin;
  }
  std::erase_if(tests, [&](const Test& test) { return !is_for(test, *target); });
  if (request.list) return list(tests);
  if (Status set = set_options(*target, request.options); !set)
    return usage(
        fmt::format("the options do not fit the plugin's schema:\n{}", set.error().message));
  if (!request.recording.empty()) {
    if (Status set = set_recording(*target, request.recording, request.path); !set)
      return usage(set.error().message);
  }
  if (!request.one.empty() && !tests.empty()) run_here(tests.at(0), *target, request.seed, 3);
  return run_all(request, tests);
}

}  // namespace

bool is_for(const Test& test, const Target& target) {
  switch (test.scope) {
    case Scope::kAny: return true;
    case Scope::kFile: return !target.program;
    case Scope::kShared: return target.helper.empty();
    case Scope::kProgram: return target.program;
  }
  return false;
}

const std::vector<Test>& all_tests() {
  static const std::vector<Test> all = [] {
    std::vector<Test> tests;
    for (const auto group :
         {file_tests, handshake_tests, life_tests, sink_tests, manners_tests, world_tests,
          time_tests, input_tests, backend_tests, permissions_tests, plan_tests, frames_tests}) {
      for (const Test& test : group()) tests.push_back(test);
    }
    return tests;
  }();
  return all;
}

}  // namespace muster::check

int main(int argc, char** argv) {
  using namespace muster::check;
  Request request;
  CLI::App app(
      "Runs a muster plugin through every duty that can be checked, each test in a process of its "
      "own.",
      "muster-check");
  app.footer(kStatuses);
  app.add_option("FILE", request.file,
                 "the plugin: libmuster-NAME.so, or an executable: muster-backend-NAME");
  app.add_option("--options", request.options, "its options, as JSON or as @FILE")
      ->type_name("JSON|@FILE");
  app.add_option("--recording", request.recording,
                 "what a resolve asked and was answered: muster resolve --record FILE")
      ->type_name("FILE");
  app.add_option("--path", request.path, "which resolver of the recording; default: the only one")
      ->type_name("PATH");
  app.add_option("--include", request.include,
                 "run these alone: a test, a group, or a pattern; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--exclude", request.exclude, "leave these out; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--seed", request.seed, "where chance begins; the same seed makes the same tests")
      ->capture_default_str();
  app.add_flag("--json", request.json, "one JSON object a line");
  app.add_flag("-q,--quiet", request.quiet, "no notes");
  app.add_flag("--isolated", request.isolated, "run it in a process of its own");
  app.add_flag("--list", request.list, "the names of the tests, with FILE of those for it");
  app.add_option("--run-one", request.one)->group("");  // in its own process
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kAllPassed : kUsage;
  }
  try {
    return check(request);
  } catch (const std::exception& exception) {
    fmt::print(stderr, "muster-check: it failed: {}\n", exception.what());
    return kCheckerFailed;
  }
}
