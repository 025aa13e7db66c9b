#include "broker/log/checkpoint_files.h"

#include <fmt/format.h>

#include <charconv>

#include "broker/log/log_names.h"

namespace ackord::log {
namespace {

constexpr int kCheckpointVersion = 0;

Error corrupt(const std::string& path, std::string_view why) {
  return error(ErrorCode::CORRUPT_MESSAGE, fmt::format("{}: {}", path, why));
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(at);
    std::string_view part = text.substr(0, end);
    if (part.ends_with('\r')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

template <class Number>
bool parse_number(std::string_view text, Number& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size();
}

// The lines after version and count. An empty file, which Kafka makes before it first writes one,
// has none.
Result<std::vector<std::string_view>> checkpoint_lines(std::string_view text,
                                                       const std::string& path) {
  auto lines = split(text, '\n');
  if (lines.empty()) return lines;
  int version = -1;
  size_t count = 0;
  if (!parse_number(lines[0], version) || version != kCheckpointVersion) {
    return corrupt(path, "unknown checkpoint version");
  }
  if (lines.size() < 2 || !parse_number(lines[1], count) || count != lines.size() - 2) {
    return corrupt(path, "the number of lines is not what its second line says");
  }
  lines.erase(lines.begin(), lines.begin() + 2);
  return lines;
}

// The value of "<key><separator><value>" lines.
std::optional<std::string_view> find_value(std::string_view text, std::string_view key,
                                           char separator) {
  for (std::string_view line : split(text, '\n')) {
    const size_t at = line.find(separator);
    if (at == std::string_view::npos || line.substr(0, at) != key) continue;
    std::string_view value = line.substr(at + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    return value;
  }
  return std::nullopt;
}

}  // namespace

std::string format_offsets(const OffsetCheckpoint& offsets) {
  std::string text = fmt::format("{}\n{}\n", kCheckpointVersion, offsets.size());
  for (const auto& [partition, offset] : offsets) {
    text += fmt::format("{} {} {}\n", partition.topic.sv(), partition.partition, offset);
  }
  return text;
}

Result<OffsetCheckpoint> parse_offsets(std::string_view text, const std::string& path) {
  auto lines = checkpoint_lines(text, path);
  if (lines.has_error()) return lines.error();
  OffsetCheckpoint offsets;
  for (std::string_view line : *lines) {
    const auto parts = split(line, ' ');
    int32_t partition = 0;
    Offset offset = 0;
    if (parts.size() != 3 || !parse_number(parts[1], partition) ||
        !parse_number(parts[2], offset)) {
      return corrupt(path, "a line is not \"topic partition offset\"");
    }
    offsets[TopicPartition{TopicName(std::string(parts[0])), partition}] = offset;
  }
  return offsets;
}

std::string format_epochs(const std::vector<EpochStart>& epochs) {
  std::string text = fmt::format("{}\n{}\n", kCheckpointVersion, epochs.size());
  for (const EpochStart& entry : epochs) {
    text += fmt::format("{} {}\n", entry.epoch, entry.start_offset);
  }
  return text;
}

Result<std::vector<EpochStart>> parse_epochs(std::string_view text, const std::string& path) {
  auto lines = checkpoint_lines(text, path);
  if (lines.has_error()) return lines.error();
  std::vector<EpochStart> epochs;
  for (std::string_view line : *lines) {
    const auto parts = split(line, ' ');
    EpochStart entry;
    if (parts.size() != 2 || !parse_number(parts[0], entry.epoch) ||
        !parse_number(parts[1], entry.start_offset)) {
      return corrupt(path, "a line is not \"epoch offset\"");
    }
    epochs.push_back(entry);
  }
  return epochs;
}

std::string format_partition_metadata(const Uuid& topic_id) {
  return fmt::format("version: 0\ntopic_id: {}\n", topic_id.to_string());
}

Result<Uuid> parse_partition_metadata(std::string_view text, const std::string& path) {
  const auto version = find_value(text, "version", ':');
  const auto id = find_value(text, "topic_id", ':');
  Uuid topic_id;
  if (!version || *version != "0") return corrupt(path, "unknown version");
  if (!id || !Uuid::parse(*id, topic_id)) return corrupt(path, "no topic_id");
  return topic_id;
}

std::string format_meta_properties(const MetaProperties& properties) {
  return fmt::format("#\n#Ackord\ncluster.id={}\ndirectory.id={}\nnode.id={}\nversion=1\n",
                     properties.cluster_id, properties.directory_id.to_string(),
                     properties.node_id);
}

Result<MetaProperties> parse_meta_properties(std::string_view text, const std::string& path) {
  const auto version = find_value(text, "version", '=');
  if (!version || *version != "1") return corrupt(path, "its version is not 1");
  const auto cluster = find_value(text, "cluster.id", '=');
  const auto node = find_value(text, "node.id", '=');
  MetaProperties properties;
  if (!cluster || cluster->empty()) return corrupt(path, "no cluster.id");
  properties.cluster_id = std::string(*cluster);
  if (!node || !parse_number(*node, properties.node_id)) return corrupt(path, "no node.id");
  if (const auto id = find_value(text, "directory.id", '=')) {
    if (!Uuid::parse(*id, properties.directory_id)) return corrupt(path, "bad directory.id");
  }
  return properties;
}

std::string clean_shutdown_text() { return R"({"version":0,"brokerEpoch":-1})"; }

Result<std::vector<std::byte>> read_file(io::FileSystem& files, const std::string& path) {
  auto file = files.open(path, io::OpenMode::kRead);
  if (file.has_error()) return file.error();
  auto size = (*file)->size();
  if (size.has_error()) return size.error();
  std::vector<std::byte> bytes(*size);
  auto got = (*file)->pread(bytes, 0);
  if (got.has_error()) return got.error();
  bytes.resize(*got);
  return bytes;
}

Result<std::optional<std::string>> read_text_file(io::FileSystem& files, const std::string& path) {
  if (!files.exists(path)) return std::optional<std::string>();
  auto bytes = read_file(files, path);
  if (bytes.has_error()) return bytes.error();
  return std::optional<std::string>(
      std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
}

Result<void> write_file(io::FileSystem& files, const std::string& path,
                        std::span<const std::byte> bytes) {
  auto file = files.open(path, io::OpenMode::kCreate);
  if (file.has_error()) return file.error();
  auto cut = (*file)->truncate(0);
  if (cut.has_error()) return cut;
  auto written = (*file)->pwritev(std::span(&bytes, 1), 0);
  if (written.has_error()) return written;
  return (*file)->datasync_now();
}

Result<void> write_file(io::FileSystem& files, const std::string& path, std::string_view text) {
  return write_file(files, path, std::as_bytes(std::span(text)));
}

Result<void> swap_file(io::FileSystem& files, const std::string& directory, std::string_view name,
                       std::string_view text) {
  const std::string path = names::join(directory, name);
  const std::string temporary = path + std::string(names::kTemporary);
  auto written = write_file(files, temporary, text);
  if (written.has_error()) return written;
  return files.rename(temporary, path);
}

Result<void> replace_file(io::FileSystem& files, const std::string& directory,
                          std::string_view name, std::string_view text) {
  auto swapped = swap_file(files, directory, name, text);
  if (swapped.has_error()) return swapped;
  return files.sync_directory_now(directory);
}

}  // namespace ackord::log
