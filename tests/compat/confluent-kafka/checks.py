"""Checks with confluent-kafka against any broker: python3 checks.py BOOTSTRAP [CHECK…].

Each check has topics and groups of its own. The last line is "N passed, N failed".
"""

import collections
import functools
import sys
import time
import traceback
import uuid

from confluent_kafka import (
    Consumer, ConsumerGroupTopicPartitions, IllegalStateException, Producer, ShareConsumer, TopicPartition)
from confluent_kafka import AcknowledgeType
from confluent_kafka.admin import (
    AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic, OffsetSpec)

BOOTSTRAP = ""
LIMIT_S = 30
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
checks = []


def check(function):
    checks.append(function)
    return function


def fresh(prefix):
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


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


def until(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, f"not in time: {what}"


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


def consume(topic, group, count, **config):
    client = Consumer({"bootstrap.servers": BOOTSTRAP, "group.id": group, "auto.offset.reset": "earliest"}
                      | {key.replace("_", "."): value for key, value in config.items()})
    client.subscribe([topic])
    messages = []

    def enough():
        message = client.poll(0.5)
        if message is not None:
            assert message.error() is None, message.error()
            messages.append(message)
        return len(messages) >= count

    until(enough, f"{count} records")
    return client, messages


@check
def codecs_and_headers():
    topic = make_topic()
    for codec in CODECS:
        produce(topic, [f"{codec}-{i}-{'x' * 200}".encode() for i in range(20)], compression_type=codec)
    client, messages = consume(topic, fresh("group"), 20 * len(CODECS), group_protocol="classic")
    client.close()
    assert [m.value() for m in messages] == [f"{c}-{i}-{'x' * 200}".encode() for c in CODECS for i in range(20)]
    assert messages[0].headers() == [("h", b"1"), ("n", None)] and messages[0].key() == b"k"


def group_goes_on(protocol):
    topic, group = make_topic(2), fresh("group")
    for partition in range(2):
        produce(topic, [f"{partition}-{i}".encode() for i in range(10)], partition)
    client, messages = consume(topic, group, 20, group_protocol=protocol, enable_auto_commit=False)
    assert sorted(m.value() for m in messages) == sorted(f"{p}-{i}".encode() for p in range(2) for i in range(10))
    client.commit(asynchronous=False)
    client.close()
    produce(topic, [b"more"])
    client, messages = consume(topic, group, 1, group_protocol=protocol)
    assert [m.value() for m in messages] == [b"more"], "it goes on where it has committed"
    client.close()


@check
def classic_group_goes_on():
    group_goes_on("classic")


@check
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


@check
def two_classic_members():
    two_members_share("classic")


@check
def two_consumer_members():
    two_members_share("consumer")


@check
def transaction_with_offsets():
    source, sink, group = make_topic(), make_topic(), fresh("group")
    produce(source, [b"1", b"2", b"3"])
    client, messages = consume(source, group, 3, group_protocol="classic", enable_auto_commit=False)
    transactional = producer(transactional_id=fresh("tx"))
    transactional.init_transactions(LIMIT_S)
    for commits in (False, True):
        transactional.begin_transaction()
        for message in messages:
            transactional.produce(sink, b"out-" + message.value())
        transactional.send_offsets_to_transaction(
            client.position(client.assignment()), client.consumer_group_metadata(), LIMIT_S)
        if commits:
            transactional.commit_transaction(LIMIT_S)
        else:
            transactional.abort_transaction(LIMIT_S)
    committed = client.committed([TopicPartition(source, 0)], LIMIT_S)
    client.close()
    assert committed[0].offset == 3, committed
    reader, results = consume(sink, fresh("group"), 3, isolation_level="read_committed", group_protocol="classic")
    reader.close()
    assert [m.value() for m in results] == [b"out-1", b"out-2", b"out-3"]


@check
def admin_tour():
    client = admin()
    topic = make_topic(2, retention_ms="3600000")
    client.create_partitions([NewPartitions(topic, 3)])[topic].result(LIMIT_S)
    produce(topic, [b"a", b"b"])
    until(lambda: len(client.list_topics(topic, LIMIT_S).topics[topic].partitions) == 3, "three partitions")
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    assert client.describe_configs([resource])[resource].result(LIMIT_S)["retention.ms"].value == "3600000"
    where = TopicPartition(topic, 0)
    assert client.list_offsets({where: OffsetSpec.latest()})[where].result(LIMIT_S).offset == 2
    group = fresh("group")
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 1)])
    client.alter_consumer_group_offsets([wanted])[group].result(LIMIT_S)
    found = client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(LIMIT_S)
    assert [(p.partition, p.offset) for p in found.topic_partitions] == [(0, 1)], found.topic_partitions
    assert group in {listed.group_id for listed in client.list_consumer_groups().result(LIMIT_S).valid}
    client.delete_consumer_groups([group])[group].result(LIMIT_S)
    client.delete_records([TopicPartition(topic, 0, 1)])[where].result(LIMIT_S)
    assert client.list_offsets({where: OffsetSpec.earliest()})[where].result(LIMIT_S).offset == 1
    client.delete_topics([topic])[topic].result(LIMIT_S)
    assert len(client.describe_cluster().result(LIMIT_S).nodes) == 1


@check
def share_implicit():
    topic, group = make_topic(), make_share_group()
    produce(topic, [str(i).encode() for i in range(200)])
    with share_consumer(group, topic) as client:
        assert take(client, 200) == [str(i).encode() for i in range(200)]
        client.commit_sync(LIMIT_S)
    produce(topic, [b"last"])
    with share_consumer(group, topic) as client:
        assert take(client, 1) == [b"last"], "what was accepted does not come again"


@check
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


@check
def share_close_gives_back():
    topic, group = make_topic(), make_share_group()
    produce(topic, [b"1", b"2", b"3"])
    first = share_consumer(group, topic, "explicit")
    assert len(take(first, 3)) == 3
    first.close()
    with share_consumer(group, topic, "explicit") as second:
        assert sorted(take(second, 3, second.acknowledge)) == [b"1", b"2", b"3"]
        second.commit_sync(LIMIT_S)


@check
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


@check
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


def main():
    global BOOTSTRAP
    BOOTSTRAP, *names = sys.argv[1:]
    failed = 0
    chosen = [one for one in checks if not names or one.__name__ in names]
    for one in chosen:
        begin = time.monotonic()
        try:
            one()
            print(f"passed {one.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"failed {one.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
