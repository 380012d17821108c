// Host: the table that a resolver gets at create, with the services behind it.
#pragma once

#include <muster/http.h>
#include <muster/plugin.h>
#include <muster/transport.h>

#include <functional>
#include <memory>
#include <string>

#include "core/result.h"
#include "core/service/session.h"

// The opaque error of the C interfaces: one struct for both of them.
struct muster_error {
  muster::Error error;
  std::string sources_explain;  // what each resolver did, when the error is one of a resolve
  std::string sources_json;
  bool of_opening = false;  // what is not found then is part of the configuration
};

namespace muster {

class Options;

// Finds and loads libmuster-http.so on first use; shared by every host of a cluster. [thread-safe]
class HttpLibrary;
std::shared_ptr<HttpLibrary> make_http_library(
    std::function<Result<std::string>()> find);  // gives the file's absolute path
// The same over a transport that is there already: fault injection and tests. The table outlives the library.
std::shared_ptr<HttpLibrary> make_http_library(const muster_transport_v1* transport);

// What one resolver gets from the core for as long as it lives. Not movable: plugins keep its address.
class Host {
 public:
  // `options_json` is what the options service reads; parsed once, on first use.
  Host(std::string backend, std::string path, std::string options_json,
       std::shared_ptr<const Log> log, std::shared_ptr<Secrets> secrets,
       std::shared_ptr<HttpLibrary> http);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const muster_host_v1* table() const { return &table_; }

 private:
  struct State;
  friend const Options* options_of(const muster_host_v1* host);  // for core/service alone
  muster_host_v1 table_;
  std::unique_ptr<State> state_;
};

}  // namespace muster
