// A static that every library of the process shares, beside bad.c.
template <class T>
struct Shared {
  static int value;
};
template <class T>
int Shared<T>::value = 1;
struct __attribute__((visibility("default"))) Kind {};
template struct __attribute__((visibility("default"))) Shared<Kind>;
