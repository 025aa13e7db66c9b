// docs/PROTOCOL.md and tests/data/transcripts agree: each row of the state tables is shown by a
// transcript that names it, and no transcript names a row that there is not.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ACKORD_SOURCE_DIR;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// "| P4 | TX_PENDING | …"
std::vector<std::string> rows_of_the_protocol() {
  static const std::regex row(R"(^\| ([A-Z]\d+) \|.*)");
  std::vector<std::string> rows;
  for (const std::string& line : lines_of(kRoot / "docs/PROTOCOL.md")) {
    std::smatch match;
    if (std::regex_match(line, match, row)) rows.push_back(match[1]);
  }
  return rows;
}

// "# Row P4: …", "# Rows M1 M5: …"; the files that name each.
std::map<std::string, std::set<std::string>> rows_of_the_transcripts() {
  static const std::regex comment(R"(^# Rows?((?: [A-Z]\d+)+): .*)");
  static const std::regex name(R"([A-Z]\d+)");
  std::map<std::string, std::set<std::string>> rows;
  for (const auto& file : fs::recursive_directory_iterator(kRoot / "tests/data/transcripts")) {
    if (file.path().extension() != ".txt") continue;
    for (const std::string& line : lines_of(file.path())) {
      std::smatch match;
      if (!std::regex_match(line, match, comment)) continue;
      const std::string names = match[1];
      for (auto at = std::sregex_iterator(names.begin(), names.end(), name);
           at != std::sregex_iterator(); ++at)
        rows[at->str()].insert(file.path().filename());
    }
  }
  return rows;
}

TEST(ProtocolRows, AreNumberedWithoutGaps) {
  std::map<char, int> last;
  for (const std::string& row : rows_of_the_protocol())
    EXPECT_EQ(std::stoi(row.substr(1)), ++last[row[0]]) << row;
  for (const char table : {'P', 'M', 'G', 'T', 'W', 'B'}) EXPECT_GT(last[table], 1) << table;
}

TEST(ProtocolRows, EachHasATranscript) {
  const auto shown = rows_of_the_transcripts();
  for (const std::string& row : rows_of_the_protocol())
    EXPECT_TRUE(shown.contains(row)) << "no transcript says \"# Row " << row << ": …\"";
}

TEST(ProtocolRows, NoTranscriptNamesOthers) {
  const auto rows = rows_of_the_protocol();
  const std::set<std::string> known(rows.begin(), rows.end());
  for (const auto& [row, files] : rows_of_the_transcripts())
    EXPECT_TRUE(known.contains(row)) << row << " in " << *files.begin();
}

}  // namespace
