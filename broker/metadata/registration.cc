#include "broker/metadata/registration.h"

#include "broker/metadata/features.h"

namespace ackord::metadata {

protocol::RegisterBrokerRecord registration_of(const MetadataSettings& settings, Uuid incarnation) {
  protocol::RegisterBrokerRecord record;
  record.broker_id = settings.node_id;
  record.incarnation_id = incarnation;
  for (const AdvertisedListener& listener : settings.listeners) {
    record.end_points.push_back({listener.name, listener.host, static_cast<uint16_t>(listener.port),
                                 listener.security_protocol});
  }
  for (const SupportedFeature& feature : supported_features()) {
    record.features.push_back({String(feature.name), feature.min, feature.max});
  }
  record.rack.reset();
  if (settings.rack) record.rack = *settings.rack;
  record.fenced = false;
  if (!settings.directory_id.is_zero()) record.log_dirs = {settings.directory_id};
  record.cordoned_log_dirs.emplace();
  return record;
}

}  // namespace ackord::metadata
