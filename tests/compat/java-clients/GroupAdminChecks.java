import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.admin.SharePartitionOffsetInfo;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.errors.GroupSubscribedToTopicException;
import org.apache.kafka.common.errors.UnknownMemberIdException;

final class GroupAdminChecks {
  private final Cluster cluster;

  GroupAdminChecks(Cluster cluster) {
    this.cluster = cluster;
  }

  void add(Checks checks) {
    checks.add("admin.groups", () -> {
      groups("classic", GroupType.CLASSIC, "range");
      groups("consumer", GroupType.CONSUMER, "uniform");
    });
    checks.add("admin.groups.remove_members", this::removeMembers);
    checks.add("admin.offsets", this::offsets);
    checks.add("admin.share_groups", this::shareGroups);
  }

  private static void joined(KafkaConsumer<String, String> consumer) throws Exception {
    Checks.until("an assignment", () -> {
      consumer.poll(Cluster.POLL);
      return !consumer.assignment().isEmpty();
    });
  }

  private Set<String> listed(ListGroupsOptions options) throws Exception {
    Collection<GroupListing> groups = Cluster.get(cluster.admin.listGroups(options).all());
    return groups.stream().map(GroupListing::groupId).collect(Collectors.toSet());
  }

  private ConsumerGroupDescription describe(String group) throws Exception {
    return Cluster.get(cluster.admin.describeConsumerGroups(List.of(group)).all()).get(group);
  }

  private void delete(String group) throws Exception {
    Cluster.get(cluster.admin.deleteConsumerGroups(List.of(group)).all());
  }

  private void groups(String protocol, GroupType type, String assignor) throws Exception {
    String topic = cluster.topic(2);
    String group = Cluster.fresh("group");
    TopicPartition partition = new TopicPartition(topic, 0);
    GroupType other = type == GroupType.CLASSIC ? GroupType.CONSUMER : GroupType.CLASSIC;
    try (KafkaConsumer<String, String> consumer = cluster.consumer(group, "group.protocol", protocol, "client.id",
             "the-client", "group.instance.id", "the-instance")) {
      consumer.subscribe(List.of(topic));
      joined(consumer);
      Checks.check(listed(new ListGroupsOptions()).contains(group), "it is listed");
      Checks.check(listed(new ListGroupsOptions().withTypes(Set.of(type))).contains(group), "by its type");
      Checks.check(!listed(new ListGroupsOptions().withTypes(Set.of(other))).contains(group), "not by another");
      Checks.check(listed(new ListGroupsOptions().inGroupStates(Set.of(GroupState.STABLE))).contains(group),
          "by its state");
      Checks.check(!listed(new ListGroupsOptions().inGroupStates(Set.of(GroupState.EMPTY))).contains(group),
          "not by another");

      ConsumerGroupDescription found = describe(group);
      Checks.equal(type, found.type());
      Checks.equal(GroupState.STABLE, found.groupState());
      Checks.equal(assignor, found.partitionAssignor());
      Checks.equal(type == GroupType.CONSUMER, found.groupEpoch().isPresent());
      Checks.equal(1, found.members().size());
      MemberDescription member = found.members().iterator().next();
      Checks.equal("the-client", member.clientId());
      Checks.equal("the-instance", member.groupInstanceId().orElseThrow());
      Checks.equal("/127.0.0.1", member.host());
      Checks.equal(consumer.assignment(), member.assignment().topicPartitions());
      if (type == GroupType.CLASSIC) {
        var classic = Cluster.get(cluster.admin.describeClassicGroups(List.of(group)).all()).get(group);
        Checks.equal("consumer", classic.protocol());
        Checks.equal("range", classic.protocolData());
      }
      consumer.commitSync(Map.of(partition, new OffsetAndMetadata(0)));
      Checks.throwing(GroupNotEmptyException.class, () -> delete(group));
      Checks.throwing(GroupSubscribedToTopicException.class, () -> Cluster.get(
          cluster.admin.deleteConsumerGroupOffsets(group, Set.of(partition)).partitionResult(partition)));
      Checks.throwing(UnknownMemberIdException.class, () -> Cluster.get(cluster.admin.alterConsumerGroupOffsets(group,
          Map.of(partition, new OffsetAndMetadata(1))).all()));
    }
    Cluster.get(cluster.admin.removeMembersFromConsumerGroup(group,
        new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("the-instance")))).all());
    Checks.until("the group is empty", () -> describe(group).groupState() == GroupState.EMPTY);
    delete(group);
    Checks.check(!listed(new ListGroupsOptions()).contains(group), "it is gone");
    Checks.throwing(GroupIdNotFoundException.class, () -> describe(group));
    Checks.throwing(GroupIdNotFoundException.class, () -> delete(group));
  }

  private void removeMembers() throws Exception {
    String topic = cluster.topic(2);
    String group = Cluster.fresh("group");
    try (KafkaConsumer<String, String> consumer = cluster.consumer(group)) {
      consumer.subscribe(List.of(topic));
      joined(consumer);
      Cluster.get(cluster.admin.removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions())
          .all());
      Checks.equal(GroupState.EMPTY, describe(group).groupState());
      Checks.until("the member comes again", () -> {
        consumer.poll(Cluster.POLL);
        return describe(group).groupState() == GroupState.STABLE;
      });
    }
  }

  private Map<TopicPartition, OffsetAndMetadata> committed(String group) throws Exception {
    return Cluster.get(cluster.admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
  }

  private void offsets() throws Exception {
    String topic = cluster.topic(2);
    List<String> groups = List.of(Cluster.fresh("group"), Cluster.fresh("group"));
    TopicPartition first = new TopicPartition(topic, 0);
    TopicPartition second = new TopicPartition(topic, 1);
    for (String group : groups) {
      Cluster.get(cluster.admin.alterConsumerGroupOffsets(group,
          Map.of(first, new OffsetAndMetadata(1, "note"), second, new OffsetAndMetadata(2))).all());
      Checks.equal(Map.of(first, new OffsetAndMetadata(1, "note"), second, new OffsetAndMetadata(2)),
          committed(group));
      Checks.equal(GroupState.EMPTY, describe(group).groupState());
    }
    var found = cluster.admin.listConsumerGroupOffsets(Map.of(groups.get(0), new ListConsumerGroupOffsetsSpec(),
        groups.get(1), new ListConsumerGroupOffsetsSpec().topicPartitions(List.of(second))));
    Checks.equal(2, Cluster.get(found.partitionsToOffsetAndMetadata(groups.get(0))).size());
    Checks.equal(Set.of(second), Cluster.get(found.partitionsToOffsetAndMetadata(groups.get(1))).keySet());
    Cluster.get(cluster.admin.deleteConsumerGroupOffsets(groups.get(0), Set.of(first)).all());
    Checks.equal(Set.of(second), committed(groups.get(0)).keySet());
    Cluster.get(cluster.admin.deleteConsumerGroups(groups).all());
    Checks.equal(Map.of(), committed(groups.get(0)));
  }

  private ShareGroupDescription describeShare(String group) throws Exception {
    return Cluster.get(cluster.admin.describeShareGroups(List.of(group)).all()).get(group);
  }

  private Map<TopicPartition, SharePartitionOffsetInfo> starts(String group) throws Exception {
    return Cluster.get(cluster.admin.listShareGroupOffsets(Map.of(group, new ListShareGroupOffsetsSpec()))
        .partitionsToOffsetInfo(group));
  }

  private void shareGroups() throws Exception {
    String topic = cluster.topic(1);
    TopicPartition partition = new TopicPartition(topic, 0);
    String group = Cluster.fresh("share");
    cluster.configure(ConfigResource.Type.GROUP, group, "share.auto.offset.reset", "earliest");
    cluster.produce(topic, 0, Cluster.numbered("", 10));
    try (var member = cluster.shareConsumer(group, "client.id", "the-client")) {
      member.subscribe(List.of(topic));
      List<Long> taken = new java.util.ArrayList<>();
      Checks.until("records", () -> {
        member.poll(Cluster.POLL).forEach(record -> taken.add(record.offset()));
        return taken.size() == 10;
      });
      member.commitSync();
      Checks.check(listed(ListGroupsOptions.forShareGroups()).contains(group), "it is listed");
      Checks.check(!listed(ListGroupsOptions.forConsumerGroups()).contains(group), "as no consumer group");
      ShareGroupDescription found = describeShare(group);
      Checks.equal(GroupState.STABLE, found.groupState());
      var one = found.members().iterator().next();
      Checks.equal("the-client", one.clientId());
      Checks.equal(Set.of(partition), one.assignment().topicPartitions());
      Checks.throwing(GroupNotEmptyException.class,
          () -> Cluster.get(cluster.admin.deleteShareGroups(List.of(group)).all()));
      Checks.throwing(GroupNotEmptyException.class,
          () -> Cluster.get(cluster.admin.alterShareGroupOffsets(group, Map.of(partition, 1L)).all()));
    }
    Checks.until("the group is empty", () -> describeShare(group).groupState() == GroupState.EMPTY);
    // Where it begins is stored with what is acknowledged next; the lag is not so late.
    Checks.until("all is acknowledged", () -> starts(group).get(partition).lag().orElseThrow() == 0);
    Cluster.get(cluster.admin.alterShareGroupOffsets(group, Map.of(partition, 7L)).all());
    Checks.equal(7L, starts(group).get(partition).startOffset());
    Checks.equal(3L, starts(group).get(partition).lag().orElseThrow());
    try (var member = cluster.shareConsumer(group)) {
      member.subscribe(List.of(topic));
      Checks.until("what comes after the new start", () -> {
        for (var record : member.poll(Cluster.POLL)) {
          Checks.equal("7", record.value());
          return true;
        }
        return false;
      });
    }
    Checks.until("the group is empty", () -> describeShare(group).groupState() == GroupState.EMPTY);
    Cluster.get(cluster.admin.deleteShareGroupOffsets(group, Set.of(topic)).all());
    Checks.equal(Map.of(), starts(group));
    Cluster.get(cluster.admin.deleteShareGroups(List.of(group)).all());
    Checks.check(!listed(new ListGroupsOptions()).contains(group), "it is gone");
    Checks.throwing(GroupIdNotFoundException.class, () -> describeShare(group));
  }
}
