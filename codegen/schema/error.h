// SchemaError: what is wrong with a schema. It stops the build.
#pragma once

#include <stdexcept>
#include <string>

namespace ackord::codegen {

class SchemaError : public std::runtime_error {
 public:
  // `field` is the path of the field ("Topics.Partitions.Index"), or empty when the whole message
  // is meant.
  SchemaError(const std::string& file, const std::string& field, const std::string& reason)
      : std::runtime_error(file + ": " + (field.empty() ? "" : "field " + field + ": ") + reason) {}
};

}  // namespace ackord::codegen
