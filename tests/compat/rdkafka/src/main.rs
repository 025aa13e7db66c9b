//! Checks with the crate rdkafka against any broker: checks BOOTSTRAP [FEATURE…].
mod compat;

use std::sync::Mutex;
use std::time::Duration;

use compat::{bootstrap, fresh, run, until, Check, LIMIT};
use futures_executor::block_on;
use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, NewPartitions, NewTopic, ResourceSpecifier,
    TopicReplication,
};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{DeliveryResult, Header, Headers, Message, OwnedHeaders, OwnedMessage};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use rdkafka::{ClientConfig, ClientContext, Offset, TopicPartitionList};

type Config<'a> = [(&'a str, &'a str)];

fn config(more: &Config) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap());
    for (name, value) in more {
        config.set(*name, *value);
    }
    config
}

fn admin() -> AdminClient<DefaultClientContext> {
    config(&[]).create().unwrap()
}

fn options() -> AdminOptions {
    AdminOptions::new()
        .request_timeout(Some(LIMIT))
        .operation_timeout(Some(LIMIT))
}

fn make_topic(partitions: i32) -> String {
    let name = fresh("topic");
    let topic = NewTopic::new(&name, partitions, TopicReplication::Fixed(1));
    block_on(admin().create_topics([&topic], &options())).unwrap()[0]
        .as_ref()
        .unwrap();
    until("the topic in the metadata", || {
        partition_count(&name) == partitions as usize
    });
    name
}

/// 0 where there is no such topic. Of all topics, so that asking does not create it.
fn partition_count(topic: &str) -> usize {
    let found = admin().inner().fetch_metadata(None, LIMIT).unwrap();
    let count = found
        .topics()
        .iter()
        .find(|one| one.name() == topic)
        .map_or(0, |one| one.partitions().len());
    count
}

/// Keeps what could not be delivered.
#[derive(Default)]
struct Deliveries(Mutex<Vec<KafkaError>>);

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = ();
    fn delivery(&self, result: &DeliveryResult<'_>, _: ()) {
        if let Err((error, _)) = result {
            self.0.lock().unwrap().push(error.clone());
        }
    }
}

fn producer(more: &Config) -> BaseProducer<Deliveries> {
    BaseProducer::from_config_and_context(&config(more), Deliveries::default()).unwrap()
}

fn record<'a>(topic: &'a str, value: &'a str) -> BaseRecord<'a, str, str> {
    BaseRecord::to(topic).partition(0).payload(value)
}

/// Sends and waits until all are acknowledged.
fn send<'a>(
    producer: &BaseProducer<Deliveries>,
    records: impl IntoIterator<Item = BaseRecord<'a, str, str>>,
) {
    for one in records {
        producer.send(one).map_err(|(error, _)| error).unwrap();
    }
    producer.flush(LIMIT).unwrap();
    assert_eq!(*producer.context().0.lock().unwrap(), vec![]);
}

fn produce<'a>(more: &Config, records: impl IntoIterator<Item = BaseRecord<'a, str, str>>) {
    send(&producer(more), records);
}

fn take(consumer: &BaseConsumer, count: usize) -> Vec<OwnedMessage> {
    let mut all = vec![];
    until(&format!("{count} messages"), || {
        while let Some(one) = consumer.poll(Duration::from_millis(50)) {
            all.push(one.unwrap().detach());
            if all.len() >= count {
                return true;
            }
        }
        false
    });
    all
}

/// A consumer at the start of partition 0.
fn reader(topic: &str, more: &Config) -> BaseConsumer {
    let mut config = config(more);
    let consumer: BaseConsumer = config.set("group.id", fresh("reader")).create().unwrap();
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, Offset::Beginning)
        .unwrap();
    consumer.assign(&list).unwrap();
    consumer
}

fn read(topic: &str, count: usize, more: &Config) -> Vec<OwnedMessage> {
    take(&reader(topic, more), count)
}

fn values(messages: &[OwnedMessage]) -> Vec<String> {
    messages
        .iter()
        .map(|one| String::from_utf8(one.payload().unwrap().to_vec()).unwrap())
        .collect()
}

fn codecs() {
    let topic = make_topic(1);
    let mut wanted = vec![];
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let value = format!("{codec}{}", " x".repeat(500));
        produce(
            &[("compression.type", codec)],
            [record(&topic, &value), record(&topic, &value)],
        );
        wanted.extend([value.clone(), value]);
    }
    assert_eq!(values(&read(&topic, wanted.len(), &[])), wanted);
}

fn headers() {
    let topic = make_topic(1);
    let sent = [("a", Some("1")), ("b", Some("")), ("a", None)];
    let headers = sent.iter().fold(OwnedHeaders::new(), |all, &(key, value)| {
        all.insert(Header { key, value })
    });
    produce(&[], [record(&topic, "v").headers(headers)]);
    let message = &read(&topic, 1, &[])[0];
    let found: Vec<_> = message
        .headers()
        .unwrap()
        .iter()
        .map(|one| (one.key, one.value))
        .collect();
    assert_eq!(
        found,
        sent.map(|(key, value)| (key, value.map(str::as_bytes)))
    );
}

fn nulls() {
    let topic = make_topic(1);
    let sent = [
        (None, None),
        (Some("k"), None),
        (None, Some("v")),
        (Some(""), Some("")),
    ];
    produce(
        &[],
        sent.map(|(key, payload)| {
            let mut one = record(&topic, "");
            (one.key, one.payload) = (key, payload);
            one
        }),
    );
    let found = read(&topic, sent.len(), &[]);
    let found: Vec<_> = found.iter().map(|one| (one.key(), one.payload())).collect();
    assert_eq!(
        found,
        sent.map(|(key, value)| (key.map(str::as_bytes), value.map(str::as_bytes)))
    );
}

fn idempotent() {
    let topic = make_topic(1);
    let wanted: Vec<_> = (0..2000).map(|i| i.to_string()).collect();
    let settings = [("enable.idempotence", "true"), ("batch.num.messages", "50")];
    produce(&settings, wanted.iter().map(|value| record(&topic, value)));
    assert_eq!(values(&read(&topic, wanted.len(), &[])), wanted);
}

fn transactional() -> BaseProducer<Deliveries> {
    let producer = producer(&[("transactional.id", &fresh("tx"))]);
    producer.init_transactions(LIMIT).unwrap();
    producer
}

fn end(producer: &BaseProducer<Deliveries>, commits: bool) {
    if commits {
        producer.commit_transaction(LIMIT).unwrap();
    } else {
        producer.abort_transaction(LIMIT).unwrap();
    }
}

/// One message in a transaction of its own.
fn transaction(producer: &BaseProducer<Deliveries>, topic: &str, value: &str, commits: bool) {
    producer.begin_transaction().unwrap();
    send(producer, [record(topic, value)]);
    end(producer, commits);
}

const READ_ALL: [(&str, &str); 1] = [("isolation.level", "read_uncommitted")];

fn transaction_commit() {
    let topic = make_topic(1);
    let producer = transactional();
    for value in ["1", "2", "3"] {
        transaction(&producer, &topic, value, true);
    }
    assert_eq!(values(&read(&topic, 3, &[])), ["1", "2", "3"]);
    let ends = producer
        .client()
        .fetch_watermarks(&topic, 0, LIMIT)
        .unwrap();
    assert_eq!(ends, (0, 6), "the end, after three markers");
}

fn transaction_abort() {
    let topic = make_topic(1);
    let producer = transactional();
    transaction(&producer, &topic, "no", false);
    transaction(&producer, &topic, "yes", true);
    assert_eq!(values(&read(&topic, 1, &[])), ["yes"]);
    assert_eq!(values(&read(&topic, 2, &READ_ALL)), ["no", "yes"]);
}

fn read_committed() {
    let topic = make_topic(1);
    let producer = transactional();
    producer.begin_transaction().unwrap();
    send(&producer, [record(&topic, "open")]);
    produce(&[], [record(&topic, "after")]);
    let consumer = reader(&topic, &[]);
    assert_eq!(values(&read(&topic, 2, &READ_ALL)), ["open", "after"]);
    assert!(
        (0..10).all(|_| consumer.poll(Duration::from_millis(50)).is_none()),
        "nothing before the commit"
    );
    end(&producer, true);
    assert_eq!(values(&take(&consumer, 2)), ["open", "after"]);
}

/// A list of one partition.
fn at(topic: &str, offset: Offset) -> TopicPartitionList {
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, offset).unwrap();
    list
}

fn committed(consumer: &BaseConsumer, topic: &str) -> Offset {
    let found = consumer
        .committed_offsets(at(topic, Offset::Invalid), LIMIT)
        .unwrap();
    found.elements()[0].error().unwrap();
    found.elements()[0].offset()
}

fn transaction_offsets() {
    let (source, sink) = (make_topic(1), make_topic(1));
    produce(&[], [record(&source, "1"), record(&source, "2")]);
    let consumer = member(&fresh("group"), &source, &[]);
    let taken = values(&take(&consumer, 2));
    let producer = transactional();
    for commits in [false, true] {
        assert_eq!(committed(&consumer, &source), Offset::Invalid);
        producer.begin_transaction().unwrap();
        let results: Vec<_> = taken.iter().map(|value| format!("out-{value}")).collect();
        send(&producer, results.iter().map(|value| record(&sink, value)));
        let metadata = consumer.group_metadata().unwrap();
        producer
            .send_offsets_to_transaction(&at(&source, Offset::Offset(2)), &metadata, LIMIT)
            .unwrap();
        end(&producer, commits);
    }
    assert_eq!(committed(&consumer, &source), Offset::Offset(2));
    assert_eq!(values(&read(&sink, 2, &[])), ["out-1", "out-2"]);
}

fn member(group: &str, topic: &str, more: &Config) -> BaseConsumer {
    let mut config = config(&[
        ("group.id", group),
        ("enable.auto.commit", "false"),
        ("auto.offset.reset", "earliest"),
    ]);
    for (name, value) in more {
        config.set(*name, *value);
    }
    let consumer: BaseConsumer = config.create().unwrap();
    consumer.subscribe(&[topic]).unwrap();
    consumer
}

fn group(more: &Config) {
    let (topic, group) = (make_topic(4), fresh("group"));
    let first = member(&group, &topic, more);
    let second = member(&group, &topic, more);
    let mut all = vec![];
    let mut polled = |consumer: &BaseConsumer| {
        if let Some(one) = consumer.poll(Duration::from_millis(50)) {
            all.push(one.unwrap().detach());
        }
        (consumer.assignment().unwrap().count(), all.len())
    };
    until("two partitions each", || {
        (polled(&first).0, polled(&second).0) == (2, 2)
    });
    let partitions = ["0", "1", "2", "3"];
    produce(
        &[],
        partitions.map(|value| record(&topic, value).partition(value.parse().unwrap())),
    );
    until("all messages", || {
        polled(&first).1.max(polled(&second).1) >= 4
    });
    drop(first); // leaves the group
    until("all partitions for the one that stays", || {
        polled(&second).0 == 4
    });
    let mut all = values(&all);
    all.sort();
    assert_eq!(all, partitions);
}

fn classic_group() {
    group(&[("heartbeat.interval.ms", "200")]);
}

fn consumer_group() {
    group(&[("group.protocol", "consumer")]);
}

fn commit() {
    let (topic, group) = (make_topic(1), fresh("group"));
    for (i, value) in ["1", "2"].into_iter().enumerate() {
        produce(&[], [record(&topic, value)]);
        let consumer = member(&group, &topic, &[]);
        assert_eq!(values(&take(&consumer, 1)), [value]);
        consumer.commit_consumer_state(CommitMode::Sync).unwrap();
        assert_eq!(committed(&consumer, &topic), Offset::Offset(i as i64 + 1));
    }
}

fn admin_topics() {
    let topic = make_topic(2);
    let more = NewPartitions::new(&topic, 3);
    block_on(admin().create_partitions([&more], &options())).unwrap()[0]
        .as_ref()
        .unwrap();
    until("three partitions", || partition_count(&topic) == 3);
    block_on(admin().delete_topics(&[&topic], &options())).unwrap()[0]
        .as_ref()
        .unwrap();
    until("the topic gone", || partition_count(&topic) == 0);
}

fn retention(topic: &str) -> String {
    let found =
        block_on(admin().describe_configs([&ResourceSpecifier::Topic(topic)], &options())).unwrap();
    found[0]
        .as_ref()
        .unwrap()
        .get("retention.ms")
        .unwrap()
        .value
        .clone()
        .unwrap()
}

fn admin_configs() {
    let topic = make_topic(1);
    let none = AlterConfig::new(ResourceSpecifier::Topic(&topic)); // brings the default back
    let some = AlterConfig::new(ResourceSpecifier::Topic(&topic)).set("retention.ms", "7200000");
    for (change, after) in [(some, "7200000"), (none, "604800000")] {
        block_on(admin().alter_configs([&change], &options())).unwrap()[0]
            .as_ref()
            .unwrap();
        until(after, || retention(&topic) == after);
    }
}

fn admin_groups() {
    let (topic, group) = (make_topic(1), fresh("group"));
    let consumer = member(&group, &topic, &[]);
    until("the partition", || {
        assert!(consumer.poll(Duration::from_millis(50)).is_none());
        consumer.assignment().unwrap().count() == 1
    });
    let listed = admin()
        .inner()
        .fetch_group_list(Some(&group), LIMIT)
        .unwrap();
    let found = &listed.groups()[0];
    assert_eq!(
        (found.name(), found.state(), found.members().len()),
        (group.as_str(), "Stable", 1)
    );
    drop(consumer);
    block_on(admin().delete_groups(&[&group], &options())).unwrap()[0]
        .as_ref()
        .unwrap();
    let left = admin().inner().fetch_group_list(None, LIMIT).unwrap();
    assert!(
        left.groups().iter().all(|one| one.name() != group),
        "the group is gone"
    );
}

fn admin_delete_records() {
    let topic = make_topic(1);
    produce(&[], ["a", "b", "c"].map(|value| record(&topic, value)));
    let starts =
        block_on(admin().delete_records(&at(&topic, Offset::Offset(2)), &options())).unwrap();
    starts.elements()[0].error().unwrap();
    assert_eq!(starts.elements()[0].offset(), Offset::Offset(2));
    assert_eq!(values(&read(&topic, 1, &[])), ["c"]);
}

fn metadata() {
    let topic = make_topic(3);
    let found = admin().inner().fetch_metadata(Some(&topic), LIMIT).unwrap();
    assert_eq!((found.brokers().len(), found.topics().len()), (1, 1));
    let partitions = found.topics()[0].partitions();
    assert_eq!(
        partitions.iter().map(|one| one.id()).collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert!(
        partitions
            .iter()
            .all(|one| one.leader() == found.brokers()[0].id()),
        "the leader"
    );
}

fn main() {
    let (_, librdkafka) = rdkafka::util::get_rdkafka_version();
    let no_share = "rdkafka has no share groups";
    let passed = run(
        "rdkafka",
        &format!("0.39.0+{librdkafka}"),
        &[
            ("produce.codecs", Check::Do(codecs)),
            ("produce.headers", Check::Do(headers)),
            ("produce.nulls", Check::Do(nulls)),
            ("produce.idempotent", Check::Do(idempotent)),
            ("txn.commit", Check::Do(transaction_commit)),
            ("txn.abort", Check::Do(transaction_abort)),
            ("txn.offsets", Check::Do(transaction_offsets)),
            ("consume.group.classic", Check::Do(classic_group)),
            ("consume.group.consumer", Check::Do(consumer_group)),
            ("consume.commit", Check::Do(commit)),
            ("consume.read_committed", Check::Do(read_committed)),
            ("admin.topics", Check::Do(admin_topics)),
            ("admin.configs", Check::Do(admin_configs)),
            ("admin.groups", Check::Do(admin_groups)),
            ("admin.offsets", Check::Skip("rdkafka has no call for it")),
            ("admin.delete_records", Check::Do(admin_delete_records)),
            ("share.consume", Check::Skip(no_share)),
            ("share.acknowledge", Check::Skip(no_share)),
            ("metadata", Check::Do(metadata)),
        ],
    );
    std::process::exit(if passed { 0 } else { 1 });
}
