// What a C plugin calls that lets an exception out (bad.c, THROWS).
#include <stdexcept>

extern "C" __attribute__((visibility("hidden"))) void throw_something() {
  throw std::runtime_error("it slipped out");
}
