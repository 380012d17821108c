// Worlds with Google in them: a key, files, and the servers that give tokens.
#pragma once

#include <string>

#include "tests/plugin/support/fake_core.h"

namespace fake {

Response reply(int64_t status, std::string body, std::map<std::string, std::string> headers = {});

// A private RSA key made for these tests, in PEM.
const std::string& private_key();

// Whether `jwt` is signed by that key; `claims` becomes its claims.
bool verify_jwt(const std::string& jwt, std::string& claims);

// The key file of a service account; `more` are further members: ", \"k\": 1".
std::string service_account_file(const std::string& more = "");
std::string user_file(const std::string& more = "");

// The file of an external account with this credential source; `more` are further members, such as kImpersonation.
std::string external(const std::string& source, const std::string& more = "");
extern const std::string kImpersonation;

// A world whose API takes any token, and whose token endpoints give "token-1", "token-2", ... each good for an hour.
World google_world();
// With ADC's variable at a file of this content.
World with_file(const std::string& content);

std::string authorization(const Answer& answer, size_t n);
// The value of a field of a form; "" when it is not there.
std::string form_field(const std::string& body, const std::string& name);

}  // namespace fake
