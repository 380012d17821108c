// SPDX-License-Identifier: Apache-2.0
/**
 * The C functions of a backend's table, and of its extensions, out of a class's member functions. Part of <muster/plugin.hpp>, which
 * includes it; what a backend uses of it is MUSTER_PLUGIN.
 */
#ifndef MUSTER_PLUGIN_TABLE_HPP
#define MUSTER_PLUGIN_TABLE_HPP

#include <muster/plugin.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace muster {
namespace sdk {

/** Whether a class has a function watch(Call&). */
template <typename Backend, typename = void>
struct Watches : std::false_type {};
template <typename Backend>
struct Watches<Backend,
               std::void_t<decltype(std::declval<Backend&>().watch(std::declval<Call&>()))>>
    : std::true_type {};

/** Whether a class has a function permissions(Call&, const PermissionsRequest&). */
template <typename Backend, typename = void>
struct SaysPermissions : std::false_type {};
template <typename Backend>
struct SaysPermissions<Backend, std::void_t<decltype(std::declval<Backend&>().permissions(
                                    std::declval<Call&>(), PermissionsRequest{}))>>
    : std::true_type {};

/** Whether a class has a function plan(Call&, int64_t). */
template <typename Backend, typename = void>
struct Plans : std::false_type {};
template <typename Backend>
struct Plans<Backend, std::void_t<decltype(std::declval<Backend&>().plan(
                          std::declval<Call&>(), int64_t{1}))>> : std::true_type {};

/** The functions of a table for a class with create and resolve, and perhaps watch, permissions and plan; used through MUSTER_PLUGIN. */
template <typename Backend>
struct Functions {
  struct Resolver {
    Host host;
    std::unique_ptr<Backend> backend;
  };

  static int32_t create(const muster_host_v1* host, const char* options, uint64_t options_size,
                        muster_resolver** resolver, muster_error* error) {
    const Host wrapped(host);
    return guarded(wrapped, error, [&]() -> int32_t {
      const std::string_view text = options_size == MUSTER_NUL_TERMINATED
                                        ? std::string_view(options)
                                        : std::string_view(options, options_size);
      Result<std::unique_ptr<Backend>> backend = Backend::create(wrapped, text);
      if (!backend) return wrapped.fail(error, backend.failure());
      *resolver = reinterpret_cast<muster_resolver*>(new Resolver{wrapped, *std::move(backend)});
      return MUSTER_OK;
    });
  }

  static void destroy(muster_resolver* resolver) { delete reinterpret_cast<Resolver*>(resolver); }

  static int32_t resolve(muster_resolver* resolver, const muster_call_v1* table,
                         muster_error* error) {
    Resolver& own = *reinterpret_cast<Resolver*>(resolver);
    return called(own, table, error, [&](Call& call) { return own.backend->resolve(call); });
  }

  /** muster.watch/1, for a class that has `Status watch(Call&)`: it commits snapshots until cancelled() or a failure. */
  static int32_t watch(muster_resolver* resolver, const muster_call_v1* table,
                       muster_error* error) {
    Resolver& own = *reinterpret_cast<Resolver*>(resolver);
    return called(own, table, error, [&](Call& call) { return own.backend->watch(call); });
  }

  /** muster.permissions/1, for a class that has `Status permissions(Call&, const PermissionsRequest&)`. */
  static int32_t permissions(muster_resolver* resolver,
                             const muster_permissions_request_v1* request,
                             const muster_call_v1* table, muster_error* error) {
    Resolver& own = *reinterpret_cast<Resolver*>(resolver);
    PermissionsRequest asked;
    asked.principal = std::string_view(request->principal, request->principal_size);
    asked.watch = (request->flags & MUSTER_PERMISSIONS_WATCH) != 0;
    return called(own, table, error,
                  [&](Call& call) { return own.backend->permissions(call, asked); });
  }

  /** muster.plan/1, for a class that has `Status plan(Call&, int64_t members)`. */
  static int32_t plan(muster_resolver* resolver, const muster_plan_request_v1* request,
                      const muster_call_v1* table, muster_error* error) {
    Resolver& own = *reinterpret_cast<Resolver*>(resolver);
    return called(own, table, error,
                  [&](Call& call) { return own.backend->plan(call, request->members); });
  }

  static const void* get_extension(const char* id) {
    if constexpr (Watches<Backend>::value) {
      static const muster_watch_v1 table = {sizeof table, &watch};
      if (std::string_view(id) == MUSTER_WATCH_V1) return &table;
    }
    if constexpr (SaysPermissions<Backend>::value) {
      static const muster_permissions_v1 table = {sizeof table, &permissions};
      if (std::string_view(id) == MUSTER_PERMISSIONS_V1) return &table;
    }
    if constexpr (Plans<Backend>::value) {
      static const muster_plan_v1 table = {sizeof table, &plan};
      if (std::string_view(id) == MUSTER_PLAN_V1) return &table;
    }
    (void)id;
    return nullptr;
  }

 private:
  template <typename Body>
  static int32_t called(const Resolver& own, const muster_call_v1* table, muster_error* error,
                        const Body& body) noexcept {
    return guarded(own.host, error, [&]() -> int32_t {
      Call call(own.host, table, error);
      const Status status = body(call);
      if (call.refused()) return call.refusal();
      if (!status) return own.host.fail(error, status.failure());
      // What a service failed with did not matter to the class, so it is no error of the call (MP-10).
      return take_back(own.host, error);
    });
  }
  template <typename Body>
  static int32_t guarded(const Host& host, muster_error* error, const Body& body) noexcept {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return host.get()->set_error(error, MUSTER_E_RESOURCE_EXHAUSTED, "out of memory",
                                   MUSTER_NUL_TERMINATED);
    } catch (const std::exception& exception) {
      return told(host, error, exception.what());
    } catch (...) {
      return told(host, error, "an exception of unknown type");
    }
  }
  static int32_t take_back(const Host& host, muster_error* error) {
    return host.get()->set_error(error, MUSTER_OK, "", 0);
  }
  static int32_t told(const Host& host, muster_error* error, const char* what) noexcept {
    return host.get()->set_error(error, MUSTER_E_INTERNAL, what, MUSTER_NUL_TERMINATED);
  }
};

}  // namespace sdk
}  // namespace muster

/** Defines the table and the entry of a plugin; `name` and `version` are those of its descriptor (MP-2). */
#define MUSTER_PLUGIN(Class, name_, version_)                                                      \
  namespace {                                                                                      \
  const muster_plugin_v1 muster_plugin_table = {                                                   \
      sizeof(muster_plugin_v1),                                                                    \
      MUSTER_PLUGIN_ABI_MAJOR,                                                                     \
      MUSTER_PLUGIN_ABI_MINOR,                                                                     \
      name_,                                                                                       \
      version_,                                                                                    \
      &::muster::sdk::Functions<Class>::create,                                                    \
      &::muster::sdk::Functions<Class>::destroy,                                                   \
      &::muster::sdk::Functions<Class>::resolve,                                                   \
      nullptr,                                                                                     \
      &::muster::sdk::Functions<Class>::get_extension,                                             \
  };                                                                                               \
  }                                                                                                \
  extern "C" MUSTER_EXPORT const muster_plugin_v1* muster_plugin_entry_v1(const muster_host_v1*) { \
    return &muster_plugin_table;                                                                   \
  }

#endif /* MUSTER_PLUGIN_TABLE_HPP */
