// muster-sim: a small cloud on the loopback, made of a scenario file.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cloud.h"
#include "json.h"
#include "request_log.h"
#include "run_files.h"
#include "scenario.h"
#include "server.h"
#include "tls_material.h"

namespace {

using namespace muster::sim;

struct Options {
  std::string scenario;
  int port = 0;
  std::string listen = "127.0.0.1";
  std::string tls_directory;
  std::string kubeconfig_out;
  std::string ready_file;
  std::string log;
  int parent = 0;
  bool stop_on_eof = false;
};

constexpr int kWrongUsage = 2;
constexpr int kFailed = 1;

int fail(int code, const std::string& message) {
  fmt::print(stderr, "muster-sim: {}\n", message);
  return code;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file)
    return Failure{fmt::format("cannot read the scenario '{}': {}", path, std::strerror(errno))};
  return text.str();
}

bool is_loopback(const std::string& address) {
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string ready_line(const std::string& url, const std::string& address, int port,
                       const RunFiles& files) {
  JsonWriter out;
  const auto path_or_null = [&](std::string_view key, const std::filesystem::path& path) {
    out.key(key);
    if (path.empty()) {
      out.null();
    } else {
      out.value(path.string());
    }
  };
  out.open_object();
  out.member("url", url);
  out.member("host", address);
  out.member("port", port);
  out.member("pid", static_cast<int>(getpid()));
  out.member("directory", files.directory.string());
  out.member("kubeconfig", files.kubeconfig.string());
  out.member("token_file", files.token.string());
  path_or_null("ca", files.authority);
  path_or_null("client_certificate", files.authority.empty() ? "" : files.directory / "client.crt");
  path_or_null("client_key", files.authority.empty() ? "" : files.directory / "client.key");
  path_or_null("in_cluster", files.in_cluster);
  path_or_null("google", files.google);
  out.close_object();
  return out.str();
}

// Waits until somebody wants the end: a signal, the end of stdin, or of the parent.
void wait_for_end(int signals, const Options& options) {
  // By number: glibc 2.36 declares pidfd_open in a way C++ cannot link.
  const int parent =
      options.parent > 0 ? static_cast<int>(syscall(SYS_pidfd_open, options.parent, 0)) : -1;
  if (options.parent > 0 && parent < 0) return;  // it has ended already
  while (true) {
    pollfd wanted[3] = {{signals, POLLIN, 0},
                        {options.stop_on_eof ? STDIN_FILENO : -1, POLLIN, 0},
                        {parent, POLLIN, 0}};
    if (poll(wanted, 3, -1) < 0 && errno != EINTR) return;
    if (wanted[0].revents != 0 || wanted[2].revents != 0) return;
    if (wanted[1].revents != 0) {
      char ignored[4096];
      const auto got = read(STDIN_FILENO, ignored, sizeof ignored);
      if (got == 0 || (got < 0 && errno != EINTR)) return;
    }
  }
}

int run(const Options& options) {
  if (!is_loopback(options.listen)) {
    return fail(
        kWrongUsage,
        fmt::format("'--listen {}' is not a loopback address; this server speaks to its own "
                    "machine only: 127.0.0.1 or ::1",
                    options.listen));
  }
  const auto text = read_file(options.scenario);
  if (!text) return fail(kWrongUsage, text.error());
  auto scenario = read_scenario(*text, options.scenario);
  if (!scenario) return fail(kWrongUsage, "the scenario has mistakes:\n" + scenario.error());
  const bool with_tls = scenario->tls.on || !options.tls_directory.empty();
  give_tokens(scenario->kubernetes.users, {});

  // Signals are read from a descriptor; every thread must have them blocked before it starts.
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int signals = signalfd(-1, &set, SFD_CLOEXEC);
  if (signals < 0)
    return fail(kFailed, fmt::format("cannot wait for signals: {}", std::strerror(errno)));

  std::unique_ptr<TlsMaterial> material;
  if (with_tls) {
    auto made = make_tls_material(scenario->tls, scenario->kubernetes.certificate_user);
    if (!made) return fail(kFailed, made.error());
    material = std::make_unique<TlsMaterial>(std::move(*made));
  }

  std::FILE* log_file = nullptr;
  if (!options.log.empty()) {
    log_file = std::fopen(options.log.c_str(), "ae");
    if (log_file == nullptr) {
      return fail(kFailed,
                  fmt::format("cannot write the log '{}': {}", options.log, std::strerror(errno)));
    }
  }
  RequestLog log(log_file);

  Server server(material.get());
  const auto port = server.bind(options.listen, options.port);
  if (!port) return fail(kFailed, port.error());
  const bool v6 = options.listen.find(':') != std::string::npos;
  const auto address = fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), options.listen, *port);
  const auto url = (with_tls ? "https://" : "http://") + address;
  std::shared_ptr<const GoogleKey> key;
  if (scenario->google.on) {
    auto made = make_google_key();
    if (!made) return fail(kFailed, made.error());
    key = std::make_shared<const GoogleKey>(std::move(*made));
  }
  const auto files = write_run_files(options.tls_directory, options.kubeconfig_out, url, *scenario,
                                     material.get(), key.get());
  if (!files) return fail(kFailed, files.error());

  Cloud cloud(std::move(*scenario), with_tls, address, std::move(key));
  server.start(cloud, log);

  const auto line = ready_line(url, options.listen, *port, *files);
  if (!options.ready_file.empty()) {
    const auto written = write_private_file(options.ready_file, line + "\n");
    if (!written) {
      files->remove();
      fail(kFailed, written.error());
      _exit(kFailed);
    }
  }
  fmt::print("{}\n", line);
  std::fflush(stdout);

  wait_for_end(signals, options);
  files->remove();
  // Connections may be in the middle of a slow answer; nobody waits for them.
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "A small cloud on the loopback, made of a scenario file; for trials and tests of muster.\n"
      "Prints one line of JSON when ready, and answers until SIGTERM.");
  app.footer(
      "Example:\n  muster-sim world.yaml --kubeconfig-out kc &\n  kubectl --kubeconfig kc get pods "
      "-o wide");
  app.add_option("SCENARIO", options.scenario, "The scenario file (YAML)")->required();
  app.add_option("--port", options.port, "The port; 0 takes a free one")
      ->check(CLI::Range(0, 65535));
  app.add_option("--listen", options.listen, "The loopback address: 127.0.0.1 or ::1");
  app.add_option(
      "--tls-dir", options.tls_directory,
      "Speak TLS, and put keys, token and kubeconfig there; by itself a temporary directory");
  app.add_option("--kubeconfig-out", options.kubeconfig_out, "A further copy of the kubeconfig");
  app.add_option("--ready-file", options.ready_file,
                 "A further copy of the line printed when ready");
  app.add_option("--log", options.log, "Append each request to this file, as a line of JSON");
  app.add_option("--parent-pid", options.parent, "Stop when this process ends")
      ->check(CLI::PositiveNumber);
  app.add_flag("--stop-on-eof", options.stop_on_eof, "Stop at the end of standard input");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
  return run(options);
}
