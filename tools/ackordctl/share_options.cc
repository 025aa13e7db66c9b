// Options and help of `ackordctl share`.
#include <memory>

#include "tools/ackordctl/commands.h"
#include "tools/ackordctl/share_commands.h"
#include "tools/ackordctl/share_text.h"

namespace ackord::ctl {
namespace {

constexpr const char* kExamples = R"(
Examples:
  ackordctl share in-flight workers
  ackordctl share in-flight workers orders:3 --json
  ackordctl share release workers orders --member 0f8e6a2c
  ackordctl share release workers orders:3 --offsets 17-20)";

std::string check_target(const std::string& text) {
  return parse_target(text) ? "" : "not TOPIC or TOPIC:PARTITION: " + text;
}
std::string check_offsets(const std::string& text) {
  return parse_offsets(text) ? "" : "not offsets A-B: " + text;
}

}  // namespace

void add_share_commands(CLI::App& app, const bool& json, Command& chosen) {
  const auto options = std::make_shared<ShareOptions>();
  CLI::App* share = app.add_subcommand("share", "share groups");
  share->require_subcommand(1);
  share->footer(kExamples);

  CLI::App* in_flight = share->add_subcommand(
      "in-flight", "what is in flight: offsets, state, deliveries, and who holds them");
  in_flight->add_option("group", options->group, "the share group")->required();
  in_flight->add_option("topic", options->target, "TOPIC or TOPIC:PARTITION; all when left out")
      ->check(check_target);
  in_flight->add_option("--max-ranges", options->max_ranges, "ranges shown of each partition")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  choose(in_flight, options, json, chosen, show_in_flight);

  CLI::App* release = share->add_subcommand(
      "release",
      "makes records available that members hold; what a transaction holds is not released");
  release->add_option("group", options->group, "the share group")->required();
  release->add_option("topic", options->target, "TOPIC or TOPIC:PARTITION")
      ->required()
      ->check(check_target);
  release->add_option("--member", options->member, "only what this member holds");
  release
      ->add_option("--offsets", options->offsets, "only these offsets of one partition: A-B, or A")
      ->check(check_offsets);
  choose(release, options, json, chosen, release_records);
  release->parse_complete_callback([options] {
    if (!options->offsets.empty() && !parse_target(options->target)->partition)
      throw CLI::ValidationError("--offsets", "needs TOPIC:PARTITION");
  });
}

}  // namespace ackord::ctl
