#include "sdk/muster-check/watched_calls.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "sdk/muster-check/socket_address.h"

namespace muster::check {
namespace {

std::function<void(const std::string&)> the_listener;

// What the runtime of a language, or a library inside of the plugin, asks for itself: it says nothing of a cluster.
bool is_of_a_runtime(std::string_view text) {
  return text.starts_with("RUST_") || text.starts_with("GLIBCXX_") ||
         text.starts_with("SIMDJSON_") || text == "/dev/null" || text == "/dev/urandom" ||
         text == "/dev/random";
}

void tell(const char* name, std::string_view text) {
  if (!is_of_a_runtime(text) && the_listener != nullptr)
    the_listener(text.empty() ? std::string(name) + "()"
                              : std::string(name) + "(\"" + std::string(text) + "\")");
}

// Of the arguments of a call, the one that says what it is about: the first text, or an address.
template <typename Argument>
void add_text(std::string& /*text*/, const Argument& /*argument*/) {}
void add_text(std::string& text, const char* argument) {
  if (text.empty() && argument != nullptr) text = argument;
}
void add_text(std::string& text, const std::filesystem::path& argument) {
  text = argument.native();
}
void add_text(std::string& text, const sockaddr* argument) { text = text_of(argument); }

// The watched form of a function whose type says all.
template <auto kReal>
struct Watched {
  static inline const char* name = nullptr;

  template <typename Result, typename... Arguments>
  static WatchedCall under(const char* symbol, const char* shown,
                           Result (*)(Arguments... arguments)) {
    name = shown;
    Result (*instead)(Arguments...) = [](Arguments... arguments) -> Result {
      std::string text;
      (add_text(text, arguments), ...);
      tell(name, text);
      return kReal(arguments...);
    };
    return {symbol, ::dlsym(RTLD_DEFAULT, symbol), reinterpret_cast<const void*>(instead)};
  }
};

// ---- Those whose type does not ----------------------------------------------------------------

WatchedCall by_hand(const char* symbol, const void* instead) {
  return {symbol, ::dlsym(RTLD_DEFAULT, symbol), instead};
}

// The mode is there in its register, whether the caller passed it or not.
int watched_open(const char* path, int flags, mode_t mode) {
  tell("open", path);
  return ::open(path, flags, mode);
}
int watched_openat(int folder, const char* path, int flags, mode_t mode) {
  tell("openat", path);
  return ::openat(folder, path, flags, mode);
}
// What `open` becomes with -D_FORTIFY_SOURCE.
int watched_open_2(const char* path, int flags) { return watched_open(path, flags, 0); }
int watched_openat_2(int folder, const char* path, int flags) {
  return watched_openat(folder, path, flags, 0);
}

// Without a path it is about a file that is open already.
int watched_statx(int folder, const char* path, int flags, unsigned mask, struct statx* status) {
  if (path != nullptr && *path != '\0') tell("statx", path);
  return ::statx(folder, path, flags, mask, status);
}

// Other clocks do not say what time it is.
int watched_clock_gettime(clockid_t clock, timespec* time) {
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI)
    tell("clock_gettime", "CLOCK_REALTIME");
  return ::clock_gettime(clock, time);
}

int watched_gettimeofday(timeval* time, void* /*zone*/) {
  tell("gettimeofday", "");
  return ::gettimeofday(time, nullptr);
}

int watched_socket(int family, int type, int protocol) {
  tell("socket", family == AF_INET    ? "AF_INET"
                 : family == AF_INET6 ? "AF_INET6"
                 : family == AF_UNIX  ? "AF_UNIX"
                                      : "");
  return ::socket(family, type, protocol);
}

// A function of ours cannot return twice from its frame: fork is what vfork may be.
pid_t watched_vfork() {
  tell("vfork", "");
  return ::fork();
}

// Opens a file stream of libstdc++: constructors and members with (this, name, mode), by their mangled names.
struct StreamSymbol {
  const char* symbol;
  bool of_string;  // its name is a std::string
};
#define MUSTER_OPENING(mangled_class)                                                      \
  {"_ZNSt" mangled_class "IcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode", false},           \
      {"_ZNSt" mangled_class "IcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode", false},    \
      {"_ZNSt" mangled_class                                                               \
       "IcSt11char_traitsIcEEC1ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode", \
       true},                                                                              \
  {                                                                                        \
    "_ZNSt" mangled_class                                                                  \
    "IcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode", \
        true                                                                               \
  }
constexpr std::array<StreamSymbol, 13> kStreams = {{
    MUSTER_OPENING("14basic_ifstream"),
    MUSTER_OPENING("14basic_ofstream"),
    MUSTER_OPENING("13basic_fstream"),
    {"_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode", false},
}};
#undef MUSTER_OPENING

template <size_t kNumber>
void* watched_stream(void* stream, const void* name, unsigned mode) {
  using Open = void* (*)(void*, const void*, unsigned);
  static const auto real = reinterpret_cast<Open>(::dlsym(RTLD_DEFAULT, kStreams[kNumber].symbol));
  tell("std::fstream", kStreams[kNumber].of_string ? static_cast<const std::string*>(name)->c_str()
                                                   : static_cast<const char*>(name));
  return real(stream, name, mode);
}

// What std::filesystem::exists and its like ask.
using Path = std::filesystem::path;
constexpr std::filesystem::file_status (*kStatus)(const Path&) = &std::filesystem::status;
constexpr std::filesystem::file_status (*kStatusOrError)(const Path&, std::error_code&) noexcept =
    &std::filesystem::status;

// The constructor of std::filesystem::directory_iterator.
constexpr const char* kDirectory =
    "_ZNSt10filesystem7__cxx1118directory_iteratorC1ERKNS0_4pathENS_17directory_optionsEPSt10error_"
    "code";
void watched_directory(void* iterator, const Path& path, unsigned options, std::error_code* error) {
  using Begin = void (*)(void*, const Path&, unsigned, std::error_code*);
  static const auto real = reinterpret_cast<Begin>(::dlsym(RTLD_DEFAULT, kDirectory));
  tell("std::filesystem::directory_iterator", path.native());
  real(iterator, path, options, error);
}

template <size_t... kNumbers>
void add_streams(std::vector<WatchedCall>& calls, std::index_sequence<kNumbers...> /*numbers*/) {
  (calls.push_back(by_hand(kStreams[kNumbers].symbol,
                           reinterpret_cast<const void*>(&watched_stream<kNumbers>))),
   ...);
}

}  // namespace

// The type of a function has attributes that a template does not keep, and need not.
#pragma GCC diagnostic ignored "-Wignored-attributes"
#define MUSTER_WATCHED(function) Watched<&::function>::under(#function, #function, &::function)
#define MUSTER_BY_HAND(symbol, instead) by_hand(symbol, reinterpret_cast<const void*>(&(instead)))

std::vector<WatchedCall> watched_calls(std::function<void(const std::string&)> listener) {
  the_listener = std::move(listener);
  std::vector<WatchedCall> calls = {
      // Time.
      MUSTER_WATCHED(time),
      MUSTER_WATCHED(timespec_get),
      MUSTER_BY_HAND("clock_gettime", watched_clock_gettime),
      MUSTER_BY_HAND("gettimeofday", watched_gettimeofday),
      Watched<&std::chrono::system_clock::now>::under("_ZNSt6chrono3_V212system_clock3nowEv",
                                                      "std::chrono::system_clock::now",
                                                      &std::chrono::system_clock::now),
      // Environment.
      MUSTER_WATCHED(getenv),
      MUSTER_WATCHED(secure_getenv),
      MUSTER_WATCHED(gethostname),
      MUSTER_WATCHED(uname),
      // Files.
      MUSTER_BY_HAND("open", watched_open),
      MUSTER_BY_HAND("open64", watched_open),
      MUSTER_BY_HAND("__open_2", watched_open_2),
      MUSTER_BY_HAND("__open64_2", watched_open_2),
      MUSTER_BY_HAND("openat", watched_openat),
      MUSTER_BY_HAND("openat64", watched_openat),
      MUSTER_BY_HAND("__openat_2", watched_openat_2),
      MUSTER_BY_HAND("__openat64_2", watched_openat_2),
      MUSTER_WATCHED(creat),
      MUSTER_WATCHED(fopen),
      MUSTER_WATCHED(fopen64),
      MUSTER_WATCHED(freopen),
      MUSTER_WATCHED(opendir),
      MUSTER_WATCHED(scandir),
      MUSTER_WATCHED(access),
      MUSTER_WATCHED(faccessat),
      MUSTER_WATCHED(stat),
      MUSTER_WATCHED(stat64),
      MUSTER_WATCHED(lstat),
      MUSTER_WATCHED(lstat64),
      MUSTER_BY_HAND("statx", watched_statx),
      Watched<kStatus>::under("_ZNSt10filesystem6statusERKNS_7__cxx114pathE",
                              "std::filesystem::status", kStatus),
      Watched<kStatusOrError>::under("_ZNSt10filesystem6statusERKNS_7__cxx114pathERSt10error_code",
                                     "std::filesystem::status", kStatusOrError),
      MUSTER_BY_HAND(kDirectory, watched_directory),
      MUSTER_WATCHED(readlink),
      MUSTER_WATCHED(realpath),
      // Network.
      MUSTER_BY_HAND("socket", watched_socket),
      MUSTER_WATCHED(connect),
      MUSTER_WATCHED(getaddrinfo),
      MUSTER_WATCHED(gethostbyname),
      // Programs.
      MUSTER_WATCHED(fork),
      MUSTER_BY_HAND("vfork", watched_vfork),
      MUSTER_WATCHED(posix_spawn),
      MUSTER_WATCHED(posix_spawnp),
      MUSTER_WATCHED(system),
      MUSTER_WATCHED(popen),
  };
  add_streams(calls, std::make_index_sequence<kStreams.size()>());
  return calls;
}

}  // namespace muster::check
