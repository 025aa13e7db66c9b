// String and Bytes: the field types of decoded and of built messages.
//
// Ownership: a decoded field borrows from the frame it was read from; a field that is assigned from
// a std::string, or copied from another String, owns its characters. So a copy may always outlive
// the frame, and only a moved or borrowed one may not. Making one never copies what is borrowed,
// and costs one allocation when it owns.
#pragma once

#include <compare>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ackord {

class String {
 public:
  String() = default;
  // Owning copies.
  String(const std::string& text) { own(text.data(), text.size()); }  // NOLINT: implicit by design
  String(const char* text) { own(text, std::strlen(text)); }          // NOLINT: implicit by design
  explicit String(std::string_view text) { own(text.data(), text.size()); }
  String(const String& other) { own(other.data_, other.size_); }
  String(String&& other) noexcept { swap(other); }
  String& operator=(const String& other) {
    if (this != &other) own(other.data_, other.size_);
    return *this;
  }
  String& operator=(String&& other) noexcept {
    String moved(std::move(other));
    swap(moved);
    return *this;
  }

  // Borrows: the characters must outlive the String and what is moved from it.
  static String view(std::string_view text) {
    String s;
    s.data_ = text.data();
    s.size_ = text.size();
    return s;
  }

  std::string_view sv() const { return {data_, size_}; }
  operator std::string_view() const { return sv(); }  // NOLINT: implicit by design
  std::string str() const { return std::string(data_, size_); }
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  friend bool operator==(const String& a, const String& b) { return a.sv() == b.sv(); }
  friend bool operator==(const String& a, std::string_view b) { return a.sv() == b; }
  friend bool operator==(const String& a, const char* b) { return a.sv() == b; }
  friend std::strong_ordering operator<=>(const String& a, const String& b) {
    return a.sv() <=> b.sv();
  }
  friend std::ostream& operator<<(std::ostream& out, const String& s) { return out << s.sv(); }

 private:
  void own(const char* data, size_t size) {
    std::unique_ptr<char[]> copy;
    if (size != 0) {
      copy.reset(new char[size]);
      std::memcpy(copy.get(), data, size);
    }
    owned_ = std::move(copy);
    data_ = owned_ ? owned_.get() : "";
    size_ = size;
  }
  void swap(String& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owned_, other.owned_);
  }

  const char* data_ = "";
  size_t size_ = 0;
  std::unique_ptr<char[]> owned_;
};

// A byte string with the same ownership rules.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::span<const std::byte> bytes)
      : text_(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())) {}
  explicit Bytes(std::string_view bytes) : text_(bytes) {}
  static Bytes view(std::span<const std::byte> bytes) {
    Bytes b;
    b.text_ = String::view({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return b;
  }

  std::span<const std::byte> span() const {
    return {reinterpret_cast<const std::byte*>(text_.data()), text_.size()};
  }
  std::string_view sv() const { return text_.sv(); }
  size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }
  friend bool operator==(const Bytes&, const Bytes&) = default;

 private:
  String text_;
};

}  // namespace ackord

template <>
struct std::hash<ackord::String> {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
