// The house rules that a machine can check: which room may include which, the size of files, and
// how files begin.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ACKORD_SOURCE_DIR;

// Room → rooms whose headers it may include (its own always). A room is the longest of these
// prefixes that a path begins with. docs/ARCHITECTURE.md draws the same arrows.
const std::map<std::string, std::set<std::string>> kArrows = {
    {"codegen", {}},
    {"protocol", {}},
    {"broker/base", {"protocol"}},
    {"broker/io", {"protocol", "broker/base"}},
    {"broker/log", {"protocol", "broker/base", "broker/io"}},
    {"broker/coordinator", {"protocol", "broker/base", "broker/io", "broker/log"}},
    {"broker/metadata",
     {"protocol", "broker/base", "broker/io", "broker/log", "broker/coordinator"}},
    {"broker/quota", {"protocol", "broker/base", "broker/io", "broker/metadata"}},
    {"broker/security", {"protocol", "broker/base", "broker/io", "broker/metadata"}},
    {"broker/group",
     {"protocol", "broker/base", "broker/io", "broker/log", "broker/coordinator",
      "broker/metadata"}},
    {"broker/txn",
     {"protocol", "broker/base", "broker/io", "broker/log", "broker/coordinator",
      "broker/metadata"}},
    {"broker/share",
     {"protocol", "broker/base", "broker/io", "broker/log", "broker/coordinator",
      "broker/metadata"}},
    {"broker/api",
     {"protocol", "broker/base", "broker/io", "broker/log", "broker/coordinator", "broker/metadata",
      "broker/group", "broker/txn", "broker/share", "broker/quota", "broker/security"}},
    {"broker/net",
     {"protocol", "broker/base", "broker/io", "broker/quota", "broker/security", "broker/api"}},
    {"broker/http", {"protocol", "broker/base"}},
    {"broker/main",
     {"protocol", "broker/base", "broker/io", "broker/log", "broker/coordinator", "broker/metadata",
      "broker/group", "broker/txn", "broker/share", "broker/quota", "broker/security", "broker/api",
      "broker/http", "broker/net"}},
    {"client", {"protocol"}},
    {"tools", {"protocol", "client"}},
    {"tools/sim", {"protocol", "broker/base", "tests/simulation"}},
};

// Lines of tests/conformance/known_gaps.txt. May only shrink: lower it with every gap that closes.
constexpr size_t kMaxKnownGaps = 0;

// Over the limit, each with the reason. May only shrink.
const std::map<std::string, size_t> kLongFiles = {};
constexpr size_t kMaxLines = 600;
constexpr size_t kMaxHandlerLines = 400;
constexpr size_t kMaxColumns = 100;

// Rooms that may name what belongs to the machine: Asio, threads, mutexes.
const std::set<std::string> kMachineRooms = {
    "broker/io", "broker/http", "broker/net", "broker/main", "client", "tools", "tools/sim"};

struct Source {
  std::string path;  // relative to the root
  std::vector<std::string> lines;
};

std::vector<Source> sources(const std::vector<std::string>& folders) {
  std::vector<Source> out;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string extension = entry.path().extension();
      if (!entry.is_regular_file() || (extension != ".h" && extension != ".cc")) continue;
      Source source{fs::relative(entry.path(), kRoot).string(), {}};
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) source.lines.push_back(line);
      out.push_back(std::move(source));
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return out;
}

std::string room_of(const std::string& path) {
  std::string best;
  for (const auto& [room, arrows] : kArrows) {
    if (path.rfind(room + "/", 0) == 0 && room.size() > best.size()) best = room;
  }
  if (best.empty() && path.rfind("tests/simulation/", 0) == 0) return "tests/simulation";
  return best;
}

std::string included(const std::string& line) {
  constexpr std::string_view kStart = "#include \"";
  if (line.rfind(kStart, 0) != 0) return {};
  const size_t end = line.find('"', kStart.size());
  return line.substr(kStart.size(), end - kStart.size());
}

// Characters of UTF-8 text: bytes that do not continue one.
size_t columns(const std::string& line) {
  return static_cast<size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

const std::vector<std::string> kShipped = {"codegen", "protocol", "broker", "client", "tools"};

TEST(Tidy, RoomsIncludeOnlyAlongTheArrows) {
  for (const Source& source : sources(kShipped)) {
    const std::string room = room_of(source.path);
    ASSERT_FALSE(room.empty()) << source.path << " lies in no room of the table";
    for (const std::string& line : source.lines) {
      const std::string header = included(line);
      if (header.empty()) continue;
      const std::string target = room_of(header);
      if (target.empty() || target == room) continue;
      EXPECT_TRUE(kArrows.at(room).contains(target)) << source.path << " includes " << header;
    }
  }
}

TEST(Tidy, AsioAndThreadsStayInTheirRooms) {
  for (const Source& source : sources({"protocol", "broker"})) {
    if (kMachineRooms.contains(room_of(source.path))) continue;
    for (const std::string& line : source.lines) {
      for (const char* header : {"<boost/asio", "<thread>", "<mutex>", "<condition_variable>",
                                 "<random>", "<fstream>"}) {
        EXPECT_EQ(line.rfind(std::string("#include ") + header, 0), std::string::npos)
            << source.path << ": " << line;
      }
    }
  }
}

TEST(Tidy, FilesAreShort) {
  for (const Source& source :
       sources({"codegen", "protocol", "broker", "client", "tools", "tests"})) {
    const auto listed = kLongFiles.find(source.path);
    const bool handler =
        source.path.rfind("broker/api/", 0) == 0 && std::isdigit(source.path[11]) != 0;
    const size_t limit = listed != kLongFiles.end() ? listed->second
                         : handler                  ? kMaxHandlerLines
                                                    : kMaxLines;
    EXPECT_LE(source.lines.size(), limit) << source.path;
  }
}

TEST(Tidy, LinesAreShort) {
  for (const Source& source :
       sources({"codegen", "protocol", "broker", "client", "tools", "tests"})) {
    for (size_t i = 0; i < source.lines.size(); ++i) {
      EXPECT_LE(columns(source.lines[i]), kMaxColumns) << source.path << ":" << i + 1;
    }
  }
}

TEST(Tidy, HeadersSayWhatTheyAre) {
  for (const Source& source : sources(kShipped)) {
    if (source.path.ends_with(".h")) {
      ASSERT_FALSE(source.lines.empty()) << source.path;
      EXPECT_EQ(source.lines.front().rfind("// ", 0), 0u)
          << source.path << " does not open with its contract";
    }
    for (const std::string& line : source.lines) {
      EXPECT_EQ(line.find("TO"
                          "DO"),
                std::string::npos)
          << source.path << ": " << line;
      EXPECT_EQ(line.find("FIX"
                          "ME"),
                std::string::npos)
          << source.path << ": " << line;
    }
  }
}

TEST(Tidy, EveryRoomHasItsDoor) {
  for (const auto& [room, arrows] : kArrows) {
    if (room == "client" || room == "tools" || room == "tools/sim") continue;
    const fs::path readme = kRoot / room / "README.md";
    ASSERT_TRUE(fs::exists(readme)) << readme;
    std::ifstream in(readme);
    size_t lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    EXPECT_LE(lines, 40u) << readme;
  }
}

TEST(Tidy, KnownGapsAreSortedAndNoneIsAdded) {
  std::ifstream in(kRoot / "tests/conformance/known_gaps.txt");
  std::vector<std::string> gaps;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') gaps.push_back(line);
  EXPECT_EQ(gaps.size(), kMaxKnownGaps);
  EXPECT_TRUE(std::is_sorted(gaps.begin(), gaps.end()));
  EXPECT_EQ(std::adjacent_find(gaps.begin(), gaps.end()), gaps.end());
}

}  // namespace
