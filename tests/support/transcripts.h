// Golden transcripts: text files of commands to a state machine ("> …"), each followed by what came
// of it. Lines that begin with # are comments; they name the rows of docs/PROTOCOL.md that are
// shown: "# Row P4: …", "# Rows M1 M5: …" (tests/unit/tidy/protocol_rows_test.cc).
//
// After a wanted change: ACKORD_UPDATE_GOLDEN=1, and look at the difference. One thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace ackord::test {

using Words = std::vector<std::string>;

inline std::string transcript_folder(const std::string& name) {
  return std::string(ACKORD_TEST_DATA "/transcripts/") + name;
}

// The names of a folder's transcripts, without ".txt".
inline std::vector<std::string> transcripts_of(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(transcript_folder(folder))) {
    if (file.path().extension() == ".txt") out.push_back(file.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The text's commands and comments, each command with what `execute` says of it now.
inline std::string replay_transcript(const std::string& text,
                                     const std::function<std::string(const Words&)>& execute) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("> ")) {
      std::istringstream words(line.substr(2));
      Words command;
      for (std::string word; words >> word;) command.push_back(word);
      out += line + "\n" + execute(command);
    } else if (line.empty() || line.starts_with("#")) {
      out += line + "\n";
    }
  }
  return out;
}

// The file says what `run` makes of it.
inline void check_transcript(const std::string& folder, const std::string& name,
                             const std::function<std::string(const std::string&)>& run) {
  const std::string path = transcript_folder(folder) + "/" + name + ".txt";
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string actual = run(text.str());
  if (std::getenv("ACKORD_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << actual;
    return;
  }
  EXPECT_EQ(actual, text.str());
}

}  // namespace ackord::test
