// TF_CONFIG of 100,000 tasks -> ClusterSpec -> TF_CONFIG, as a multiple of simdjson merely parsing the same text.
//
//   warm: the library's parser is kept from one time to the next, and so is all memory (its page faults are paid once);
//   cold: each side does it once in a process of its own, with a new parser and fresh memory, as a launcher does.
//
// Both sides run in turn within each iteration, so that a busy machine disturbs both. Times are processor time; a counter is the median
// of the iterations, `ratio` the median of the ratios of the neighbours.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "core/format/format.h"
#include "spec_text.h"

namespace {

using muster::bench::Names;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename Work>
double time_of(const Work& work) {
  const double start = processor_seconds();
  work();
  return processor_seconds() - start;
}

// The same in a child that does nothing else; -1 when there was none.
template <typename Work>
double time_in_child(const Work& work) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const double seconds = time_of(work);
    _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  close(ends[1]);
  double seconds = -1;
  if (child < 0 || read(ends[0], &seconds, sizeof seconds) != sizeof seconds) seconds = -1;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return seconds;
}

void parse(simdjson::dom::parser& parser, const std::string& text) {
  auto parsed = parser.parse(text);
  benchmark::DoNotOptimize(parsed);
  if (parsed.error()) std::abort();
}

void round_trip(const std::string& text) {
  auto config = muster::parse_tf_config(text);
  if (!config.ok()) std::abort();
  std::string written = muster::cluster_to_json(config->cluster);
  benchmark::DoNotOptimize(written);
}

// `parse` and `trip` give the seconds each took.
template <typename Parse, typename Trip>
void compare(benchmark::State& state, const std::string& text, const Parse& parse,
             const Trip& trip) {
  std::vector<double> parses, trips, ratios;
  for (auto _ : state) {
    parses.push_back(parse());
    trips.push_back(trip());
    if (parses.back() <= 0 || trips.back() <= 0) {
      state.SkipWithError("no child process");
      return;
    }
    ratios.push_back(trips.back() / parses.back());
    state.SetIterationTime(trips.back());
  }
  state.counters["us_parse"] = median(parses) * 1e6;
  state.counters["us_round_trip"] = median(trips) * 1e6;
  state.counters["ratio"] = median(ratios);
  state.SetBytesProcessed(static_cast<int64_t>(text.size()) * state.iterations());
}

void cold(benchmark::State& state, Names names) {
  const std::string text = muster::bench::tf_config(static_cast<int>(state.range(0)), names);
  compare(
      state, text,
      [&] {
        return time_in_child([&] {
          simdjson::dom::parser parser;
          parse(parser, text);
        });
      },
      [&] { return time_in_child([&] { round_trip(text); }); });
}

void warm(benchmark::State& state, Names names) {
  // Memory once asked for is kept.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  const std::string text = muster::bench::tf_config(static_cast<int>(state.range(0)), names);
  simdjson::dom::parser parser;
  compare(
      state, text, [&] { return time_of([&] { parse(parser, text); }); },
      [&] { return time_of([&] { round_trip(text); }); });
}

void digest(benchmark::State& state) {
  const auto config = muster::parse_tf_config(
      muster::bench::tf_config(static_cast<int>(state.range(0)), Names::kIpv4));
  for (auto _ : state) {
    auto text = muster::digest(config->cluster);
    benchmark::DoNotOptimize(text);
  }
}

}  // namespace

// Cold ones first: a child inherits the allocator as it is.
BENCHMARK_CAPTURE(cold, ipv4, Names::kIpv4)
    ->Arg(100000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cold, dns, Names::kDns)
    ->Arg(100000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(warm, ipv4, Names::kIpv4)
    ->Arg(100000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(warm, dns, Names::kDns)
    ->Arg(100000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(digest)->Arg(100000)->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
