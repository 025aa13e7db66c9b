"""Checks with kafka-python against any broker (see ../support/compat.py). Each has topics and groups of its own."""
import contextlib
import logging
import sys
import threading
import time

from kafka import (
    KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition, __version__)
from kafka.admin import ConfigResource, ConfigResourceType, MemberToRemove
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.errors import KafkaError, NoError, TopicAlreadyExistsError

from compat import BOOTSTRAP, check, fresh, run, until

CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
LIMIT_S = 20


def closing(client):
    return contextlib.closing(client)


def admin():
    return closing(KafkaAdminClient(bootstrap_servers=BOOTSTRAP))


def producer(**config):
    return closing(KafkaProducer(bootstrap_servers=BOOTSTRAP, **config))


def consumer(*topics, **config):
    settings = {"auto_offset_reset": "earliest", "fetch_max_wait_ms": 100, "heartbeat_interval_ms": 300} | config
    return closing(KafkaConsumer(*topics, bootstrap_servers=BOOTSTRAP, **settings))


def make_topic(partitions=1, configs=None):
    name = fresh("topic")
    with admin() as client:
        client.create_topics({name: {"num_partitions": partitions, "replication_factor": 1, "configs": configs or {}}},
                             wait_for_metadata=True)
    return name


def produce(topic, values, partition=0, **config):
    with producer(**config) as client:
        futures = [client.send(topic, value, partition=partition) for value in values]
        return [future.get(LIMIT_S).offset for future in futures]


def take(client, count):
    # A poll that runs out of time while it joins a group loses the assignment in this version of the client, so polls are
    # long; they end with the first records.
    records = []
    end = time.monotonic() + LIMIT_S
    while len(records) < count:
        assert time.monotonic() < end, f"not in time: {count} records"
        for batch in client.poll(timeout_ms=LIMIT_S * 1000).values():
            records.extend(batch)
    return records


@contextlib.contextmanager
def polled(client):
    """Polls in a thread of its own, which is what keeps a member in its group; gives the values that came."""
    values, stop = [], threading.Event()

    def poll():
        while not stop.is_set():
            for batch in client.poll(timeout_ms=1500).values():
                values.extend(record.value for record in batch)

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield values
    finally:
        stop.set()
        thread.join()


def read(topic, count, **config):
    with consumer(topic, **config) as client:
        return take(client, count)


@check("metadata")
def metadata():
    topic = make_topic(3)
    with admin() as client:
        cluster = client.describe_cluster()
        assert len(cluster["brokers"]) == 1, cluster
        assert topic in client.list_topics()
        described, = client.describe_topics([topic])
        assert sorted(one["partition_index"] for one in described["partitions"]) == [0, 1, 2], described
        quorum = client.describe_metadata_quorum()
        assert quorum["topics"][0]["partitions"][0]["leader_id"] == cluster["brokers"][0]["broker_id"], quorum
        features = client.describe_features()
        assert "metadata.version" in str(features), features


@check("produce.codecs")
def codecs():
    topic = make_topic()
    values = {codec: [f"{codec}-{i}-{'x' * 300}".encode() for i in range(50)] for codec in CODECS}
    for codec in CODECS:
        produce(topic, values[codec], compression_type=codec)
    records = read(topic, 50 * len(CODECS))
    assert [record.value for record in records] == [value for codec in CODECS for value in values[codec]]


@check("produce.headers")
def headers():
    topic = make_topic()
    wanted = [("a", b"1"), ("a", b""), ("\u00e4", b"\xff\x00")]
    with producer() as client:
        client.send(topic, b"v", key=b"k", headers=wanted, timestamp_ms=1_700_000_000_000).get(LIMIT_S)
    record, = read(topic, 1)
    assert (list(record.headers), record.key, record.timestamp) == (wanted, b"k", 1_700_000_000_000), record


@check("produce.nulls")
def nulls():
    topic = make_topic()
    pairs = [(None, b"v"), (b"k", None), (b"", b""), (None, b"")]
    with producer() as client:
        for key, value in pairs:
            client.send(topic, value, key=key, partition=0).get(LIMIT_S)
    assert [(record.key, record.value) for record in read(topic, 4)] == pairs


@check("produce.idempotent")
def idempotent():
    topic = make_topic()
    with producer(enable_idempotence=True, batch_size=200) as client:
        futures = [client.send(topic, str(i).encode(), partition=0) for i in range(200)]
        assert [future.get(LIMIT_S).offset for future in futures] == list(range(200))
    assert [record.value for record in read(topic, 200)] == [str(i).encode() for i in range(200)]


@check("txn.commit")
def commits():
    topic = make_topic(2)
    with producer(transactional_id=fresh("tx")) as client:
        client.init_transactions()
        for values in ([b"in-0", b"in-1"], [b"second"]):
            client.begin_transaction()
            for partition, value in enumerate(values):
                client.send(topic, value, partition=partition)
            client.commit_transaction()
    values = {record.value for record in read(topic, 3, isolation_level="read_committed")}
    assert values == {b"in-0", b"in-1", b"second"}, values


@check("txn.abort")
def aborts():
    topic = make_topic()
    with producer(transactional_id=fresh("tx")) as client:
        client.init_transactions()
        client.begin_transaction()
        client.send(topic, b"never", partition=0).get(LIMIT_S)
        client.abort_transaction()
        client.begin_transaction()
        client.send(topic, b"kept", partition=0)
        client.commit_transaction()
    assert [record.value for record in read(topic, 1, isolation_level="read_committed")] == [b"kept"]
    assert [record.value for record in read(topic, 2)] == [b"never", b"kept"]


@check("txn.abort.fenced")
def fences():
    topic, name = make_topic(), fresh("tx")
    with producer(transactional_id=name) as old, producer(transactional_id=name) as new:
        old.init_transactions()
        old.begin_transaction()
        old.send(topic, b"zombie", partition=0).get(LIMIT_S)
        new.init_transactions()
        new.begin_transaction()
        new.send(topic, b"new", partition=0)
        new.commit_transaction()
        try:
            old.send(topic, b"zombie", partition=0).get(LIMIT_S)
            old.commit_transaction()
        except KafkaError:
            pass
        else:
            raise AssertionError("a zombie has committed")
    assert [record.value for record in read(topic, 1, isolation_level="read_committed")] == [b"new"]


@check("txn.offsets")
def offsets_in_a_transaction():
    source, sink, group = make_topic(), make_topic(), fresh("group")
    produce(source, [b"1", b"2", b"3"])
    where = TopicPartition(source, 0)
    with consumer(source, group_id=group, enable_auto_commit=False) as client, \
            producer(transactional_id=fresh("tx")) as transactional:
        records = take(client, 3)
        transactional.init_transactions()
        for end, wanted in ((transactional.abort_transaction, None), (transactional.commit_transaction, 3)):
            transactional.begin_transaction()
            for record in records:
                transactional.send(sink, b"out-" + record.value, partition=0)
            transactional.send_offsets_to_transaction(
                {where: OffsetAndMetadata(3, "", -1)}, client.group_metadata())
            end()
            # The marker follows the answer.
            until(lambda wanted=wanted: client.committed(where) == wanted, f"{wanted} committed")
    values = [record.value for record in read(sink, 3, isolation_level="read_committed")]
    assert values == [b"out-1", b"out-2", b"out-3"], values


@check("consume.read_committed")
def read_committed():
    topic = make_topic()
    with producer(transactional_id=fresh("tx")) as client, consumer(isolation_level="read_committed") as reader:
        reader.assign([TopicPartition(topic, 0)])
        client.init_transactions()
        produce(topic, [b"before"])
        client.begin_transaction()
        client.send(topic, b"open", partition=0).get(LIMIT_S)
        produce(topic, [b"after"])
        assert [record.value for record in take(reader, 1)] == [b"before"]
        assert reader.poll(timeout_ms=300) == {}, "what follows an open transaction is not stable"
        client.commit_transaction()
        assert [record.value for record in take(reader, 2)] == [b"open", b"after"]


def two_members_share(**config):
    topic, group = make_topic(4), fresh("group")
    with consumer(topic, group_id=group, **config) as stays, polled(stays) as values:
        with consumer(topic, group_id=group, **config) as leaves:
            with polled(leaves):
                until(lambda: [len(one.assignment()) for one in (stays, leaves)] == [2, 2], "two partitions each")
                assert not stays.assignment() & leaves.assignment()
        until(lambda: len(stays.assignment()) == 4, "all partitions for the one that stays")
        for partition in range(4):
            produce(topic, [b"%d" % partition], partition)
        until(lambda: sorted(values) == [b"0", b"1", b"2", b"3"], "a record from each partition")


@check("consume.group.classic")
def two_members():
    two_members_share()


@check("consume.group.classic.cooperative")
def two_cooperative_members():
    two_members_share(partition_assignment_strategy=[CooperativeStickyAssignor])


@check("consume.group.classic.static")
def static_member():
    topic, group = make_topic(2), fresh("group")
    produce(topic, [b"1"])
    for _ in range(2):
        with consumer(topic, group_id=group, group_instance_id="the-one", enable_auto_commit=False) as client:
            assert [record.value for record in take(client, 1)] == [b"1"]
            assert len(client.assignment()) == 2, "a static member comes back to its partitions"


@check("consume.group.classic.pattern")
def pattern():
    prefix = fresh("pattern")
    with admin() as client:
        client.create_topics({f"{prefix}-{i}": {"num_partitions": 1, "replication_factor": 1} for i in range(2)},
                             wait_for_metadata=True)
    for i in range(2):
        produce(f"{prefix}-{i}", [b"%d" % i])
    with consumer(group_id=fresh("group")) as reader:
        reader.subscribe(pattern=f"^{prefix}-.*")
        assert {record.value for record in take(reader, 2)} == {b"0", b"1"}


@check("consume.commit")
def commits_and_goes_on():
    topic, group = make_topic(), fresh("group")
    where = TopicPartition(topic, 0)
    produce(topic, [str(i).encode() for i in range(10)])
    with consumer(topic, group_id=group, enable_auto_commit=False) as client:
        take(client, 10)
        client.commit({where: OffsetAndMetadata(4, "a note", -1)})
        assert client.committed(where, metadata=True).metadata == "a note"
    with consumer(topic, group_id=group, enable_auto_commit=True) as client:
        assert [record.value for record in take(client, 6)] == [b"4", b"5", b"6", b"7", b"8", b"9"]
    with consumer(topic, group_id=group) as client:
        assert client.committed(where) == 10, "closing commits"


@check("consume.seek")
def seeks():
    topic = make_topic()
    where = TopicPartition(topic, 0)
    with producer() as client:
        for i in range(10):
            client.send(topic, str(i).encode(), partition=0, timestamp_ms=1_000_000 + i * 1000).get(LIMIT_S)
    with consumer() as client:
        client.assign([where])
        assert client.beginning_offsets([where]) == {where: 0}
        assert client.end_offsets([where]) == {where: 10}
        found = client.offsets_for_times({where: 1_004_500})
        assert (found[where].offset, found[where].timestamp) == (5, 1_005_000), found
        assert client.offsets_for_times({where: 2_000_000}) == {where: None}
        client.seek(where, 7)
        assert [record.value for record in take(client, 3)] == [b"7", b"8", b"9"]
        client.seek_to_beginning(where)
        assert take(client, 1)[0].offset == 0
        client.seek(where, 1000)  # out of range: begins again where auto_offset_reset says
        assert take(client, 1)[0].offset == 0


@check("admin.topics")
def topics():
    topic, twin = make_topic(1), fresh("topic")
    new = {"num_partitions": 1, "replication_factor": 1}
    with admin() as client:
        try:
            client.create_topics({topic: new})
            raise AssertionError("a topic was made twice")
        except TopicAlreadyExistsError:
            pass
        client.create_topics({twin: new}, validate_only=True)
        assert twin not in client.list_topics()
        client.create_partitions({topic: 3})
        until(lambda: len(client.describe_topics([topic])[0]["partitions"]) == 3, "three partitions")
        client.delete_topics([topic])
        until(lambda: topic not in client.list_topics(), "the topic is gone")


@check("admin.configs")
def configs():
    topic = make_topic(configs={"retention.ms": "3600000"})
    with admin() as client:
        def values(kind="modified"):
            found = client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter=kind)
            return {name: entry["value"] for name, entry in found["topic"][topic].items()}

        assert values() == {"retention.ms": "3600000"}, values()
        for incremental in (True, False):
            size = "1048576" if incremental else "2097152"
            altered = client.alter_configs(
                [ConfigResource(ConfigResourceType.TOPIC, topic, {"segment.bytes": size})], incremental=incremental)
            assert altered == {"topic": {topic: "OK"}}, altered
            until(lambda size=size: values() == {"retention.ms": "3600000", "segment.bytes": size}, "the new value")
        client.reset_configs([ConfigResource(ConfigResourceType.TOPIC, topic, ["segment.bytes"])])
        until(lambda: values() == {"retention.ms": "3600000"}, "the default is back")
        assert values("all")["cleanup.policy"] == "delete"
        broker = str(client.describe_cluster()["brokers"][0]["broker_id"])
        found = client.describe_configs([ConfigResource(ConfigResourceType.BROKER, broker)], config_filter="all")
        assert {"log.retention.ms", "num.partitions", "message.max.bytes"} <= set(found["broker"][broker]), found
        assert topic in client.list_config_resources(["TOPIC"])["topic"]


@check("admin.groups")
def groups():
    topic, group = make_topic(2), fresh("group")
    with admin() as client:
        with consumer(topic, group_id=group, client_id="somebody") as member, polled(member):
            until(lambda: len(member.assignment()) == 2, "an assignment")
            listed = [one for one in client.list_groups() if one["group_id"] == group]
            assert [(one["protocol_type"], one["group_state"]) for one in listed] == [("consumer", "Stable")], listed
            described = client.describe_groups([group])[group]
            assert (described["group_state"], len(described["members"])) == ("Stable", 1), described
            assert described["members"][0]["client_id"] == "somebody", described
            assert client.list_groups(states_filter=["Dead"]) == []
        assert client.describe_groups([group])[group]["group_state"] == "Empty"
        assert client.delete_groups([group]) == {group: "OK"}
        assert group not in {one["group_id"] for one in client.list_groups()}


@check("admin.groups.remove_members")
def removes_members():
    topic, group = make_topic(), fresh("group")
    with admin() as client, consumer(topic, group_id=group, group_instance_id="static") as member:
        with polled(member):
            until(lambda: len(member.assignment()) == 1, "an assignment")
        removed = client.remove_group_members(group, [MemberToRemove(group_instance_id="static")])
        assert [error is NoError for error in removed.values()] == [True], removed
        assert client.describe_groups([group])[group]["members"] == []


@check("admin.offsets")
def group_offsets():
    topic, group = make_topic(2), fresh("group")
    first, second = (TopicPartition(topic, partition) for partition in range(2))
    produce(topic, [b"a", b"b"])
    with admin() as client:
        altered = client.alter_group_offsets(group, {first: OffsetAndMetadata(1, "noted", -1),
                                                     second: OffsetAndMetadata(0, "", -1)})
        assert altered == {first: NoError, second: NoError}, altered
        found = client.list_group_offsets(group)[group]
        assert (found[first].offset, found[first].metadata, found[second].offset) == (1, "noted", 0), found
        assert client.delete_group_offsets(group, [second]) == {second: NoError}
        assert set(client.list_group_offsets(group)[group]) == {first}
    with consumer(topic, group_id=group) as client:
        assert [record.value for record in take(client, 1)] == [b"b"], "it begins where the offset was set"


@check("admin.delete_records")
def deletes_records():
    topic = make_topic()
    where = TopicPartition(topic, 0)
    produce(topic, [b"0", b"1", b"2", b"3"])
    with admin() as client:
        deleted = client.delete_records({where: 3})
        assert deleted[where]["low_watermark"] == 3, deleted
    with consumer(topic) as client:
        assert client.beginning_offsets([where]) == {where: 3}
        assert [record.value for record in take(client, 1)] == [b"3"]


@check("admin.transactions")
def transactions():
    topic, name = make_topic(), fresh("tx")
    with admin() as client, producer(transactional_id=name) as transactional:
        transactional.init_transactions()
        transactional.begin_transaction()
        transactional.send(topic, b"v", partition=0).get(LIMIT_S)
        of_brokers = client.list_transactions().values()
        listed = [one for some in of_brokers for one in some if one.transactional_id == name]
        assert [one.state.value for one in listed] == ["Ongoing"], listed
        described = client.describe_transactions([name])[name]
        assert described.topic_partitions == {TopicPartition(topic, 0)}, described
        producers = client.describe_producers([TopicPartition(topic, 0)])
        assert len(producers[TopicPartition(topic, 0)]) == 1, producers
        transactional.abort_transaction()


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    sys.exit(run("kafka-python", __version__))
