// What a schema may hold, and that each mistake stops with file, field and reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codegen/emit/codec.h"
#include "codegen/emit/struct.h"
#include "codegen/schema/error.h"
#include "codegen/schema/message.h"

namespace ackord::codegen {
namespace {

using ::testing::HasSubstr;

// A request with these fields, given as JSON.
std::string with_fields(const std::string& fields, const std::string& more = "") {
  return R"({"apiKey": 1, "type": "request", "name": "Foo", "validVersions": "0-3",
             "flexibleVersions": "2+", )" +
         more + R"("fields": [)" + fields + "]}";
}

std::string problem_of(const std::string& text, const std::string& file = "Foo.json") {
  try {
    parse_message(text, file);
  } catch (const SchemaError& problem) {
    return problem.what();
  }
  return "no problem";
}

std::string field_problem(const std::string& field) { return problem_of(with_fields(field)); }

TEST(Schema, TakesKafkasFilesAsTheyAre) {
  const Message message = parse_message(R"(
// Licensed to somebody.
{
  "apiKey": 1, "type": "request", "listeners": ["broker"], "name": "Foo",
  // Version 1 adds Size.
  "validVersions": "0-1", "deprecatedVersions": "0", "flexibleVersions": "1+",
  "latestVersionUnstable": true,
  "fields": [
    { "name": "Size", "type": "int32", "versions": "1+", "default": "0x7fffffff",
      "about": "…", "mapKey": true },
    { "name": "Data", "type": "bytes", "versions": "0+", "zeroCopy": true, "ignorable": true,
      "nullableVersions": "0+", "default": "null" },
  ]
})",
                                        "Foo.json");
  EXPECT_TRUE(message.latest_version_unstable);
  ASSERT_EQ(message.root().fields.size(), 2U);
  EXPECT_EQ(message.root().fields[0].member, "size_") << "size() is a member function";
  const std::string header = emit_header(message);
  EXPECT_THAT(header, HasSubstr("int32_t size_ = 2147483647;"));
  EXPECT_THAT(header, HasSubstr("std::optional<Bytes> data;"));
}

TEST(Schema, AnApiThatIsNoMoreHasNoVersions) {
  const Message message = parse_message(
      R"({"apiKey": 4, "type": "request", "name": "Foo", "validVersions": "none"})", "Foo.json");
  EXPECT_TRUE(message.valid.empty());
}

TEST(Schema, StructsComeBeforeTheirUse) {
  const Message message =
      parse_message(with_fields(R"({"name": "A", "type": "[]Outer", "versions": "0+", "fields": [
                       {"name": "Shared", "type": "Inner", "versions": "0+"}]})",
                                R"("commonStructs": [{"name": "Inner", "versions": "0+", "fields": [
                       {"name": "X", "type": "int8", "versions": "0+"}]}], )"),
                    "Foo.json");
  ASSERT_EQ(message.structs.size(), 3U);
  EXPECT_EQ(message.structs[0].name, "Inner");
  EXPECT_EQ(message.structs[1].name, "Outer");
  EXPECT_EQ(message.structs[2].name, "Foo");
}

TEST(Schema, LeastSizeOfAnElement) {
  const Message message =
      parse_message(with_fields(R"({"name": "A", "type": "[]S", "versions": "0+", "fields": [
                       {"name": "Name", "type": "string", "versions": "0+"},
                       {"name": "Id", "type": "uuid", "versions": "3+"},
                       {"name": "List", "type": "[]int64", "versions": "0+"},
                       {"name": "T", "type": "int64", "versions": "2+", "taggedVersions": "2+",
                        "tag": 0}]},
                     {"name": "B", "type": "[]int16", "versions": "0+"})"),
                    "Foo.json");
  // Version 2: the lengths of the string and of the list, and the count of tagged fields.
  EXPECT_EQ(min_element_size(message, message.root().fields[0]), 3U);
  EXPECT_EQ(min_element_size(message, message.root().fields[1]), 2U);
}

TEST(Schema, BadMessages) {
  EXPECT_THAT(problem_of("{\n\n  nonsense"), HasSubstr("Foo.json: line 3: "));
  EXPECT_EQ(problem_of("[]"), "Foo.json: not a JSON object");
  EXPECT_EQ(problem_of(with_fields(""), "Bar.json"),
            "Bar.json: the file must be named after its message, Foo");
  EXPECT_EQ(problem_of(R"({"type": "request"})"), "Foo.json: name is missing");
  EXPECT_EQ(problem_of(R"({"name": "Foo", "type": "question"})"),
            "Foo.json: unknown message type \"question\"");
  EXPECT_EQ(problem_of(R"({"name": "Foo", "type": "data"})"), "Foo.json: validVersions is missing");
  EXPECT_EQ(problem_of(R"({"name": "Foo", "type": "data", "validVersions": "0+"})"),
            "Foo.json: validVersions must end");
  EXPECT_EQ(problem_of(R"({"name": "Foo", "type": "data", "validVersions": "x"})"),
            "Foo.json: validVersions \"x\" is not a version range");
  EXPECT_EQ(problem_of(R"({"name": "Foo", "type": "data", "validVersions": "0"})"),
            "Foo.json: flexibleVersions is missing");
  EXPECT_EQ(
      problem_of(
          R"({"name": "Foo", "type": "data", "validVersions": "0", "flexibleVersions": "0-3"})"),
      "Foo.json: flexibleVersions must be none or open (\"3+\")");
  EXPECT_EQ(
      problem_of(
          R"({"name": "Foo", "type": "request", "validVersions": "0", "flexibleVersions": "0+"})"),
      "Foo.json: apiKey is missing");
  EXPECT_EQ(
      problem_of(
          R"({"name": "Foo", "type": "data", "validVersions": "0", "flexibleVersions": "0+"})"),
      "Foo.json: fields is not an array");
}

TEST(Schema, BadFields) {
  EXPECT_EQ(field_problem(R"({"type": "int8"})"), "Foo.json: field ?: name is missing");
  EXPECT_EQ(field_problem(R"({"name": "A", "versions": "0+"})"),
            "Foo.json: field A: type is missing");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "int8"})"),
            "Foo.json: field A: versions is missing");
  EXPECT_EQ(field_problem(R"({"name": "A-B", "type": "int8", "versions": "0+"})"),
            "Foo.json: field A-B: not a name");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "int9", "versions": "0+"})"),
            "Foo.json: field A: unknown type \"int9\"");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "Other", "versions": "0+"})"),
            "Foo.json: field A: unknown type \"Other\"");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "int8", "versions": "1-0"})"),
            "Foo.json: field A: versions \"1-0\" is not a version range");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "[]records", "versions": "0+"})"),
            "Foo.json: field A: an array cannot hold records");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "int8", "versions": "0+"},
                             {"name": "A", "type": "int8", "versions": "0+"})"),
            "Foo.json: field A: a second field of this name");
  EXPECT_EQ(
      field_problem(R"({"name": "A", "type": "int8", "versions": "0+", "nullableVersions": "0+"})"),
      "Foo.json: field A: this type cannot be null");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "int8", "versions": "0+", "fields": []})"),
            "Foo.json: field A: only a struct or an array of structs can have fields");
  EXPECT_EQ(field_problem(
                R"({"name": "A", "type": "int8", "versions": "0+", "flexibleVersions": "none"})"),
            "Foo.json: field A: only a string or bytes field can have flexibleVersions of its own");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "int8", "versions": "0+", "ignorable": 1})"),
            "Foo.json: field A: ignorable is not a boolean");
}

TEST(Schema, BadTags) {
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "int8", "versions": "2+", "tag": 0})"),
            "Foo.json: field A: tag and taggedVersions belong together");
  EXPECT_EQ(
      field_problem(
          R"({"name": "A", "type": "int8", "versions": "2+", "taggedVersions": "2+", "tag": -1})"),
      "Foo.json: field A: tag is not a number from 0 on");
  EXPECT_EQ(
      field_problem(
          R"({"name": "A", "type": "int8", "versions": "0+", "taggedVersions": "0+", "tag": 0})"),
      "Foo.json: field A: taggedVersions 0+ outside of flexibleVersions 2+");
  EXPECT_EQ(
      field_problem(
          R"({"name": "A", "type": "int8", "versions": "3+", "taggedVersions": "2+", "tag": 0})"),
      "Foo.json: field A: taggedVersions 2+ outside of versions 3+");
  EXPECT_EQ(
      field_problem(
          R"({"name": "A", "type": "int8", "versions": "2+", "taggedVersions": "2+", "tag": 7},
              {"name": "B", "type": "int8", "versions": "2+", "taggedVersions": "2+", "tag": 7})"),
      "Foo.json: field B: a second field with tag 7");
}

TEST(Schema, BadDefaults) {
  const auto with_default = [](const std::string& type, const std::string& value,
                               const std::string& more = "") {
    return field_problem(R"({"name": "A", "type": ")" + type +
                         R"(", "versions": "0+", "default": )" + value + more + "}");
  };
  EXPECT_EQ(with_default("int8", "128"),
            "Foo.json: field A: default \"128\" is not a number within the range of its type");
  EXPECT_EQ(
      with_default("int32", R"("0x80000000")"),
      "Foo.json: field A: default \"0x80000000\" is not a number within the range of its type");
  EXPECT_EQ(with_default("bool", R"("yes")"),
            "Foo.json: field A: default \"yes\" is not a boolean");
  EXPECT_EQ(with_default("float64", R"("x")"), "Foo.json: field A: default \"x\" is not a number");
  EXPECT_EQ(with_default("[]int8", R"("1")"),
            "Foo.json: field A: default \"1\" for an array can only be null or empty");
  EXPECT_EQ(
      with_default("string", R"("null")", R"(, "nullableVersions": "1+")"),
      "Foo.json: field A: default \"null\" where the field is not nullable in all its versions");
  EXPECT_EQ(with_default("int64", R"("-9223372036854775808")"), "no problem");
  EXPECT_EQ(with_default("bool", "true"), "no problem");
}

TEST(Schema, BadEntities) {
  EXPECT_EQ(
      field_problem(R"({"name": "A", "type": "int32", "versions": "0+", "entityType": "groupId"})"),
      "Foo.json: field A: entityType groupId does not fit the type");
  EXPECT_EQ(
      field_problem(R"({"name": "A", "type": "int32", "versions": "0+", "entityType": "planet"})"),
      "Foo.json: field A: unknown entityType \"planet\"");
}

TEST(Schema, BadStructs) {
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "[]S", "versions": "0+", "fields": [
                               {"name": "B", "type": "int9", "versions": "0+"}]})"),
            "Foo.json: field A.B: unknown type \"int9\"");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "S", "versions": "0+", "fields": []},
                             {"name": "B", "type": "S", "versions": "0+", "fields": []})"),
            "Foo.json: field S: a second struct of this name");
  EXPECT_EQ(field_problem(R"({"name": "A", "type": "S", "versions": "0+", "fields": [
                               {"name": "B", "type": "[]S", "versions": "0+"}]})"),
            "Foo.json: field A.B: the struct S holds itself");
}

}  // namespace
}  // namespace ackord::codegen
