// AddTask and SetAttribute, of which one call has a hundred thousand: written and read without a message of protobuf's in between.
#pragma once

#include <muster/plugin.h>

#include <string>
#include <string_view>

namespace muster {

// Adds the frame as append_frame would. Its texts have at most kTextMaximum bytes each, and are UTF-8.
void append_task(const muster_task_v1& task, std::string& out);
void append_attribute(std::string_view key, std::string_view value, std::string& out);

// Reads the message of a frame that is one of these and has no field but those of version 1.0. False: something else, which is for Frame to
// read. The texts are parts of `message`; whether they are UTF-8 has not been looked at.
bool read_task(std::string_view message, muster_task_v1& task);
bool read_attribute(std::string_view message, std::string_view& key, std::string_view& value);

}  // namespace muster
