// In a build with a sanitizer, whose options in the environment do not get here: a signal ends the process as it does without one, for how
// it ended is what is told of it.
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the runtimes look for these
const char* __asan_default_options() { return "handle_segv=0:handle_sigbus=0:handle_abort=0"; }
const char* __ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1:suppressions=" UBSAN_SUPPRESSIONS;
}
const char* __tsan_default_options() { return "handle_segv=0:handle_sigbus=0:handle_abort=0"; }
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
