#include "tests/fault/protocol.h"

#include <rapidjson/pointer.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <stdlib.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/spec/address.h"

namespace fault {
namespace {

using fake::Answer;
using fake::Request;
using fake::Response;
using rapidjson::Document;
using rapidjson::Value;

std::string printed(const Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return buffer.GetString();
}

Document parsed(const std::string& json) {
  Document out;
  out.Parse(json.c_str());
  REQUIRE_FALSE(out.HasParseError());
  return out;
}

std::string required(const char* variable) {
  const char* value = getenv(variable);
  REQUIRE_MESSAGE(value != nullptr, variable);
  return value;
}

std::string with(std::string text, const std::string& word, const std::string& value) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
    text.replace(at, word.size(), value);
  return text;
}

// $SERVER and $HOST stand for the server; the files that a run of the command has are not needed here.
std::string placed(const std::string& text, const std::string& scheme) {
  std::string out = with(with(text, "$SERVER", scheme + "://127.0.0.1:9"), "$HOST", "127.0.0.1:9");
  return with(std::move(out), R"(, certificate-authority: "$CA")", "");
}

std::map<std::string, std::string> texts_of(const Value& document, const char* key,
                                            const std::string& scheme) {
  std::map<std::string, std::string> out;
  if (document.HasMember(key))
    for (const auto& one : document[key].GetObject())
      out[one.name.GetString()] = placed(one.value.GetString(), scheme);
  return out;
}

// The page that a request asks for; all protocols have two at most.
size_t page_of(const Request& request) {
  return request.url.find("pageToken=") != std::string::npos ||
                 request.url.find("continue=") != std::string::npos
             ? 1
             : 0;
}

void collect(const Value& value, const std::string& above, bool all,
             std::vector<std::string>& out) {
  if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      out.push_back(above + "/" + with(with(member.name.GetString(), "~", "~0"), "/", "~1"));
      collect(member.value, std::string(out.back()), all, out);
    }
  }
  if (value.IsArray())
    for (rapidjson::SizeType n = 0; n < value.Size(); ++n) {
      out.push_back(above + "/" + std::to_string(n));
      if (all || n + 1 == value.Size()) collect(value[n], std::string(out.back()), all, out);
    }
}

}  // namespace

std::vector<Protocol> protocols() {
  const std::string file =
      required("MUSTER_FAULT_DOCUMENTS") + "/" + required("MUSTER_FAULT_BACKEND") + ".json";
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  const Document all = parsed(text.str());
  const std::string scheme = all["scheme"].GetString();
  std::vector<Protocol> out;
  for (const Value& question : all["questions"].GetArray()) {
    Protocol one;
    one.name = question["name"].GetString();
    one.backend = all["backend"].GetString();
    one.options = placed(printed(question["options"]), scheme);
    one.world.files = texts_of(all, "files", scheme);
    one.world.variables = texts_of(question, "variables", scheme);
    if (question.HasMember("requests"))
      for (const Value& said : question["requests"].GetArray()) {
        one.said.push_back({said["path"].GetString(), {}});
        for (const Value& page : said["pages"].GetArray())
          one.said.back().pages.push_back(printed(page));
      }
    for (const auto& [path, said] : texts_of(question, "texts", scheme))
      one.said.push_back({path, {said}, true});
    for (const Value& member : question["members"].GetArray())
      one.members.emplace_back(member.GetString());
    out.push_back(std::move(one));
  }
  return out;
}

Answer ask(const Protocol& protocol, const Change& change) {
  fake::World world = protocol.world;
  world.serve = [&](const Request& request) {
    const std::string path = "/" + request.url.substr(0, request.url.find('?'));
    const bool metadata = std::any_of(protocol.said.begin(), protocol.said.end(),
                                      [](const Said& said) { return said.metadata; });
    Response out;
    out.status = 404;
    out.body = "{}";
    if (metadata) out.headers["Metadata-Flavor"] = "Google";
    const size_t page = page_of(request);
    for (size_t n = 0; n < protocol.said.size(); ++n) {
      const Said& said = protocol.said[n];
      if (!path.ends_with("/" + said.path) || page >= said.pages.size()) continue;
      out.status = 200;
      out.body = said.pages[page];
      if (change) change(n, page, out);
    }
    return out;
  };
  return fake::ask(protocol.backend, protocol.options, world);
}

bool is_whole(const Answer& answer) {
  if (answer.code != MUSTER_OK || !answer.missing.empty()) return false;
  for (const auto& one : answer.expected)
    if (std::count_if(answer.tasks.begin(), answer.tasks.end(),
                      [&](const fake::Task& task) { return task.job == one.first; }) < one.second)
      return false;
  // The core refuses what is no address; this core takes it.
  return std::all_of(answer.tasks.begin(), answer.tasks.end(), [](const fake::Task& task) {
    muster::Address address;
    return muster::Address::try_parse(task.address, address);
  });
}

std::vector<std::string> members(const Protocol& protocol, const Answer& answer) {
  const bool bare = protocol.members.front().find('=') == std::string::npos;
  std::vector<std::string> out;
  for (const fake::Task& task : answer.tasks) {
    const std::string place =
        task.index == MUSTER_UNRANKED ? task.name : std::to_string(task.index);
    out.push_back(bare ? task.address : task.job + ":" + place + "=" + task.address);
  }
  // In which order ranked ones are told says nothing.
  if (!bare) std::sort(out.begin(), out.end());
  return out;
}

void check(const Protocol& protocol, const Answer& answer, const std::function<bool()>& another) {
  if (is_whole(answer)) {
    CHECK_FALSE(answer.tasks.empty());
    const bool is_true = members(protocol, answer) == protocol.members;
    CHECK_MESSAGE((is_true || (another && another())), answer.cluster());
  }
  CHECK_MESSAGE(answer.code != MUSTER_E_UNKNOWN, answer.message);
  CHECK_MESSAGE(answer.code != MUSTER_E_INTERNAL, answer.message);
  std::string said = answer.message;
  for (const auto& [key, value] : answer.details) said += value;
  for (const std::string& warning : answer.warnings) said += warning;
  // Of many that are missing for one reason it is the reason that is looked at.
  for (size_t n = 0; n < std::min<size_t>(answer.missing.size(), 20); ++n)
    said += answer.missing[n].reason;
  CHECK_MESSAGE(said.find("canary") == std::string::npos, said);
  CHECK_MESSAGE(said.size() < 20000, said.size());
  for (const char* control : {"\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\xa8", "\n\n\n"})
    if (said.find(control) != std::string::npos) FAIL_CHECK("it has a control character: " << said);
}

std::vector<std::string> places(const std::string& json, bool all) {
  std::vector<std::string> out;
  collect(parsed(json), "", all, out);
  return out;
}

const std::vector<std::string>& replacements() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> values = {"null",
                                       "true",
                                       "false",
                                       "0",
                                       "-1",
                                       "70000",
                                       "1.5",
                                       "1e300",
                                       "18446744073709551616",
                                       R"("x")",
                                       R"("None")",
                                       R"("null")",
                                       R"("10.1.0n1")",
                                       R"("0x7f000001")",
                                       R"("10.1")",
                                       R"("z-a")",
                                       R"("0.0.0.0")",
                                       R"("")",
                                       R"("\u001b[31m\u009b\u202e\u2028\u007f")",
                                       R"("\u0000")",
                                       "[]",
                                       "{}",
                                       "[[]]",
                                       R"([{"x": 1}])",
                                       R"({"x": 1})",
                                       R"(["x"])",
                                       "\"" + std::string(70000, 'a') + "\""};
    values.insert(values.end(), {"", "+null", "+5", R"(+"x")", "+[]", "+{}"});
    return values;
  }();
  return all;
}

std::string replaced(const std::string& json, const std::string& place,
                     const std::string& replacement) {
  Document document = parsed(json);
  const rapidjson::Pointer pointer(place.c_str());
  if (replacement.empty()) {
    pointer.Erase(document);
    return printed(document);
  }
  // RapidJSON has no number of 65 bits and no key twice; their text is put in afterwards.
  const std::string mark = "\"@mark@\"";
  const std::string before = printed(*pointer.Get(document));
  pointer.Set(document, "@mark@");
  std::string out = printed(document);
  const size_t at = out.find(mark);
  if (replacement.front() != '+') return out.replace(at, mark.size(), replacement);
  if (out[at - 1] != ':') return "";
  const size_t key = out.rfind('"', at - 3);
  const std::string again = out.substr(key, at - key);
  return out.replace(at, mark.size(), before + "," + again + replacement.substr(1));
}

}  // namespace fault
