#include "broker/security/jaas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace ackord::security {
namespace {

Error refuse(std::string text) { return error(ErrorCode::INVALID_CONFIG, std::move(text)); }

constexpr std::array<std::string_view, 4> kFlags = {"required", "requisite", "sufficient",
                                                    "optional"};

struct Token {
  enum class Kind { kEnd, kWord, kQuoted, kSign, kBroken };
  Kind kind = Kind::kEnd;
  std::string text;

  bool is_sign(char sign) const { return kind == Kind::kSign && text[0] == sign; }
  bool has_text() const { return kind == Kind::kWord || kind == Kind::kQuoted; }
};

// Java's StreamTokenizer, as far as Kafka uses it: words, texts in quotes with escapes, comments.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) {}

  Token next() {
    if (!skip_blanks()) return {Token::Kind::kBroken, ""};
    if (rest_.empty()) return {};
    const char first = rest_.front();
    if (first == '"' || first == '\'') return quoted();
    const size_t size =
        static_cast<size_t>(std::find_if_not(rest_.begin(), rest_.end(), is_word) - rest_.begin());
    const Token token{size > 0 ? Token::Kind::kWord : Token::Kind::kSign,
                      std::string(rest_.substr(0, std::max<size_t>(size, 1)))};
    rest_.remove_prefix(token.text.size());
    return token;
  }

 private:
  static bool is_word(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || byte >= 0x80 || c == '_' || c == '$' || c == '-' || c == '.';
  }

  // False: a comment has no end.
  bool skip_blanks() {
    while (!rest_.empty()) {
      if (static_cast<unsigned char>(rest_.front()) <= ' ') {
        rest_.remove_prefix(1);
      } else if (rest_.starts_with("//")) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (rest_.starts_with("/*")) {
        const size_t end = rest_.find("*/", 2);
        if (end == std::string_view::npos) return false;
        rest_.remove_prefix(end + 2);
      } else {
        return true;
      }
    }
    return true;
  }

  Token quoted() {
    const char quote = rest_.front();
    Token token{Token::Kind::kQuoted, ""};
    size_t at = 1;
    while (at < rest_.size() && rest_[at] != quote) {
      if (rest_[at] == '\n') return {Token::Kind::kBroken, ""};
      if (rest_[at] != '\\') {
        token.text += rest_[at++];
        continue;
      }
      if (++at == rest_.size()) break;
      token.text += escaped(at);
    }
    if (at >= rest_.size()) return {Token::Kind::kBroken, ""};
    rest_.remove_prefix(at + 1);
    return token;
  }

  // What follows a backslash at `at`, which moves behind it.
  char escaped(size_t& at) const {
    constexpr std::string_view kLetters = "abfnrtv";
    constexpr std::string_view kMeant = "\a\b\f\n\r\t\v";
    const auto is_octal = [this](size_t place) {
      return place < rest_.size() && rest_[place] >= '0' && rest_[place] <= '7';
    };
    if (!is_octal(at)) {
      const size_t letter = kLetters.find(rest_[at]);
      return letter == std::string_view::npos ? rest_[at++] : (++at, kMeant[letter]);
    }
    const size_t most = rest_[at] <= '3' ? 3 : 2;
    int value = 0;
    for (size_t i = 0; i < most && is_octal(at); ++i) value = value * 8 + (rest_[at++] - '0');
    return static_cast<char>(value);
  }

  std::string_view rest_;
};

}  // namespace

Result<JaasModule> parse_jaas(std::string_view text) {
  Tokens tokens(text);
  JaasModule module;
  Token token = tokens.next();
  if (token.kind != Token::Kind::kWord) return refuse("no login module");
  module.name = std::move(token.text);
  token = tokens.next();
  std::transform(token.text.begin(), token.text.end(), token.text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (token.kind != Token::Kind::kWord ||
      std::find(kFlags.begin(), kFlags.end(), token.text) == kFlags.end())
    return refuse("after the login module must come required (or another of JAAS's flags)");
  for (token = tokens.next(); !token.is_sign(';'); token = tokens.next()) {
    if (token.kind == Token::Kind::kEnd) return refuse("no semicolon at the end");
    if (token.kind == Token::Kind::kBroken) return refuse("a quote or a comment has no end");
    if (!token.has_text()) return refuse("an option's name was expected");
    std::string name = std::move(token.text);
    const bool assigned = tokens.next().is_sign('=');
    token = assigned ? tokens.next() : Token{};
    if (token.kind == Token::Kind::kBroken) return refuse("a quote or a comment has no end");
    if (!token.has_text())
      return refuse(fmt::format("option {} has no value", module.options.size() + 1));
    module.options.insert_or_assign(std::move(name), std::move(token.text));
  }
  if (tokens.next().kind != Token::Kind::kEnd) return refuse("only one login module may be there");
  return module;
}

}  // namespace ackord::security
