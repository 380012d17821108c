// The reader of pod lists, as a multiple of simdjson merely parsing the same page: 500 pods of 6 KiB. Both keep their parser from one
// time to the next and run in turn; times are processor time, counters medians.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "plugins/kubernetes/pod_list.h"

namespace {

constexpr int kPods = 500;
constexpr size_t kBytes = 6144;

std::string pod(int n) {
  const std::string number = std::to_string(n);
  std::string text =
      R"({"metadata":{"name":"bulk-worker-)" + number +
      R"(","generateName":"bulk-worker-","namespace":"ml","uid":"0e5c1b6e-3f7a-4c55-9d0b-000000)" +
      std::to_string(100000 + n) +
      R"(","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"job-name":"bulk","batch.kubernetes.io/job-completion-index":")" +
      number +
      R"("},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"bulk","controller":true}],"managedFields":[{"manager":"kubelet","fieldsV1":{)";
  const std::string rest =
      R"("f:last":{}}}]},"spec":{"nodeName":"node-)" + std::to_string(n / 8) +
      R"(","containers":[{"name":"main","image":"registry.example/trainer:1","resources":{"limits":{"cpu":"8","nvidia.com/gpu":"4"}},"env":[{"name":"A","value":"b"}]}]},"status":{"phase":"Running","podIP":"10.)" +
      std::to_string(n / 65536) + "." + std::to_string(n / 256 % 256) + "." +
      std::to_string(n % 256) +
      R"(","conditions":[{"type":"PodScheduled","status":"True"},{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"main","ready":true,"state":{"running":{"startedAt":"2026-01-01T00:00:05Z"}}}]}})";
  for (int field = 0; text.size() + rest.size() < kBytes; ++field)
    text += "\"f:field-" + std::to_string(field) + R"(":{"f:type":{},"f:status":{}},)";
  return text + rest;
}

std::string page() {
  std::string text =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)";
  for (int n = 0; n < kPods; ++n) text += (n == 0 ? "" : ",") + pod(n);
  return text + "]}";
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void read_page(benchmark::State& state) {
  const simdjson::padded_string text(page());
  simdjson::dom::parser parser;
  muster::kubernetes::PodListReader reader;
  std::vector<double> parses, reads, ratios;
  for (auto _ : state) {
    const double start = processor_seconds();
    auto parsed = parser.parse(text);
    benchmark::DoNotOptimize(parsed);
    const double middle = processor_seconds();
    muster::kubernetes::PodList list;
    auto pods = reader.read(std::string_view(text.data(), text.size()), {}, list);
    benchmark::DoNotOptimize(list);
    const double end = processor_seconds();
    if (!pods || list.pods.size() != kPods) {
      state.SkipWithError("the page was not read");
      return;
    }
    parses.push_back(middle - start);
    reads.push_back(end - middle);
    ratios.push_back((end - middle) / (middle - start));
    state.SetIterationTime(end - middle);
  }
  state.counters["us_parse"] = median(parses) * 1e6;
  state.counters["us_read"] = median(reads) * 1e6;
  state.counters["ratio"] = median(ratios);
  state.SetBytesProcessed(static_cast<int64_t>(text.size()) * state.iterations());
}

}  // namespace

BENCHMARK(read_page)->UseManualTime()->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
