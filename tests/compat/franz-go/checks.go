// Checks with franz-go (kgo and kadm) against any broker (see ../support/go).
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "ackord/tests/compat/support/go"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func client(options ...kgo.Opt) *kgo.Client {
	return Get(kgo.NewClient(append(options, kgo.SeedBrokers(Bootstrap()))...))
}

// Both are for the process; their connections end with it.
var (
	kafka = client()
	admin = kadm.NewClient(kafka)
)

func makeTopic(ctx context.Context, partitions int32) string {
	name := Fresh("topic")
	Get(admin.CreateTopic(ctx, partitions, 1, nil, name))
	Until(ctx, "the topic in the metadata", func() bool {
		return len(Get(admin.Metadata(ctx, name)).Topics[name].Partitions) == int(partitions)
	})
	return name
}

func record(topic string, partition int32, value string) *kgo.Record {
	return &kgo.Record{Topic: topic, Partition: partition, Value: []byte(value)}
}

func manual(options ...kgo.Opt) []kgo.Opt {
	return append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
}

func produce(ctx context.Context, options []kgo.Opt, records ...*kgo.Record) {
	producer := client(manual(options...)...)
	defer producer.Close()
	Must(producer.ProduceSync(ctx, records...).FirstErr())
}

func poll(ctx context.Context, consumer *kgo.Client, count int) []*kgo.Record {
	var records []*kgo.Record
	for len(records) < count {
		fetches := consumer.PollFetches(ctx)
		Must(fetches.Err())
		records = append(records, fetches.Records()...)
	}
	return records
}

func read(ctx context.Context, topic string, count int, options ...kgo.Opt) []*kgo.Record {
	options = append(options, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	consumer := client(options...)
	defer consumer.Close()
	return poll(ctx, consumer, count)
}

func values(records []*kgo.Record) []string {
	var all []string
	for _, one := range records {
		all = append(all, string(one.Value))
	}
	return all
}

func codecs(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	var wanted []string
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		value := name + strings.Repeat(" x", 500)
		produce(ctx, []kgo.Opt{kgo.ProducerBatchCompression(codec)}, record(topic, 0, value), record(topic, 0, value))
		wanted = append(wanted, value, value)
	}
	Equal("values", values(read(ctx, topic, len(wanted))), wanted)
}

func headers(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	sent := []kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "", Value: []byte{}}, {Key: "a", Value: nil}}
	produce(ctx, nil, &kgo.Record{Topic: topic, Headers: sent, Value: []byte("v")})
	Equal("headers", read(ctx, topic, 1)[0].Headers, sent)
}

func nulls(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	sent := []*kgo.Record{
		{Topic: topic}, {Topic: topic, Key: []byte("k")}, {Topic: topic, Value: []byte("v")},
		{Topic: topic, Key: []byte{}, Value: []byte{}},
	}
	produce(ctx, nil, sent...)
	for i, one := range read(ctx, topic, len(sent)) {
		Equal("key", one.Key, sent[i].Key)
		Equal("value", one.Value, sent[i].Value)
	}
}

func idempotent(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	producer := client(kgo.ProducerBatchMaxBytes(4096))
	defer producer.Close()
	var wanted []string
	var acked kgo.FirstErrPromise
	for i := range 2000 {
		wanted = append(wanted, fmt.Sprintf("%d %s", i, strings.Repeat("y", 50)))
		producer.Produce(ctx, record(topic, 0, wanted[i]), acked.Promise())
	}
	Must(acked.Err())
	id, _ := Get2(producer.ProducerID(ctx))
	records := read(ctx, topic, len(wanted))
	Equal("values", values(records), wanted)
	Equal("the batches' producer", records[0].ProducerID, id)
}

// Get2 is Get for two results.
func Get2[T, U any](one T, two U, err error) (T, U) {
	Must(err)
	return one, two
}

// transaction writes one record in a transaction of its own, and ends it.
func transaction(ctx context.Context, producer *kgo.Client, topic, value string, how kgo.TransactionEndTry) {
	Must(producer.BeginTransaction())
	Must(producer.ProduceSync(ctx, record(topic, 0, value)).FirstErr())
	Must(producer.EndTransaction(ctx, how))
}

func endOffsets(ctx context.Context, topic string) int64 {
	end, _ := Get(admin.ListEndOffsets(ctx, topic)).Lookup(topic, 0)
	Must(end.Err)
	return end.Offset
}

func transactionCommit(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	producer := client(manual(kgo.TransactionalID(Fresh("tx")))...)
	defer producer.Close()
	for _, value := range []string{"1", "2", "3"} {
		transaction(ctx, producer, topic, value, kgo.TryCommit)
	}
	records := read(ctx, topic, 3, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	Equal("values", values(records), []string{"1", "2", "3"})
	Equal("the end, after three markers", endOffsets(ctx, topic), int64(6))
}

func transactionAbort(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	producer := client(manual(kgo.TransactionalID(Fresh("tx")))...)
	defer producer.Close()
	transaction(ctx, producer, topic, "no", kgo.TryAbort)
	transaction(ctx, producer, topic, "yes", kgo.TryCommit)
	records := read(ctx, topic, 1, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	Equal("committed", values(records), []string{"yes"})
	Equal("all", values(read(ctx, topic, 2)), []string{"no", "yes"})
}

func readCommitted(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	producer := client(manual(kgo.TransactionalID(Fresh("tx")))...)
	defer producer.Close()
	Must(producer.BeginTransaction())
	Must(producer.ProduceSync(ctx, record(topic, 0, "open")).FirstErr())
	produce(ctx, nil, record(topic, 0, "after"))
	Equal("uncommitted", values(read(ctx, topic, 2)), []string{"open", "after"})
	stable, _ := Get(admin.ListCommittedOffsets(ctx, topic)).Lookup(topic, 0)
	Equal("the last stable offset", stable.Offset, int64(0))
	Must(producer.EndTransaction(ctx, kgo.TryCommit))
	records := read(ctx, topic, 2, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	Equal("committed", values(records), []string{"open", "after"})
}

func transactionOffsets(ctx context.Context) {
	source, sink, group := makeTopic(ctx, 1), makeTopic(ctx, 1), Fresh("group")
	produce(ctx, nil, record(source, 0, "1"), record(source, 0, "2"))
	session := Get(kgo.NewGroupTransactSession(manual(kgo.SeedBrokers(Bootstrap()), kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(source), kgo.TransactionalID(Fresh("tx")), kgo.RequireStableFetchOffsets(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...))
	defer session.Close()
	for _, how := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
		var taken []*kgo.Record
		for len(taken) < 2 { // after the abort the session goes back to what is committed
			fetches := session.PollFetches(ctx)
			Must(fetches.Err())
			taken = append(taken, fetches.Records()...)
		}
		Equal("taken", values(taken), []string{"1", "2"})
		Must(session.Begin())
		for _, one := range taken {
			Must(session.ProduceSync(ctx, record(sink, 0, "out-"+string(one.Value))).FirstErr())
		}
		committed := Get(session.End(ctx, how))
		Equal("committed", committed, bool(how))
	}
	records := read(ctx, sink, 2, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	Equal("results", values(records), []string{"out-1", "out-2"})
	offset, _ := Get(admin.FetchOffsets(ctx, group)).Lookup(source, 0)
	Equal("the group's offset", offset.At, int64(2))
}

// group is two members that share four partitions, and one that takes over all.
func group(options ...kgo.Opt) func(context.Context) {
	return func(ctx context.Context) {
		topic, group := makeTopic(ctx, 4), Fresh("group")
		owned := make(chan [2]int, 100) // member, partitions more or fewer
		member := func(number int) *kgo.Client {
			moved := func(sign int) func(context.Context, *kgo.Client, map[string][]int32) {
				return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
					owned <- [2]int{number, sign * len(partitions[topic])}
				}
			}
			one := client(append(options, kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
				kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.OnPartitionsAssigned(moved(1)),
				kgo.OnPartitionsRevoked(moved(-1)), kgo.HeartbeatInterval(200e6))...)
			return one
		}
		var has [2]int
		until := func(wanted [2]int) {
			Until(ctx, fmt.Sprintf("members with %v partitions", wanted), func() bool {
				for len(owned) > 0 {
					move := <-owned
					has[move[0]] += move[1]
				}
				return has == wanted
			})
		}
		first := member(0)
		defer first.Close()
		until([2]int{4, 0})
		second := member(1)
		defer second.Close()
		until([2]int{2, 2})
		for partition := range int32(4) {
			produce(ctx, nil, record(topic, partition, fmt.Sprint(partition)))
		}
		both := append(values(poll(ctx, first, 2)), values(poll(ctx, second, 2))...)
		slices.Sort(both)
		Equal("values", both, []string{"0", "1", "2", "3"})
		first.LeaveGroup()
		until([2]int{0, 4})
	}
}

func commit(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), Fresh("group")
	for _, value := range []string{"1", "2"} {
		produce(ctx, nil, record(topic, 0, value))
		consumer := client(kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		Equal("values", values(poll(ctx, consumer, 1)), []string{value})
		Must(consumer.CommitUncommittedOffsets(ctx))
		consumer.Close()
	}
}

func topics(ctx context.Context) {
	topic := makeTopic(ctx, 2)
	Must(Get(admin.CreatePartitions(ctx, 1, topic)).Error())
	Until(ctx, "three partitions", func() bool {
		return len(Get(admin.ListTopics(ctx, topic))[topic].Partitions) == 3
	})
	produce(ctx, nil, record(topic, 2, "x"))
	end, _ := Get(admin.ListEndOffsets(ctx, topic)).Lookup(topic, 2)
	Equal("the end", end.Offset, int64(1))
	Get(admin.DeleteTopic(ctx, topic))
	Until(ctx, "the topic gone", func() bool { return !Get(admin.ListTopics(ctx)).Has(topic) })
}

func configs(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	value := func() string {
		for _, one := range Get(Get(admin.DescribeTopicConfigs(ctx, topic)).On(topic, nil)).Configs {
			if one.Key == "retention.ms" {
				return *one.Value
			}
		}
		return ""
	}
	set := kadm.AlterConfig{Op: kadm.SetConfig, Name: "retention.ms", Value: kadm.StringPtr("7200000")}
	Must(Get(Get(admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{set}, topic)).On(topic, nil)).Err)
	Until(ctx, "the new value", func() bool { return value() == "7200000" })
	unset := kadm.AlterConfig{Op: kadm.DeleteConfig, Name: "retention.ms"}
	Must(Get(Get(admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{unset}, topic)).On(topic, nil)).Err)
	Until(ctx, "the default", func() bool { return value() == "604800000" })
}

func groups(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	classic, modern := Fresh("classic"), Fresh("modern")
	one := client(kgo.ConsumerGroup(classic), kgo.ConsumeTopics(topic))
	defer one.Close()
	two := client(kgo.ConsumerGroup(modern), kgo.ConsumeTopics(topic), kgo.ServerSideBalancer(),
		kgo.Balancers(kgo.RangeBalancer()))
	defer two.Close()
	Until(ctx, "two stable groups", func() bool {
		listed := Get(admin.ListGroups(ctx))
		return listed[classic].State == "Stable" && listed[modern].State == "Stable"
	})
	listed := Get(admin.ListGroups(ctx))
	Equal("types", []string{listed[classic].GroupType, listed[modern].GroupType}, []string{"classic", "consumer"})
	old := Get(admin.DescribeGroups(ctx, classic))[classic]
	Must(old.Err)
	Equal("the classic group's member has the partition", old.AssignedPartitions().Lookup(topic, 0), true)
	Until(ctx, "the consumer group's member has the partition", func() bool {
		described := Get(admin.DescribeConsumerGroups(ctx, modern))[modern]
		Must(described.Err)
		return described.AssignedPartitions().Lookup(topic, 0)
	})
	one.LeaveGroup()
	two.LeaveGroup()
	Until(ctx, "two empty groups", func() bool {
		listed := Get(admin.ListGroups(ctx))
		return listed[classic].State == "Empty" && listed[modern].State == "Empty"
	})
	Must(Get(admin.DeleteGroups(ctx, classic, modern)).Error())
	left := Get(admin.ListGroups(ctx))
	Equal("groups left", left[classic].Group+left[modern].Group, "")
}

func offsets(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), Fresh("group")
	produce(ctx, nil, record(topic, 0, "a"), record(topic, 0, "b"), record(topic, 0, "c"))
	var wanted kadm.Offsets
	wanted.AddOffset(topic, 0, 2, -1)
	Must(admin.CommitAllOffsets(ctx, group, wanted))
	found, _ := Get(admin.FetchOffsets(ctx, group)).Lookup(topic, 0)
	Equal("the offset", found.At, int64(2))
	lag := Get(admin.Lag(ctx, group))[group]
	Must(lag.Error())
	Equal("the lag", lag.Lag[topic][0].Lag, int64(1))
	Must(Get(admin.DeleteOffsets(ctx, group, wanted.TopicsSet())).Error())
	_, any := Get(admin.FetchOffsets(ctx, group)).Lookup(topic, 0)
	Equal("any offset left", any, false)
}

func deleteRecords(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	produce(ctx, nil, record(topic, 0, "a"), record(topic, 0, "b"), record(topic, 0, "c"))
	var before kadm.Offsets
	before.AddOffset(topic, 0, 2, -1)
	Must(Get(admin.DeleteRecords(ctx, before)).Error())
	start, _ := Get(admin.ListStartOffsets(ctx, topic)).Lookup(topic, 0)
	Equal("the start", start.Offset, int64(2))
	Equal("values", values(read(ctx, topic, 1)), []string{"c"})
}

func shareGroup(ctx context.Context) string {
	name := Fresh("share")
	setting := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	setting.Name, setting.Value = "share.auto.offset.reset", kadm.StringPtr("earliest")
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeGroupConfig, name
	resource.Configs = append(resource.Configs, setting)
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	request.Resources = append(request.Resources, resource)
	altered := Get(request.RequestWith(ctx, kafka))
	Must(kerr.ErrorForCode(altered.Resources[0].ErrorCode))
	return name
}

func share(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), shareGroup(ctx)
	var wanted []string
	for i := range 50 {
		wanted = append(wanted, fmt.Sprint(i))
		produce(ctx, nil, record(topic, 0, wanted[i]))
	}
	consumer := client(kgo.ShareGroup(group), kgo.ConsumeTopics(topic))
	Equal("values", values(poll(ctx, consumer, 50)), wanted)
	consumer.MarkAcks(kgo.AckAccept)
	Must(consumer.FlushAcks(ctx))
	consumer.Close()
	produce(ctx, nil, record(topic, 0, "last"))
	consumer = client(kgo.ShareGroup(group), kgo.ConsumeTopics(topic))
	defer consumer.Close()
	Equal("what was not accepted", values(poll(ctx, consumer, 1)), []string{"last"})
	described := Get(admin.DescribeShareGroups(ctx, group))[group]
	Must(described.Err)
	Equal("members", len(described.Members), 1)
}

func acknowledge(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), shareGroup(ctx)
	for _, value := range []string{"accept", "release", "reject"} {
		produce(ctx, nil, record(topic, 0, value))
	}
	consumer := client(kgo.ShareGroup(group), kgo.ConsumeTopics(topic))
	defer consumer.Close()
	for _, one := range poll(ctx, consumer, 3) {
		one.Ack(map[string]kgo.AckStatus{
			"accept": kgo.AckAccept, "release": kgo.AckRelease, "reject": kgo.AckReject}[string(one.Value)])
	}
	Must(consumer.FlushAcks(ctx))
	again := poll(ctx, consumer, 1)
	Equal("what comes again", values(again), []string{"release"})
	Equal("its delivery", again[0].DeliveryCount(), int32(2))
	again[0].Ack(kgo.AckAccept)
	Must(consumer.FlushAcks(ctx))
}

func metadata(ctx context.Context) {
	topic := makeTopic(ctx, 3)
	found := Get(admin.Metadata(ctx, topic))
	Equal("brokers", len(found.Brokers), 1)
	Equal("controller", found.Controller, found.Brokers[0].NodeID)
	Equal("partitions", found.Topics[topic].Partitions.Numbers(), []int32{0, 1, 2})
	Equal("leader", found.Topics[topic].Partitions[2].Leader, found.Brokers[0].NodeID)
}

func main() {
	Run("franz-go", "github.com/twmb/franz-go", []Check{
		{Feature: "produce.codecs", Do: codecs},
		{Feature: "produce.headers", Do: headers},
		{Feature: "produce.nulls", Do: nulls},
		{Feature: "produce.idempotent", Do: idempotent},
		{Feature: "txn.commit", Do: transactionCommit},
		{Feature: "txn.abort", Do: transactionAbort},
		{Feature: "txn.offsets", Do: transactionOffsets},
		{Feature: "consume.group.classic", Do: group()},
		{Feature: "consume.group.consumer", Do: group(kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer()))},
		{Feature: "consume.commit", Do: commit},
		{Feature: "consume.read_committed", Do: readCommitted},
		{Feature: "admin.topics", Do: topics},
		{Feature: "admin.configs", Do: configs},
		{Feature: "admin.groups", Do: groups},
		{Feature: "admin.offsets", Do: offsets},
		{Feature: "admin.delete_records", Do: deleteRecords},
		{Feature: "share.consume", Do: share},
		{Feature: "share.acknowledge", Do: acknowledge},
		{Feature: "metadata", Do: metadata},
	})
}
