// Reads the time and files as C++ does.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

extern "C" void read_somehow(void);
extern "C" void read_somehow(void) {
  const std::ifstream file(
      "/etc/by-" + std::to_string(std::chrono::system_clock::now().time_since_epoch().count() % 1));
  std::ofstream other;
  other.open("/nowhere/else");
  std::error_code error;
  const bool there =
      std::filesystem::exists("/nowhere/there") || std::filesystem::exists("/or/there", error);
  const std::filesystem::directory_iterator folder("/nowhere/folder", error);
  other << there;
}
