"""Checks with aiokafka against any broker (see ../support/compat.py). Each has topics and groups of its own."""
import contextlib
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition, __version__
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import OutOfOrderSequenceNumber, ProducerFenced

from compat import BOOTSTRAP, check, fresh, run, until_async

CODECS = [None, "gzip", "snappy", "lz4", "zstd"]


@contextlib.asynccontextmanager
async def started(client):
    try:
        await client.start()
        yield client
    finally:
        await (client.close() if isinstance(client, AIOKafkaAdminClient) else client.stop())


def admin():
    return started(AIOKafkaAdminClient(bootstrap_servers=BOOTSTRAP))


def producer(**config):
    return started(AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, **config))


def consumer(*topics, **config):
    settings = {"auto_offset_reset": "earliest", "fetch_max_wait_ms": 100, "heartbeat_interval_ms": 300} | config
    return started(AIOKafkaConsumer(*topics, bootstrap_servers=BOOTSTRAP, **settings))


async def make_topic(partitions=1):
    name = fresh("topic")
    async with admin() as client:
        response = await client.create_topics([NewTopic(name, partitions, 1)])
        assert [error[:2] for error in response.topic_errors] == [(name, 0)], response

        async def visible():
            return [topic["error_code"] for topic in await client.describe_topics([name])] == [0]

        await until_async(visible, "the topic in the metadata")
    return name


async def produce(topic, values, partition=0, **config):
    async with producer(**config) as client:
        futures = [await client.send(topic, value, partition=partition) for value in values]
        return [(await future).offset for future in futures]


async def take(client, count):
    records = []

    async def enough():
        for batch in (await client.getmany(timeout_ms=200)).values():
            records.extend(batch)
        return len(records) >= count

    await until_async(enough, f"{count} records")
    return records


async def read(topic, count, **config):
    async with consumer(topic, **config) as client:
        return await take(client, count)


@check("metadata")
async def metadata():
    topic = await make_topic(3)
    async with admin() as client:
        cluster = await client.describe_cluster()
        assert len(cluster["brokers"]) == 1 and cluster["controller_id"] == cluster["brokers"][0]["node_id"], cluster
        assert topic in await client.list_topics()
        described = (await client.describe_topics([topic]))[0]
        assert sorted(one["partition"] for one in described["partitions"]) == [0, 1, 2], described


@check("produce.codecs")
async def codecs():
    topic = await make_topic()
    values = {codec: [f"{codec}-{i}-{'x' * 300}".encode() for i in range(50)] for codec in CODECS}
    for codec in CODECS:
        await produce(topic, values[codec], compression_type=codec)
    records = await read(topic, 50 * len(CODECS))
    assert [record.value for record in records] == [value for codec in CODECS for value in values[codec]]


@check("produce.headers")
async def headers():
    topic = await make_topic()
    wanted = [("a", b"1"), ("a", b""), ("\u00e4", b"\xff\x00")]
    async with producer() as client:
        await client.send_and_wait(topic, b"v", key=b"k", headers=wanted, timestamp_ms=1_700_000_000_000)
    record, = await read(topic, 1)
    assert (list(record.headers), record.key, record.timestamp) == (wanted, b"k", 1_700_000_000_000), record


@check("produce.nulls")
async def nulls():
    topic = await make_topic()
    pairs = [(None, b"v"), (b"k", None), (b"", b""), (None, b"")]
    async with producer() as client:
        for key, value in pairs:
            await client.send_and_wait(topic, value, key=key, partition=0)
    assert [(record.key, record.value) for record in await read(topic, 4)] == pairs


@check("produce.idempotent")
async def idempotent():
    topic = await make_topic()
    async with producer(enable_idempotence=True, max_batch_size=200) as client:
        futures = [await client.send(topic, str(i).encode(), partition=0) for i in range(200)]
        assert [(await future).offset for future in futures] == list(range(200))
        # A hole in the sequence numbers must be refused.
        client._txn_manager.increment_sequence_number(TopicPartition(topic, 0), 5)
        try:
            await client.send_and_wait(topic, b"after the hole", partition=0)
        except OutOfOrderSequenceNumber:
            return
        raise AssertionError("a hole in the sequence numbers was accepted")


@check("txn.commit")
async def commits():
    topic = await make_topic(2)
    async with producer(transactional_id=fresh("tx")) as client:
        async with client.transaction():
            for partition in range(2):
                await client.send(topic, b"in-%d" % partition, partition=partition)
        async with client.transaction():
            await client.send(topic, b"second", partition=0)
    values = {record.value for record in await read(topic, 3, isolation_level="read_committed")}
    assert values == {b"in-0", b"in-1", b"second"}, values


@check("txn.abort")
async def aborts():
    topic = await make_topic()
    async with producer(transactional_id=fresh("tx")) as client:
        await client.begin_transaction()
        await client.send_and_wait(topic, b"never", partition=0)
        await client.abort_transaction()
        async with client.transaction():
            await client.send(topic, b"kept", partition=0)
    assert [record.value for record in await read(topic, 1, isolation_level="read_committed")] == [b"kept"]
    assert [record.value for record in await read(topic, 2)] == [b"never", b"kept"]


@check("txn.abort.fenced")
async def fences():
    topic, name = await make_topic(), fresh("tx")
    async with contextlib.AsyncExitStack() as stack:
        old = await stack.enter_async_context(producer(transactional_id=name))
        await old.begin_transaction()
        await old.send_and_wait(topic, b"zombie", partition=0)
        new = await stack.enter_async_context(producer(transactional_id=name))
        async with new.transaction():
            await new.send(topic, b"new", partition=0)
        try:
            await old.send_and_wait(topic, b"zombie", partition=0)
            await old.commit_transaction()
            raise AssertionError("a zombie has committed")
        except ProducerFenced:
            pass
    assert [record.value for record in await read(topic, 1, isolation_level="read_committed")] == [b"new"]


@check("txn.offsets")
async def offsets_in_a_transaction():
    source, sink, group = await make_topic(), await make_topic(), fresh("group")
    await produce(source, [b"1", b"2", b"3"])
    where = TopicPartition(source, 0)
    async with consumer(source, group_id=group, enable_auto_commit=False) as client, \
            producer(transactional_id=fresh("tx")) as transactional:
        records = await take(client, 3)
        for ends, wanted in ((transactional.abort_transaction, None), (transactional.commit_transaction, 3)):
            await transactional.begin_transaction()
            for record in records:
                await transactional.send(sink, b"out-" + record.value, partition=0)
            await transactional.send_offsets_to_transaction({where: 3}, group)
            await ends()

            async def committed():  # the marker follows the answer
                return await client.committed(where) == wanted

            await until_async(committed, f"{wanted} committed")
    values = [record.value for record in await read(sink, 3, isolation_level="read_committed")]
    assert values == [b"out-1", b"out-2", b"out-3"], values


@check("consume.read_committed")
async def read_committed():
    topic = await make_topic()
    where = TopicPartition(topic, 0)
    async with producer(transactional_id=fresh("tx")) as client, \
            consumer(isolation_level="read_committed") as reader:
        reader.assign([where])
        await produce(topic, [b"before"])
        await client.begin_transaction()
        await client.send_and_wait(topic, b"open", partition=0)
        await produce(topic, [b"after"])
        assert [record.value for record in await take(reader, 1)] == [b"before"]
        assert await reader.getmany(timeout_ms=300) == {}, "what follows an open transaction is not stable"
        assert (reader.last_stable_offset(where), reader.highwater(where)) == (1, 3)
        await client.commit_transaction()
        assert [record.value for record in await take(reader, 2)] == [b"open", b"after"]


@check("consume.group.classic")
async def two_members():
    topic, group = await make_topic(4), fresh("group")
    async with consumer(topic, group_id=group) as stays:
        async with consumer(topic, group_id=group) as leaves:
            async def shared():
                return [len(one.assignment()) for one in (stays, leaves)] == [2, 2]

            await until_async(shared, "two partitions each")
            assert not stays.assignment() & leaves.assignment()

        async def taken_over():
            return len(stays.assignment()) == 4

        await until_async(taken_over, "all partitions for the one that stays")
        for partition in range(4):
            await produce(topic, [b"%d" % partition], partition)
        assert {record.value for record in await take(stays, 4)} == {b"0", b"1", b"2", b"3"}


@check("consume.group.classic.static")
async def static_member():
    topic, group = await make_topic(2), fresh("group")
    settings = {"group_id": group, "group_instance_id": "the-one", "enable_auto_commit": False}
    await produce(topic, [b"1"])
    for _ in range(2):
        async with consumer(topic, **settings) as client:
            assert [record.value for record in await take(client, 1)] == [b"1"]
            assert len(client.assignment()) == 2, "a static member comes back to its partitions"


@check("consume.group.classic.pattern")
async def pattern():
    prefix = fresh("pattern")
    async with admin() as client:
        await client.create_topics([NewTopic(f"{prefix}-{i}", 1, 1) for i in range(2)])
    async with consumer(group_id=fresh("group")) as reader:
        reader.subscribe(pattern=f"^{prefix}-.*")
        for i in range(2):
            await produce(f"{prefix}-{i}", [b"%d" % i])
        assert {record.value for record in await take(reader, 2)} == {b"0", b"1"}


@check("consume.commit")
async def commits_and_goes_on():
    topic, group = await make_topic(), fresh("group")
    where = TopicPartition(topic, 0)
    await produce(topic, [str(i).encode() for i in range(10)])
    async with consumer(topic, group_id=group, enable_auto_commit=False) as client:
        await take(client, 10)
        await client.commit({where: (4, "a note")})
    async with consumer(topic, group_id=group, enable_auto_commit=True) as client:
        assert await client.committed(where) == 4
        assert [record.value for record in await take(client, 6)] == [b"4", b"5", b"6", b"7", b"8", b"9"]
    async with consumer(topic, group_id=group) as client:
        assert await client.committed(where) == 10, "closing commits"


@check("consume.seek")
async def seeks():
    topic = await make_topic()
    where = TopicPartition(topic, 0)
    async with producer(acks="all") as client:  # with less, the end may lag behind the answer
        for i in range(10):
            await client.send_and_wait(topic, str(i).encode(), partition=0, timestamp_ms=1_000_000 + i * 1000)
    async with consumer() as client:
        client.assign([where])
        assert await client.beginning_offsets([where]) == {where: 0}
        end = await client.end_offsets([where])
        assert end == {where: 10}, end
        found = await client.offsets_for_times({where: 1_004_500})
        assert (found[where].offset, found[where].timestamp) == (5, 1_005_000), found
        assert await client.offsets_for_times({where: 2_000_000}) == {where: None}
        client.seek(where, 7)
        assert [record.value for record in await take(client, 3)] == [b"7", b"8", b"9"]
        await client.seek_to_beginning(where)
        assert (await take(client, 1))[0].offset == 0
        client.seek(where, 1000)  # out of range: begins again where auto_offset_reset says
        assert (await take(client, 1))[0].offset == 0


@check("admin.topics")
async def topics():
    topic, twin = await make_topic(1), fresh("topic")
    async with admin() as client:
        again = await client.create_topics([NewTopic(topic, 1, 1)])
        assert again.topic_errors[0][1] == 36, "it exists"
        await client.create_topics([NewTopic(twin, 1, 1)], validate_only=True)
        assert twin not in await client.list_topics()
        await client.create_partitions({topic: NewPartitions(3)})

        async def three():
            return len((await client.describe_topics([topic]))[0]["partitions"]) == 3

        await until_async(three, "three partitions")
        response = await client.delete_topics([topic])
        assert response.topic_error_codes == [(topic, 0)], response

        async def gone():
            return topic not in await client.list_topics()

        await until_async(gone, "the topic is gone")


@check("admin.configs")
async def configs():
    topic = await make_topic()
    async with admin() as client:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": "3600000"})
        altered = await client.alter_configs([resource])
        assert [one[0] for response in altered for one in response.resources] == [0], altered
        asked = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": None, "cleanup.policy": None})

        async def changed():
            described, = await client.describe_configs([asked])
            values = {entry[0]: entry[1] for entry in described.resources[0][4]}
            return values == {"retention.ms": "3600000", "cleanup.policy": "delete"}

        await until_async(changed, "the new value")
        broker = (await client.describe_cluster())["brokers"][0]["node_id"]
        described, = await client.describe_configs([ConfigResource(ConfigResourceType.BROKER, str(broker))])
        names = {entry[0] for entry in described.resources[0][4]}
        assert {"log.retention.ms", "num.partitions", "message.max.bytes"} <= names, names


@check("admin.groups")
async def groups():
    topic, group = await make_topic(2), fresh("group")
    async with admin() as client:
        async with consumer(topic, group_id=group, client_id="somebody") as member:
            async def stable():
                return len(member.assignment()) == 2

            await until_async(stable, "an assignment")
            assert (group, "consumer") in {one[:2] for one in await client.list_consumer_groups()}
            described, = await client.describe_consumer_groups([group])
            error, name, state, kind, protocol, members = described.groups[0][:6]
            assert (error, name, state, kind, len(members)) == (0, group, "Stable", "consumer", 1), described
            assert members[0][1] == "somebody" or members[0][2] == "somebody", members
        described, = await client.describe_consumer_groups([group])
        assert described.groups[0][2] == "Empty", described


@check("admin.offsets")
async def group_offsets():
    topic, group = await make_topic(2), fresh("group")
    await produce(topic, [b"a", b"b"])
    async with consumer(group_id=group, enable_auto_commit=False) as client:
        client.assign([TopicPartition(topic, 0)])
        await client.commit({TopicPartition(topic, 0): (2, "noted")})
    async with admin() as client:
        found = await client.list_consumer_group_offsets(group)
        assert found == {TopicPartition(topic, 0): (2, "noted")}, found
        asked = [TopicPartition(topic, partition) for partition in range(2)]
        found = await client.list_consumer_group_offsets(group, partitions=asked)
        assert [found[one].offset for one in asked] == [2, -1], found


@check("admin.delete_records")
async def deletes_records():
    topic = await make_topic()
    where = TopicPartition(topic, 0)
    await produce(topic, [b"0", b"1", b"2", b"3"])
    async with admin() as client:
        assert await client.delete_records({where: RecordsToDelete(3)}) == {where: 3}
    async with consumer(topic) as client:
        assert await client.beginning_offsets([where]) == {where: 3}
        assert [record.value for record in await take(client, 1)] == [b"3"]


if __name__ == "__main__":
    sys.exit(run("aiokafka", __version__))
