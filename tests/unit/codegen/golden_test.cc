// The generated code of three messages is checked in, so that a change of the generator shows in
// review. ACKORD_UPDATE_GOLDEN=1 writes the files anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "codegen/emit/codec.h"
#include "codegen/emit/json.h"
#include "codegen/emit/struct.h"
#include "codegen/schema/message.h"
#include "codegen/schema/names.h"

namespace ackord::codegen {
namespace {

const std::string kData = ACKORD_TEST_DATA;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void compare(const std::string& file, const std::string& generated) {
  const std::string path = kData + "/codegen/" + file + ".golden";
  if (std::getenv("ACKORD_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << generated;
  EXPECT_EQ(read(path), generated) << path;
}

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, GeneratedCode) {
  const std::string schema = GetParam();
  const Message message = parse_message(read(kData + "/../../schemas/" + schema), schema);
  const std::string name = snake_case(message.name);
  compare(name + ".h", emit_header(message));
  compare(name + ".cc", emit_source(message));
  compare(name + "_json.cc", emit_json_source(message));
}

INSTANTIATE_TEST_SUITE_P(Messages, Golden,
                         ::testing::Values("ProduceRequest.json", "TxnShareAcknowledgeRequest.json",
                                           "records/ConsumerGroupMemberMetadataValue.json"));

}  // namespace
}  // namespace ackord::codegen
