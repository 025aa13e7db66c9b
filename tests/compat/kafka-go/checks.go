// Checks with segmentio/kafka-go against any broker (see ../support/go).
package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	. "ackord/tests/compat/support/go"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
)

func client() *kafka.Client { return &kafka.Client{Addr: kafka.TCP(Bootstrap())} }

func makeTopic(ctx context.Context, partitions int) string {
	name := Fresh("topic")
	topic := kafka.TopicConfig{Topic: name, NumPartitions: partitions, ReplicationFactor: 1}
	created := Get(client().CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{topic}}))
	Must(created.Errors[name])
	Until(ctx, "the topic in the metadata", func() bool { return len(describe(ctx, name).Partitions) == partitions })
	return name
}

func describe(ctx context.Context, topic string) kafka.Topic {
	return Get(client().Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})).Topics[0]
}

// toPartition sends each message to the partition that it names.
var toPartition = kafka.BalancerFunc(func(one kafka.Message, _ ...int) int { return one.Partition })

func produce(ctx context.Context, topic string, codec kafka.Compression, messages ...kafka.Message) {
	writer := &kafka.Writer{Addr: kafka.TCP(Bootstrap()), Topic: topic, Balancer: toPartition,
		RequiredAcks: kafka.RequireAll, BatchTimeout: 5 * time.Millisecond, Compression: codec}
	defer writer.Close()
	Must(writer.WriteMessages(ctx, messages...))
}

func message(value string) kafka.Message { return kafka.Message{Value: []byte(value)} }

func reader(config kafka.ReaderConfig) *kafka.Reader {
	config.Brokers = []string{Bootstrap()}
	config.MaxWait = 100 * time.Millisecond
	config.StartOffset = kafka.FirstOffset
	return kafka.NewReader(config)
}

func take(ctx context.Context, from *kafka.Reader, count int) []kafka.Message {
	var all []kafka.Message
	for len(all) < count {
		all = append(all, Get(from.FetchMessage(ctx)))
	}
	return all
}

// read takes count messages from the start of partition 0.
func read(ctx context.Context, topic string, count int) []kafka.Message {
	from := reader(kafka.ReaderConfig{Topic: topic})
	defer from.Close()
	return take(ctx, from, count)
}

func values(messages []kafka.Message) []string {
	var all []string
	for _, one := range messages {
		all = append(all, string(one.Value))
	}
	return all
}

func codecs(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	var wanted []string
	for _, codec := range []kafka.Compression{compress.None, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		value := codec.String() + strings.Repeat(" x", 500)
		produce(ctx, topic, codec, message(value), message(value))
		wanted = append(wanted, value, value)
	}
	Equal("values", values(read(ctx, topic, len(wanted))), wanted)
}

func headers(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	sent := []kafka.Header{{Key: "a", Value: []byte("1")}, {Key: "b", Value: []byte("2")}, {Key: "a", Value: []byte("3")}}
	produce(ctx, topic, compress.None, kafka.Message{Headers: sent, Value: []byte("v")})
	Equal("headers", read(ctx, topic, 1)[0].Headers, sent)
}

// nulls reads by Client.Fetch: a Reader does not tell null from empty.
func nulls(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	sent := []kafka.Message{{}, {Key: []byte("k")}, {Value: []byte("v")}, {Key: []byte{}, Value: []byte{}}}
	produce(ctx, topic, compress.None, sent...)
	fetched := Get(client().Fetch(ctx, &kafka.FetchRequest{Topic: topic, MinBytes: 1, MaxBytes: 1e6, MaxWait: time.Second}))
	Must(fetched.Error)
	for _, one := range sent {
		record := Get(fetched.Records.ReadRecord())
		for _, pair := range []struct {
			found kafka.Bytes
			sent  []byte
		}{{record.Key, one.Key}, {record.Value, one.Value}} {
			Equal("null", pair.found == nil, pair.sent == nil)
			if pair.found != nil {
				Equal("bytes", string(Get(io.ReadAll(pair.found))), string(pair.sent))
			}
		}
	}
}

func committed(ctx context.Context, group, topic string) int64 {
	request := &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: {0}}}
	found := Get(client().OffsetFetch(ctx, request))
	Must(found.Error)
	Must(found.Topics[topic][0].Error)
	return found.Topics[topic][0].CommittedOffset
}

func transactionOffsets(ctx context.Context) {
	topic, group, id := makeTopic(ctx, 1), Fresh("group"), Fresh("tx")
	request := &kafka.InitProducerIDRequest{TransactionalID: id, TransactionTimeoutMs: 60000, ProducerID: -1, ProducerEpoch: -1}
	for _, commits := range []bool{false, true} {
		Equal("the group's offset", committed(ctx, group, topic), int64(-1))
		started := Get(client().InitProducerID(ctx, request)) // a new epoch for each transaction
		Must(started.Error)
		producer, epoch := started.Producer.ProducerID, started.Producer.ProducerEpoch
		Must(Get(client().AddOffsetsToTxn(ctx, &kafka.AddOffsetsToTxnRequest{
			TransactionalID: id, ProducerID: producer, ProducerEpoch: epoch, GroupID: group})).Error)
		staged := Get(client().TxnOffsetCommit(ctx, &kafka.TxnOffsetCommitRequest{
			TransactionalID: id, ProducerID: producer, ProducerEpoch: epoch, GroupID: group, GenerationID: -1,
			Topics: map[string][]kafka.TxnOffsetCommit{topic: {{Partition: 0, Offset: 5}}}}))
		Must(staged.Topics[topic][0].Error)
		Must(Get(client().EndTxn(ctx, &kafka.EndTxnRequest{
			TransactionalID: id, ProducerID: producer, ProducerEpoch: epoch, Committed: commits})).Error)
	}
	Until(ctx, "the group's offset", func() bool { return committed(ctx, group, topic) == 5 })
}

// member is a member of a group: how many partitions it has, and what it got.
type member struct {
	group    *kafka.ConsumerGroup
	owned    atomic.Int32
	messages chan string
}

func join(ctx context.Context, group, topic string) *member {
	one := &member{messages: make(chan string, 100)}
	one.group = Get(kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: group, Brokers: []string{Bootstrap()},
		Topics: []string{topic}, HeartbeatInterval: 200 * time.Millisecond, JoinGroupBackoff: 100 * time.Millisecond,
		StartOffset: kafka.FirstOffset}))
	go func() {
		for {
			generation, err := one.group.Next(ctx) // returns when the one before has ended
			if err != nil {
				return
			}
			one.owned.Store(int32(len(generation.Assignments[topic])))
			for _, assigned := range generation.Assignments[topic] {
				generation.Start(func(ctx context.Context) { one.consume(ctx, generation, topic, assigned) })
			}
		}
	}()
	return one
}

func (m *member) consume(ctx context.Context, generation *kafka.Generation, topic string, from kafka.PartitionAssignment) {
	reader := reader(kafka.ReaderConfig{Topic: topic, Partition: from.ID})
	defer reader.Close()
	if reader.SetOffset(from.Offset) != nil {
		return
	}
	for {
		one, err := reader.ReadMessage(ctx)
		if err != nil { // the generation has ended
			return
		}
		m.messages <- string(one.Value)
		next := map[string]map[int]int64{topic: {from.ID: one.Offset + 1}}
		if generation.CommitOffsets(next) != nil {
			return
		}
	}
}

func group(ctx context.Context) {
	topic, group := makeTopic(ctx, 4), Fresh("group")
	first := join(ctx, group, topic)
	Until(ctx, "four partitions for the first", func() bool { return first.owned.Load() == 4 })
	second := join(ctx, group, topic)
	defer second.group.Close()
	Until(ctx, "two partitions each", func() bool { return first.owned.Load() == 2 && second.owned.Load() == 2 })
	for partition := range 4 {
		produce(ctx, topic, compress.None, kafka.Message{Partition: partition, Value: []byte(fmt.Sprint(partition))})
	}
	Until(ctx, "two messages each", func() bool { return len(first.messages) >= 2 && len(second.messages) >= 2 })
	var all []string
	for range 2 {
		all = append(all, <-first.messages, <-second.messages)
	}
	slices.Sort(all)
	Equal("values", all, []string{"0", "1", "2", "3"})
	Must(first.group.Close())
	Until(ctx, "four partitions for the second", func() bool { return second.owned.Load() == 4 })
}

func commit(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), Fresh("group")
	for i, value := range []string{"1", "2"} {
		produce(ctx, topic, compress.None, message(value))
		from := reader(kafka.ReaderConfig{GroupID: group, Topic: topic, HeartbeatInterval: 200 * time.Millisecond,
			JoinGroupBackoff: 100 * time.Millisecond})
		taken := take(ctx, from, 1)
		Equal("values", values(taken), []string{value})
		Must(from.CommitMessages(ctx, taken...))
		Must(from.Close())
		Equal("the group's offset", committed(ctx, group, topic), int64(i+1))
	}
}

func topics(ctx context.Context) {
	topic := makeTopic(ctx, 2)
	more := kafka.TopicPartitionsConfig{Name: topic, Count: 3}
	grown := Get(client().CreatePartitions(ctx, &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{more}}))
	Must(grown.Errors[topic])
	Until(ctx, "three partitions", func() bool { return len(describe(ctx, topic).Partitions) == 3 })
	Must(Get(client().DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})).Errors[topic])
	Until(ctx, "the topic gone", func() bool {
		all := Get(client().Metadata(ctx, &kafka.MetadataRequest{})).Topics
		return !slices.ContainsFunc(all, func(one kafka.Topic) bool { return one.Name == topic })
	})
}

func configs(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	value := func() string {
		resource := kafka.DescribeConfigRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
			ConfigNames: []string{"retention.ms"}}
		request := &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{resource}}
		found := Get(client().DescribeConfigs(ctx, request)).Resources[0]
		Must(found.Error)
		return found.ConfigEntries[0].ConfigValue
	}
	for _, step := range []struct {
		config kafka.IncrementalAlterConfigsRequestConfig
		after  string
	}{
		{kafka.IncrementalAlterConfigsRequestConfig{Value: "7200000", ConfigOperation: kafka.ConfigOperationSet}, "7200000"},
		{kafka.IncrementalAlterConfigsRequestConfig{ConfigOperation: kafka.ConfigOperationDelete}, "604800000"},
	} {
		step.config.Name = "retention.ms"
		resource := kafka.IncrementalAlterConfigsRequestResource{ResourceType: kafka.ResourceTypeTopic,
			ResourceName: topic, Configs: []kafka.IncrementalAlterConfigsRequestConfig{step.config}}
		request := &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{resource}}
		Must(Get(client().IncrementalAlterConfigs(ctx, request)).Resources[0].Error)
		Until(ctx, "retention.ms="+step.after, func() bool { return value() == step.after })
	}
}

func listed(ctx context.Context, group string) bool {
	found := Get(client().ListGroups(ctx, &kafka.ListGroupsRequest{}))
	Must(found.Error)
	return slices.ContainsFunc(found.Groups, func(one kafka.ListGroupsResponseGroup) bool { return one.GroupID == group })
}

func groups(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), Fresh("group")
	one := join(ctx, group, topic)
	Until(ctx, "the partition", func() bool { return one.owned.Load() == 1 })
	Equal("listed", listed(ctx, group), true)
	found := Get(client().DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})).Groups[0]
	Must(found.Error)
	Equal("state", found.GroupState, "Stable")
	Equal("members", len(found.Members), 1)
	Equal("partitions", found.Members[0].MemberAssignments.Topics, []kafka.GroupMemberTopic{{Topic: topic, Partitions: []int{0}}})
	Must(one.group.Close())
	Must(Get(client().DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: []string{group}})).Errors[group])
	Equal("listed", listed(ctx, group), false)
}

func offsets(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), Fresh("group")
	wanted := map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: 7}}}
	set := Get(client().OffsetCommit(ctx, &kafka.OffsetCommitRequest{GroupID: group, GenerationID: -1, Topics: wanted}))
	Must(set.Topics[topic][0].Error)
	Equal("the offset", committed(ctx, group, topic), int64(7))
	deletion := &kafka.OffsetDeleteRequest{GroupID: group, Topics: map[string][]int{topic: {0}}}
	deleted := Get(client().OffsetDelete(ctx, deletion))
	Must(deleted.Error)
	Must(deleted.Topics[topic][0].Error)
	Equal("the offset", committed(ctx, group, topic), int64(-1))
}

func metadata(ctx context.Context) {
	topic := makeTopic(ctx, 3)
	found := Get(client().Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}}))
	Equal("brokers", len(found.Brokers), 1)
	Equal("controller", found.Controller.ID, found.Brokers[0].ID)
	Equal("partitions", len(found.Topics[0].Partitions), 3)
	Equal("leader", found.Topics[0].Partitions[2].Leader.ID, found.Brokers[0].ID)
	produce(ctx, topic, compress.None, message("a"), message("b"))
	asked := map[string][]kafka.OffsetRequest{topic: {kafka.FirstOffsetOf(0), kafka.LastOffsetOf(0)}}
	ends := Get(client().ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: asked})).Topics[topic][0]
	Must(ends.Error)
	Equal("offsets", []int64{ends.FirstOffset, ends.LastOffset}, []int64{0, 2})
}

func main() {
	const noTransactions = "kafka-go cannot write in a transaction"
	const noShare = "kafka-go has no share groups"
	Run("kafka-go", "github.com/segmentio/kafka-go", []Check{
		{Feature: "produce.codecs", Do: codecs},
		{Feature: "produce.headers", Do: headers},
		{Feature: "produce.nulls", Do: nulls},
		{Feature: "produce.idempotent", Skip: "kafka-go has no idempotent producer"},
		{Feature: "txn.commit", Skip: noTransactions},
		{Feature: "txn.abort", Skip: noTransactions},
		{Feature: "txn.offsets", Do: transactionOffsets},
		{Feature: "consume.group.classic", Do: group},
		{Feature: "consume.group.consumer", Skip: "kafka-go has no member of the consumer protocol"},
		{Feature: "consume.commit", Do: commit},
		{Feature: "consume.read_committed", Skip: noTransactions},
		{Feature: "admin.topics", Do: topics},
		{Feature: "admin.configs", Do: configs},
		{Feature: "admin.groups", Do: groups},
		{Feature: "admin.offsets", Do: offsets},
		{Feature: "admin.delete_records", Skip: "kafka-go has no call for it"},
		{Feature: "share.consume", Skip: noShare},
		{Feature: "share.acknowledge", Skip: noShare},
		{Feature: "metadata", Do: metadata},
	})
}
