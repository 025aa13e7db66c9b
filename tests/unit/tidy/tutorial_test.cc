// docs/TUTORIAL.md quotes programs that the build compiles: each quotation, marked by a comment
// with file and region, is the region of the file, to the letter (but for its indentation).
//
//   <!-- client/examples/batch_job.cc [sink] -->        // [sink]
//   ```cpp                                              …
//   …                                                   // [end]
//   ```
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const fs::path kRoot = ACKORD_SOURCE_DIR;

Lines lines_of(const fs::path& path) {
  std::ifstream in(kRoot / path);
  EXPECT_TRUE(in) << path;
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Lines without_indentation(Lines lines) {
  size_t least = std::string::npos;
  for (const std::string& line : lines) {
    if (!line.empty()) least = std::min(least, line.find_first_not_of(' '));
  }
  for (std::string& line : lines) line.erase(0, line.empty() ? 0 : least);
  return lines;
}

// Between "// [name]" and the next "// [end]".
Lines region(const fs::path& path, const std::string& name) {
  Lines found;
  bool inside = false;
  for (const std::string& line : lines_of(path)) {
    if (inside && line.ends_with("// [end]")) return without_indentation(found);
    if (inside) found.push_back(line);
    if (line.ends_with("// [" + name + "]")) inside = true;
  }
  ADD_FAILURE() << path << " has no region " << name;
  return {};
}

TEST(Tutorial, QuotesThePrograms) {
  const std::regex mark(R"(<!-- (client/examples/\S+) \[(\w+)\] -->)");
  const Lines text = lines_of("docs/TUTORIAL.md");
  std::set<std::string> quoted;
  for (size_t at = 0; at < text.size(); ++at) {
    std::smatch found;
    if (!std::regex_match(text[at], found, mark)) continue;
    quoted.insert(found[1]);
    ASSERT_LT(at + 1, text.size());
    ASSERT_EQ(text[at + 1], "```cpp") << "line " << at + 2;
    Lines quotation;
    for (at += 2; at < text.size() && text[at] != "```"; ++at) quotation.push_back(text[at]);
    EXPECT_EQ(quotation, region(found[1].str(), found[2])) << "before line " << at + 1;
  }
  for (const auto& entry : fs::directory_iterator(kRoot / "client/examples")) {
    if (entry.path().extension() != ".cc") continue;
    EXPECT_TRUE(quoted.contains("client/examples/" + entry.path().filename().string()))
        << entry.path() << " is not in the tutorial";
  }
}

}  // namespace
