#include "tools/conform/differential/differential.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <random>
#include <set>
#include <thread>

#include "tools/conform/differential/normalise.h"
#include "tools/conform/differential/setting.h"
#include "tools/conform/differential/side.h"
#include "tools/conform/differential/story.h"
#include "tools/conform/kit/failure.h"
#include "tools/conform/kit/kit.h"

namespace ackord::conform::differential {
namespace {

constexpr int kTries = 40;
constexpr int kReadTries = 15;
constexpr Millis kPause{25};
// Groups and transactions are replaced before their locks, sessions and timeouts run out.
constexpr int kStepsOfAChapter = 120;

// Says only that it has to be asked again: nothing has happened.
const std::set<int64_t> kPassing = {
    static_cast<int64_t>(ErrorCode::LEADER_NOT_AVAILABLE),
    static_cast<int64_t>(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
    static_cast<int64_t>(ErrorCode::COORDINATOR_NOT_AVAILABLE),
    static_cast<int64_t>(ErrorCode::CONCURRENT_TRANSACTIONS),
};

bool has_passing_error(const json::value& value) {
  if (const json::array* items = value.if_array())
    return std::ranges::any_of(*items, has_passing_error);
  const json::object* fields = value.if_object();
  if (fields == nullptr) return false;
  return std::ranges::any_of(*fields, [](const auto& field) {
    json::error_code none;
    if (field.key() == "errorCode" &&
        kPassing.contains(field.value().template to_number<int64_t>(none)))
      return true;
    return has_passing_error(field.value());
  });
}

// Without version and indexes, and not too long.
std::string kind_of(const Step& step, const std::string& where) {
  constexpr size_t kMost = 120;
  std::string path;
  const size_t values = std::min(where.find(": "), where.size());
  for (size_t at = 0; at < values; ++at) {
    if (where[at] == '[')
      at = where.find(']', at);
    else
      path += where[at];
  }
  return fmt::format("{} {}{}", step.of.api, path, where.substr(values, kMost));
}

std::string run_name() {
  std::random_device device;
  return fmt::format("diff{:06x}", device() & 0xffffff);
}

class Run {
 public:
  Run(const client::Endpoint& bootstrap, const client::Endpoint& against,
      const DifferentialOptions& options, std::ostream& out)
      : options_(options),
        out_(out),
        run_(run_name()),
        first_(bootstrap),
        second_(against),
        world_(run_, now_ms()),
        setting_(world_, first_, second_),
        story_(options.seed, served_by_both(first_.broker(), second_.broker()), options.only) {}

  int all() {
    for (int i = 1; i <= options_.count; ++i) {
      if (i % kStepsOfAChapter == 0) {
        world_.share_groups.clear();
        world_.producers.clear();
      }
      setting_.replenish(story_.template_of(i));
      one(story_.step(world_, i));
    }
    setting_.clean_up();
    if (!kinds_.empty()) out_ << "kinds of differences:\n";
    for (const auto& [kind, steps] : kinds_)
      out_ << fmt::format("{:5} {} (first in step {})\n", steps.size(), kind, steps.front());
    out_ << fmt::format("seed {}, {} never answered\n{} requests, {} differences\n", options_.seed,
                        unanswered_, options_.count, differences_);
    return differences_;
  }

 private:
  struct Both {
    Answer first;
    Answer second;
    json::value first_normal;
    json::value second_normal;
  };

  void one(const Step& step) {
    const Both answers = ask(step);
    if (tolerated(answers)) {
      ++unanswered_;
      world_.retire(step.request);
    } else if (const auto where = difference(step, answers)) {
      ++differences_;
      report(step, answers, *where);
      world_.retire(step.request);
    } else if (step.spoil == Spoil::kNot && answers.first.kind == Answer::Kind::kBody &&
               step.of.learn != nullptr) {
      learn(step, answers);
    } else if (step.spoil != Spoil::kNot && !step.of.reads) {
      // What the broker has made of it is not in the world.
      world_.retire(step.request);
    }
    if (ended(answers.first) || ended(answers.second)) forget_connections();
  }

  // In the answers, or in what a Produce has left.
  std::optional<std::string> difference(const Step& step, const Both& answers) {
    if (auto where = first_difference(answers.first_normal, answers.second_normal)) return where;
    if (std::string_view(step.of.api) != "Produce") return std::nullopt;
    return setting_.compare_ends(step);
  }

  void learn(const Step& step, const Both& answers) {
    step.of.learn(world_,
                  {step.request, answers.first_normal.as_object(), answers.first.body.as_object(),
                   answers.second.body.as_object(), first_.symbols, second_.symbols});
    try {
      setting_.settle(step);
    } catch (const std::runtime_error& late) {
      ++differences_;
      report(step, answers, late.what());
      world_.retire(step.request);
    }
  }

  // A broker that leaves a request unanswered for ever gives nothing to compare with.
  static bool tolerated(const Both& answers) { return answers.second.kind == Answer::Kind::kHangs; }
  static bool ended(const Answer& answer) {
    return answer.kind == Answer::Kind::kClosed || answer.kind == Answer::Kind::kHangs;
  }

  // Share sessions end with their connection, and with them what was acquired.
  void forget_connections() {
    first_.disconnect();
    second_.disconnect();
    world_.share_groups.clear();
  }

  Both ask(const Step& step) {
    Both answers;
    for (int tries = 1;; ++tries) {
      send(first_, step);
      send(second_, step);
      answers.first = first_.receive();
      answers.second = second_.receive();
      while (tries < kTries && again(answers.first) != again(answers.second)) {
        ++tries;
        std::this_thread::sleep_for(kPause);
        Side& side = again(answers.first) ? first_ : second_;
        send(side, step);
        (again(answers.first) ? answers.first : answers.second) = side.receive();
      }
      answers.first_normal = normal(answers.first, step, first_);
      answers.second_normal = normal(answers.second, step, second_);
      if (again(answers.first) && tries < kTries) {
        std::this_thread::sleep_for(kPause);
        continue;
      }
      const bool read = step.of.reads && step.spoil == Spoil::kNot;
      if (!read || answers.first_normal == answers.second_normal || tries >= kReadTries ||
          ended(answers.first) || ended(answers.second))
        return answers;
      std::this_thread::sleep_for(2 * kPause);
    }
  }

  static bool again(const Answer& answer) {
    return answer.kind == Answer::Kind::kBody && has_passing_error(answer.body);
  }

  void send(Side& side, const Step& step) {
    const json::value request = side.symbols.real(step.request);
    std::vector<std::byte> frame = encode_request(step.of.api, step.version, request.as_object(),
                                                  {.correlation_id = step.number});
    spoil(frame, step.spoil, step.spoil_at);
    side.send(frame);
  }

  json::value normal(const Answer& answer, const Step& step, const Side& side) const {
    switch (answer.kind) {
      case Answer::Kind::kNone: return "no answer";
      case Answer::Kind::kClosed: return "closes the connection";
      case Answer::Kind::kHangs: return "nothing in time";
      case Answer::Kind::kUnreadable: return "cannot be read";
      case Answer::Kind::kBody: break;
    }
    return normalise(step.of.api, answer.body, normaliser(side));
  }

  Normaliser normaliser(const Side& side) const { return {side.symbols, run_, world_.base_time()}; }

  void report(const Step& step, const Both& answers, const std::string& where) {
    kinds_[kind_of(step, where)].push_back(step.number);
    out_ << title_of(step) << " (seed " << options_.seed << ")\n"
         << "  request: " << show(with_records_read(step.request, normaliser(first_))) << "\n"
         << "  differs: " << where << "\n"
         << "  " << first_.broker().address() << ": " << show(answers.first_normal) << "\n"
         << "  " << second_.broker().address() << ": " << show(answers.second_normal) << "\n";
    out_.flush();
  }

  const DifferentialOptions& options_;
  std::ostream& out_;
  std::string run_;
  Side first_;
  Side second_;
  World world_;
  Setting setting_;
  Story story_;
  std::map<std::string, std::vector<int>> kinds_;
  int differences_ = 0;
  int unanswered_ = 0;
};

}  // namespace

int run_differential(const client::Endpoint& bootstrap, const client::Endpoint& against,
                     const DifferentialOptions& options, std::ostream& out) {
  return Run(bootstrap, against, options, out).all();
}

}  // namespace ackord::conform::differential
