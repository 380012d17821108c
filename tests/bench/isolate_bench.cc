// One backend in process, isolated, and as an executable, in turn: how long it takes to start and answer, and how long for very many tasks.
//
//   start   from nothing to an answer of 3 tasks, and its end; in process the shared object is there already
//   first   the first resolve of 100,000 tasks of a backend that was started before
//   again   the second of the same
//
// Times are of the wall, for two processes share the work; the ratio is that of the neighbours.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/isolate/isolated_library.h"
#include "core/isolate/program.h"
#include "core/plugin/backend.h"

namespace {

using namespace muster;

constexpr int kRuns = 21;
constexpr int64_t kMany = 100'000;

template <typename Value>
Value must(Result<Value> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

double milliseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The three ways, each a library that makes backends.
struct Ways {
  static constexpr std::array<const char*, 3> kNames = {"in process", "isolated", "executable"};
  std::array<std::shared_ptr<const PluginLibrary>, 3> libraries;
  std::string options;

  std::shared_ptr<Backend> create(size_t way) const {
    ResolverConfig config;
    config.path = "cluster";
    config.backend = "bulk";
    config.options_json = options;
    return must(Backend::create(libraries[way], config, std::make_shared<const Log>(),
                                std::make_shared<Secrets>(), nullptr));
  }
};

Ways ways(int64_t tasks, bool dns) {
  const PluginSearch search{{{"--plugin-dir", BUILT, ""}}, {}, [](const FoundPlugin& program) {
                              return describe_program(program, ISOLATE);
                            }};
  const FoundPlugin plugin = must(find_plugin(search, "bulk"));
  const FoundPlugin program = must(
      find_program(search, "bulk",
                   {BUILT "/muster-backend-bulk", fmt::format("{}", tasks), dns ? "dns" : "ipv4"}));
  return {{must(load_plugin(plugin, Log())), isolate_plugin(plugin, {ISOLATE}),
           isolate_plugin(program, {ISOLATE})},
          fmt::format(R"({{"tasks": {}, "dns": {}}})", tasks, dns)};
}

int64_t resolve(Backend& backend, int64_t tasks) {
  const int64_t start = monotonic_ns();
  const BackendOutcome outcome =
      backend.resolve(Session::live(std::make_shared<const Log>(), std::make_shared<Secrets>()),
                      start + 60'000'000'000, CancelToken());
  const int64_t took = monotonic_ns() - start;
  if (!outcome.answer.ok() || outcome.answer->spec.task_count() != static_cast<size_t>(tasks)) {
    std::fprintf(
        stderr, "no answer: %s\n",
        outcome.answer.ok() ? "tasks are missing" : outcome.answer.error().message.c_str());
    std::exit(1);
  }
  return took;
}

struct Figures {
  std::array<std::vector<double>, 3> times;
  void add(size_t way, int64_t nanoseconds) { times[way].push_back(milliseconds(nanoseconds)); }
  void print(const char* title, bool difference) const {
    std::printf("%s\n", title);
    for (size_t way = 0; way < times.size(); ++way) {
      std::vector<double> beside;
      for (size_t run = 0; run < times[way].size(); ++run)
        beside.push_back(difference ? times[way][run] - times[0][run]
                                    : times[way][run] / times[0][run]);
      std::printf("  %-10s  least %8.2f ms   median %8.2f ms   %8.2f %s\n", Ways::kNames[way],
                  *std::min_element(times[way].begin(), times[way].end()), median(times[way]),
                  median(beside), difference ? "ms more" : "x");
    }
  }
};

void start() {
  const Ways three = ways(3, false);
  Figures figures;
  for (int run = 0; run < kRuns; ++run) {
    for (size_t way = 0; way < three.libraries.size(); ++way) {
      const int64_t begin = monotonic_ns();
      {
        const auto backend = three.create(way);
        resolve(*backend, 3);
      }
      figures.add(way, monotonic_ns() - begin);
    }
  }
  figures.print("start: at most 10 ms more than in process", true);
}

void many(bool dns) {
  const Ways three = ways(kMany, dns);
  Figures first, again;
  for (int run = 0; run < kRuns; ++run) {
    for (size_t way = 0; way < three.libraries.size(); ++way) {
      const auto backend = three.create(way);
      first.add(way, resolve(*backend, kMany));
      again.add(way, resolve(*backend, kMany));
    }
  }
  const std::string title = fmt::format("100,000 tasks, {}", dns ? "DNS" : "IPv4");
  first.print((title + ", first: at most 1.5x of in process").c_str(), false);
  again.print((title + ", again").c_str(), false);
}

}  // namespace

int main() {
  start();
  many(false);
  many(true);
}
