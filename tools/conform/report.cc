#include "tools/conform/report.h"

#include <boost/json/serialize.hpp>

namespace ackord::conform {
namespace {

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default:
        // XML 1.0 has no way to write the other control characters.
        out += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

std::string seconds(Millis time) {
  return fmt::format("{:.3f}", static_cast<double>(time.count()) / 1000);
}

}  // namespace

Counts count(const std::vector<Result>& results) {
  Counts counts;
  for (const Result& result : results) {
    counts.passed += result.outcome == Outcome::kPassed ? 1 : 0;
    counts.failed += result.outcome == Outcome::kFailed ? 1 : 0;
    counts.skipped += result.outcome == Outcome::kSkipped ? 1 : 0;
  }
  return counts;
}

void write_line(std::ostream& out, const Result& result) {
  out << fmt::format("{} {} ({} ms)\n", name_of(result.outcome), result.check.name,
                     result.took.count());
  if (!result.message.empty()) out << "  " << result.message << "\n";
}

void write_closing_line(std::ostream& out, const std::vector<Result>& results) {
  const Counts counts = count(results);
  out << fmt::format("{} passed, {} failed, {} skipped\n", counts.passed, counts.failed,
                     counts.skipped);
}

void write_junit(std::ostream& out, const std::vector<Result>& results) {
  const Counts counts = count(results);
  Millis total{0};
  for (const Result& result : results) total += result.took;
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out << fmt::format(
      "<testsuite name=\"ackord-conform\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" "
      "time=\"{}\">\n",
      results.size(), counts.failed, counts.skipped, seconds(total));
  for (const Result& result : results) {
    out << fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{}\">",
                       result.check.of->area->name, xml_text(result.check.name),
                       seconds(result.took));
    const std::string message = xml_text(result.message);
    if (result.outcome == Outcome::kFailed)
      out << "<failure message=\"" << message.substr(0, message.find('\n')) << "\">" << message
          << "</failure>";
    if (result.outcome == Outcome::kSkipped) out << "<skipped message=\"" << message << "\"/>";
    out << "</testcase>\n";
  }
  out << "</testsuite>\n";
}

void write_json(std::ostream& out, const std::vector<Result>& results, const std::string& label,
                const std::string& address) {
  const Counts counts = count(results);
  Object areas;
  json::array list;
  for (const Result& result : results) {
    const Area& area = *result.check.of->area;
    areas[area.name] = area.title;
    list.emplace_back(Object{{"name", result.check.name},
                             {"area", area.name},
                             {"spec", result.check.of->spec},
                             {"outcome", std::string(name_of(result.outcome))},
                             {"message", result.message},
                             {"milliseconds", result.took.count()}});
  }
  out << json::serialize(Object{{"label", label},
                                {"broker", address},
                                {"passed", counts.passed},
                                {"failed", counts.failed},
                                {"skipped", counts.skipped},
                                {"areas", areas},
                                {"results", list}})
      << "\n";
}

}  // namespace ackord::conform
