/* A library beyond the C and C++ runtime. */
int other_library(void);
int other_library(void) { return 42; }
