"""Checks with confluent-kafka against any broker (see ../support/compat.py). Each has topics and groups of its own."""

import collections
import functools
import sys

from confluent_kafka import (
    AcknowledgeType, Consumer, ConsumerGroupTopicPartitions, IllegalStateException, KafkaException, Producer,
    ShareConsumer, TopicPartition, __version__)
from confluent_kafka.admin import (
    AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic, OffsetSpec)

from compat import BOOTSTRAP, LIMIT_S, check, fresh, run, until

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@functools.cache
def admin():
    return AdminClient({"bootstrap.servers": BOOTSTRAP})


def make_topic(partitions=1, **config):
    name = fresh("topic")
    new = NewTopic(name, partitions, 1, config={key.replace("_", "."): value for key, value in config.items()})
    admin().create_topics([new])[name].result(LIMIT_S)
    return name


def make_share_group(**config):
    name = fresh("share")
    settings = {"share.auto.offset.reset": "earliest"} | {key.replace("_", "."): value for key, value in config.items()}
    entries = [ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in settings.items()]
    resource = ConfigResource(ConfigResource.Type.GROUP, name, incremental_configs=entries)
    admin().incremental_alter_configs([resource])[resource].result(LIMIT_S)
    return name


def producer(**config):
    return Producer({"bootstrap.servers": BOOTSTRAP} | {key.replace("_", "."): value for key, value in config.items()})


def produce(topic, values, partition=0, **config):
    client = producer(**config)
    failures = []
    for value in values:
        client.produce(topic, value, key=b"k", partition=partition, headers=[("h", b"1"), ("n", None)],
                       on_delivery=lambda error, _: error and failures.append(error))
    left = client.flush(LIMIT_S)
    assert left == 0 and not failures, (left, failures[:3])


def share_consumer(group, topic, mode="implicit"):
    client = ShareConsumer({"bootstrap.servers": BOOTSTRAP, "group.id": group, "share.acknowledgement.mode": mode})
    client.subscribe([topic])
    return client


def take(client, count, treat=lambda message: None):
    taken = []

    def enough():
        for message in client.poll(0.5):
            assert message.error() is None, message.error()
            taken.append(message.value())
            treat(message)
        return len(taken) >= count

    until(enough, f"{count} records")
    return taken


def take_messages(client, count):
    messages = []

    def enough():
        for message in client.consume(count - len(messages), 0.5):
            assert message.error() is None, message.error()
            messages.append(message)
        return len(messages) >= count

    until(enough, f"{count} records")
    return messages


def consume(topic, group, count, **config):
    client = Consumer({"bootstrap.servers": BOOTSTRAP, "group.id": group, "auto.offset.reset": "earliest"}
                      | {key.replace("_", "."): value for key, value in config.items()})
    client.subscribe([topic])
    return client, take_messages(client, count)


def values(messages):
    return [message.value() for message in messages]


def read(topic, count, **config):
    client, messages = consume(topic, fresh("group"), count, group_protocol="classic", **config)
    client.close()
    return messages


@check("metadata")
def metadata():
    topic = make_topic(3)
    until(lambda: len(admin().list_topics(topic, LIMIT_S).topics[topic].partitions) == 3, "three partitions")
    cluster = admin().describe_cluster().result(LIMIT_S)
    assert len(cluster.nodes) == 1 and cluster.controller.id == cluster.nodes[0].id, cluster


@check("produce.codecs")
def codecs():
    topic = make_topic()
    sent = {codec: [f"{codec}-{i}-{'x' * 200}".encode() for i in range(20)] for codec in CODECS}
    for codec in CODECS:
        produce(topic, sent[codec], compression_type=codec)
    assert values(read(topic, 20 * len(CODECS))) == [value for codec in CODECS for value in sent[codec]]


@check("produce.headers")
def headers():
    topic = make_topic()
    produce(topic, [b"v"])
    message, = read(topic, 1)
    assert message.headers() == [("h", b"1"), ("n", None)] and message.key() == b"k", message.headers()


@check("produce.nulls")
def nulls():
    topic, client = make_topic(), producer()
    pairs = [(None, b"v"), (b"k", None), (None, None), (b"", b"")]
    for key, value in pairs:
        client.produce(topic, value, key)
    assert client.flush(LIMIT_S) == 0
    assert [(message.key(), message.value()) for message in read(topic, 4)] == pairs


@check("produce.idempotent")
def idempotent():
    topic = make_topic()
    sent = [str(i).encode() for i in range(1000)]
    produce(topic, sent, enable_idempotence=True, batch_num_messages=7)
    assert values(read(topic, 1000)) == sent


def transactional_producer():
    client = producer(transactional_id=fresh("tx"))
    client.init_transactions(LIMIT_S)
    return client


@check("txn.commit")
def commits():
    topic, client = make_topic(2), transactional_producer()
    for _ in range(2):
        client.begin_transaction()
        for partition in range(2):
            client.produce(topic, b"v", partition=partition)
        client.commit_transaction(LIMIT_S)
    assert values(read(topic, 4, isolation_level="read_committed")) == [b"v"] * 4


@check("txn.abort")
def aborts():
    topic, client = make_topic(), transactional_producer()
    for end, value in ((client.abort_transaction, b"never"), (client.commit_transaction, b"kept")):
        client.begin_transaction()
        client.produce(topic, value, partition=0)
        assert client.flush(LIMIT_S) == 0
        end(LIMIT_S)
    assert values(read(topic, 1, isolation_level="read_committed")) == [b"kept"]
    assert values(read(topic, 2, isolation_level="read_uncommitted")) == [b"never", b"kept"]


@check("txn.offsets")
def transaction_with_offsets():
    source, sink, group = make_topic(), make_topic(), fresh("group")
    produce(source, [b"1", b"2", b"3"])
    client, messages = consume(source, group, 3, group_protocol="classic", enable_auto_commit=False)
    transactional = transactional_producer()
    for commits_it in (False, True):
        transactional.begin_transaction()
        for message in messages:
            transactional.produce(sink, b"out-" + message.value())
        transactional.send_offsets_to_transaction(
            client.position(client.assignment()), client.consumer_group_metadata(), LIMIT_S)
        if commits_it:
            transactional.commit_transaction(LIMIT_S)
        else:
            transactional.abort_transaction(LIMIT_S)
    committed = client.committed([TopicPartition(source, 0)], LIMIT_S)
    client.close()
    assert committed[0].offset == 3, committed
    assert values(read(sink, 3, isolation_level="read_committed")) == [b"out-1", b"out-2", b"out-3"]


@check("consume.read_committed")
def read_committed():
    topic, client = make_topic(), transactional_producer()
    produce(topic, [b"before"])
    client.begin_transaction()
    client.produce(topic, b"open", partition=0)
    assert client.flush(LIMIT_S) == 0
    produce(topic, [b"after"])
    reader, messages = consume(topic, fresh("group"), 1, isolation_level="read_committed", group_protocol="classic")
    assert values(messages) == [b"before"]
    assert reader.poll(0.5) is None, "what follows an open transaction is not stable"
    client.commit_transaction(LIMIT_S)
    assert values(take_messages(reader, 2)) == [b"open", b"after"]
    reader.close()


def group_goes_on(protocol):
    topic, group = make_topic(2), fresh("group")
    for partition in range(2):
        produce(topic, [f"{partition}-{i}".encode() for i in range(10)], partition)
    client, messages = consume(topic, group, 20, group_protocol=protocol, enable_auto_commit=False)
    assert sorted(values(messages)) == sorted(f"{p}-{i}".encode() for p in range(2) for i in range(10))
    client.commit(asynchronous=False)
    client.close()
    produce(topic, [b"more"])
    client, messages = consume(topic, group, 1, group_protocol=protocol)
    assert values(messages) == [b"more"], "it goes on where it has committed"
    client.close()


@check("consume.commit")
def classic_group_goes_on():
    group_goes_on("classic")


@check("consume.commit.consumer")
def consumer_group_goes_on():
    group_goes_on("consumer")


def two_members_share(protocol):
    topic, group = make_topic(4), fresh("group")
    clients = [Consumer({"bootstrap.servers": BOOTSTRAP, "group.id": group, "auto.offset.reset": "earliest",
                         "group.protocol": protocol}) for _ in range(2)]
    for client in clients:
        client.subscribe([topic])

    def shared():
        for client in clients:
            client.poll(0.2)
        return [len(client.assignment()) for client in clients] == [2, 2]

    until(shared, "two partitions each")
    clients[0].close()

    def taken_over():
        clients[1].poll(0.2)
        return len(clients[1].assignment()) == 4

    until(taken_over, "all partitions for the one that stays")
    clients[1].close()


@check("consume.group.classic")
def two_classic_members():
    two_members_share("classic")


@check("consume.group.consumer")
def two_consumer_members():
    two_members_share("consumer")


@check("admin.topics")
def topics():
    client, topic = admin(), make_topic(2)
    try:
        client.create_topics([NewTopic(topic, 2, 1)])[topic].result(LIMIT_S)
        raise AssertionError("a topic was made twice")
    except KafkaException as error:
        assert error.args[0].name() == "TOPIC_ALREADY_EXISTS", error
    client.create_partitions([NewPartitions(topic, 3)])[topic].result(LIMIT_S)
    until(lambda: len(client.list_topics(topic, LIMIT_S).topics[topic].partitions) == 3, "three partitions")
    client.delete_topics([topic])[topic].result(LIMIT_S)
    until(lambda: topic not in client.list_topics(timeout=LIMIT_S).topics, "the topic is gone")


@check("admin.configs")
def configs():
    client, topic = admin(), make_topic(retention_ms="3600000")
    change = ConfigEntry("segment.bytes", "1048576", incremental_operation=AlterConfigOpType.SET)
    altered = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[change])
    client.incremental_alter_configs([altered])[altered].result(LIMIT_S)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)

    def changed():
        found = client.describe_configs([resource])[resource].result(LIMIT_S)
        return [found[name].value for name in ("retention.ms", "segment.bytes")] == ["3600000", "1048576"]

    until(changed, "the new value")


@check("admin.groups")
def groups():
    client, topic, group = admin(), make_topic(), fresh("group")
    produce(topic, [b"v"])
    member, _ = consume(topic, group, 1, group_protocol="classic")
    described = client.describe_consumer_groups([group])[group].result(LIMIT_S)
    assert described.state.name == "STABLE" and len(described.members) == 1, described.state
    member.close()
    assert group in {listed.group_id for listed in client.list_consumer_groups().result(LIMIT_S).valid}
    client.delete_consumer_groups([group])[group].result(LIMIT_S)
    assert group not in {listed.group_id for listed in client.list_consumer_groups().result(LIMIT_S).valid}


@check("admin.offsets")
def group_offsets():
    client, topic, group = admin(), make_topic(2), fresh("group")
    produce(topic, [b"a", b"b"])
    where = TopicPartition(topic, 0)
    assert client.list_offsets({where: OffsetSpec.latest()})[where].result(LIMIT_S).offset == 2
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 1)])
    client.alter_consumer_group_offsets([wanted])[group].result(LIMIT_S)
    found = client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(LIMIT_S)
    assert [(p.partition, p.offset) for p in found.topic_partitions] == [(0, 1)], found.topic_partitions


@check("admin.delete_records")
def deletes_records():
    client, topic = admin(), make_topic()
    produce(topic, [b"a", b"b"])
    where = TopicPartition(topic, 0)
    client.delete_records([TopicPartition(topic, 0, 1)])[where].result(LIMIT_S)
    assert client.list_offsets({where: OffsetSpec.earliest()})[where].result(LIMIT_S).offset == 1


@check("share.consume")
def share_implicit():
    topic, group = make_topic(), make_share_group()
    produce(topic, [str(i).encode() for i in range(200)])
    with share_consumer(group, topic) as client:
        assert take(client, 200) == [str(i).encode() for i in range(200)]
        client.commit_sync(LIMIT_S)
    produce(topic, [b"last"])
    with share_consumer(group, topic) as client:
        assert take(client, 1) == [b"last"], "what was accepted does not come again"


@check("share.acknowledge")
def share_explicit():
    topic, group = make_topic(), make_share_group()
    produce(topic, [str(i).encode() for i in range(30)])
    seen = collections.Counter()

    def treat(message):
        seen[message.value()] += 1
        number = int(message.value())
        if number % 3 == 0:
            kind = AcknowledgeType.REJECT
        elif number % 3 == 1 and seen[message.value()] == 1:
            kind = AcknowledgeType.RELEASE
        else:
            kind = AcknowledgeType.ACCEPT
        client.acknowledge(message, kind)

    with share_consumer(group, topic, "explicit") as client:
        take(client, 40, treat)
        results = client.commit_sync(LIMIT_S)
        assert all(error is None for error in results.values()), results
    assert seen == {str(i).encode(): 2 if i % 3 == 1 else 1 for i in range(30)}


@check("share.acknowledge.close")
def share_close_gives_back():
    topic, group = make_topic(), make_share_group()
    produce(topic, [b"1", b"2", b"3"])
    first = share_consumer(group, topic, "explicit")
    assert len(take(first, 3)) == 3
    first.close()
    with share_consumer(group, topic, "explicit") as second:
        assert sorted(take(second, 3, second.acknowledge)) == [b"1", b"2", b"3"]
        second.commit_sync(LIMIT_S)


@check("share.consume.two")
def share_two_consumers():
    topic, group = make_topic(), make_share_group()
    clients = [share_consumer(group, topic) for _ in range(2)]
    taken = collections.Counter()
    wanted = [f"{batch}-{i}".encode() for batch in range(20) for i in range(20)]
    for batch in range(20):
        produce(topic, wanted[batch * 20:batch * 20 + 20])

    def all_taken():
        for client in clients:
            taken.update(message.value() for message in client.poll(0.3))
        return len(taken) == len(wanted)

    until(all_taken, "all records")
    for client in clients:
        client.close()
    assert taken == collections.Counter(wanted), "each record went to one of them"


@check("share.acknowledge.refused")
def share_refuses_what_it_does_not_hold():
    topic, group = make_topic(), make_share_group()
    produce(topic, [b"1"])
    with share_consumer(group, topic, "explicit") as client:
        take(client, 1, client.acknowledge)
        try:
            client.acknowledge_offset(topic, 0, 77)
        except IllegalStateException:
            pass
        else:
            raise AssertionError("an offset that was not delivered was acknowledged")
        client.commit_sync(LIMIT_S)


if __name__ == "__main__":
    sys.exit(run("confluent-kafka", __version__))
