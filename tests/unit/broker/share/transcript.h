// Golden transcripts: commands (`> …`) on one share shard, each followed by what came of it.
//   = the reply      + a record or marker written      ! a key whose waiting fetches are woken |
//   what `show` shows
// Share partitions of group "g" and one topic are named by letters: a is partition 0. `key b`
// switches.
#pragma once

#include <string>

namespace ackord::share {

// The file's commands with the output that they give now. A fault in a command is part of the
// output.
std::string run_transcript(const std::string& text);

// The same for a coordinator of batch transactions: ids are of group "g", "h/…" of group h.
//   = the reply: state, records staged, participants to be told      + the record written
std::string run_batch_transcript(const std::string& text);

}  // namespace ackord::share
