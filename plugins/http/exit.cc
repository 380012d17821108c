// No exit handlers in a process that is not ours.
//
// cpp-httplib has static objects whose destructors would run in exit() while threads of the host may
// still be inside an exchange. This library is never unloaded, so nobody needs them destroyed. The
// linker sends the calls of everything inside the library here (--wrap in meson.build).

extern "C" {

int __real___cxa_atexit(void (*handler)(void*), void* argument, void* library);

// std::ios_base::Init::~Init(): the last one flushes std::cout, so ours must be counted down.
void stream_goodbye(void*) __asm__("_ZNSt8ios_base4InitD1Ev");

int __wrap___cxa_atexit(void (*handler)(void*), void* argument, void* library);
int __wrap___cxa_atexit(void (*handler)(void*), void* argument, void* library) {
  return handler == stream_goodbye ? __real___cxa_atexit(handler, argument, library) : 0;
}

}  // extern "C"
