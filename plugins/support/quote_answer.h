// The words of a source in a message: a body, a header, what a program printed. They reach people through here alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::support {

// What the source was asked for.
enum class AskedFor { kData, kCredential };

// Its words as `quote` has them, at most `maximum` bytes, without blanks around them; "nothing more" where there are none. Of the answer to a
// request for a credential nothing is quoted, whatever its status or shape: the token may stand anywhere in it.
std::string quote_answer(std::string_view words, AskedFor asked, size_t maximum = 200);

// The same of data without quotes: for a word of a list that the API documents and may add to, such as a state.
std::string plain_answer(std::string_view words, size_t maximum = 60);

// A URL out of a credential file, in quotes: without the user and password in it, and without its query.
std::string quote_url(std::string_view url);

// What is secret in a URL: the password of http://USER:PASSWORD@HOST, the token of http://TOKEN@HOST, and each parameter of its query whose
// name says so. None of a text that is no URL.
std::vector<std::string> secrets_of_url(std::string_view url);

}  // namespace muster::support
