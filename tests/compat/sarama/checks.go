// Checks with sarama against any broker (see ../support/go).
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	. "ackord/tests/compat/support/go"

	"github.com/IBM/sarama"
)

// admin is for the process; its connections end with it.
var admin sarama.ClusterAdmin

func config() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	return config
}

func makeTopic(ctx context.Context, partitions int32) string {
	name := Fresh("topic")
	Must(admin.CreateTopic(name, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: 1}, false))
	Until(ctx, "the topic in the metadata", func() bool {
		return len(Get(admin.DescribeTopics([]string{name}))[0].Partitions) == int(partitions)
	})
	return name
}

func message(topic string, partition int32, value string) *sarama.ProducerMessage {
	return &sarama.ProducerMessage{Topic: topic, Partition: partition, Value: sarama.StringEncoder(value)}
}

func producer(config *sarama.Config) sarama.SyncProducer {
	return Get(sarama.NewSyncProducer([]string{Bootstrap()}, config))
}

func produce(config *sarama.Config, messages ...*sarama.ProducerMessage) {
	one := producer(config)
	defer one.Close()
	Must(one.SendMessages(messages))
}

// read takes count messages from the start of partition 0.
func read(ctx context.Context, topic string, count int, isolation sarama.IsolationLevel) []*sarama.ConsumerMessage {
	config := config()
	config.Consumer.IsolationLevel = isolation
	consumer := Get(sarama.NewConsumer([]string{Bootstrap()}, config))
	defer consumer.Close()
	partition := Get(consumer.ConsumePartition(topic, 0, sarama.OffsetOldest))
	defer partition.Close()
	return take(ctx, partition.Messages(), count)
}

func take(ctx context.Context, from <-chan *sarama.ConsumerMessage, count int) []*sarama.ConsumerMessage {
	var all []*sarama.ConsumerMessage
	for len(all) < count {
		select {
		case one := <-from:
			all = append(all, one)
		case <-ctx.Done():
			panic(fmt.Errorf("not in time: %d messages, have %d", count, len(all)))
		}
	}
	return all
}

func values(messages []*sarama.ConsumerMessage) []string {
	var all []string
	for _, one := range messages {
		all = append(all, string(one.Value))
	}
	return all
}

func codecs(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	var wanted []string
	for _, codec := range []sarama.CompressionCodec{sarama.CompressionNone, sarama.CompressionGZIP,
		sarama.CompressionSnappy, sarama.CompressionLZ4, sarama.CompressionZSTD} {
		config := config()
		config.Producer.Compression = codec
		value := codec.String() + strings.Repeat(" x", 500)
		produce(config, message(topic, 0, value), message(topic, 0, value))
		wanted = append(wanted, value, value)
	}
	Equal("values", values(read(ctx, topic, len(wanted), sarama.ReadUncommitted)), wanted)
}

func headers(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	one := message(topic, 0, "v")
	one.Headers = []sarama.RecordHeader{{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("a"), Value: nil}}
	produce(config(), one)
	found := read(ctx, topic, 1, sarama.ReadUncommitted)[0].Headers
	Equal("headers", []sarama.RecordHeader{*found[0], *found[1]}, one.Headers)
}

func nulls(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	produce(config(), &sarama.ProducerMessage{Topic: topic},
		&sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder("k")}, message(topic, 0, "v"))
	found := read(ctx, topic, 3, sarama.ReadUncommitted)
	for i, wanted := range []struct{ key, value []byte }{{nil, nil}, {[]byte("k"), nil}, {nil, []byte("v")}} {
		Equal("key", found[i].Key, wanted.key)
		Equal("value", found[i].Value, wanted.value)
	}
}

func idempotentConfig() *sarama.Config {
	config := config()
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1
	return config
}

func idempotent(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	config := idempotentConfig()
	config.Producer.Flush.MaxMessages = 50
	var messages []*sarama.ProducerMessage
	var wanted []string
	for i := range 1000 {
		wanted = append(wanted, fmt.Sprint(i))
		messages = append(messages, message(topic, 0, wanted[i]))
	}
	produce(config, messages...)
	Equal("values", values(read(ctx, topic, len(wanted), sarama.ReadUncommitted)), wanted)
}

func transactional() sarama.SyncProducer {
	config := idempotentConfig()
	config.Producer.Transaction.ID = Fresh("tx")
	return producer(config)
}

// transaction writes one message in a transaction of its own.
func transaction(producer sarama.SyncProducer, topic, value string, end func() error) {
	Must(producer.BeginTxn())
	Must(producer.SendMessages([]*sarama.ProducerMessage{message(topic, 0, value)}))
	Must(end())
}

func offset(topic string, at int64, options *sarama.ListOffsetsOptions) int64 {
	found := Get(admin.ListOffsets(map[string]map[int32]int64{topic: {0: at}}, options))[topic][0]
	Equal("error", found.Err, sarama.ErrNoError)
	return found.Offset
}

func transactionCommit(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	producer := transactional()
	defer producer.Close()
	for _, value := range []string{"1", "2", "3"} {
		transaction(producer, topic, value, producer.CommitTxn)
	}
	Equal("values", values(read(ctx, topic, 3, sarama.ReadCommitted)), []string{"1", "2", "3"})
	Equal("the end, after three markers", offset(topic, sarama.OffsetNewest, nil), int64(6))
}

func transactionAbort(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	producer := transactional()
	defer producer.Close()
	transaction(producer, topic, "no", producer.AbortTxn)
	transaction(producer, topic, "yes", producer.CommitTxn)
	Equal("committed", values(read(ctx, topic, 1, sarama.ReadCommitted)), []string{"yes"})
	Equal("all", values(read(ctx, topic, 2, sarama.ReadUncommitted)), []string{"no", "yes"})
}

func readCommitted(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	producer := transactional()
	defer producer.Close()
	transaction(producer, topic, "open", func() error {
		produce(config(), message(topic, 0, "after"))
		Equal("uncommitted", values(read(ctx, topic, 2, sarama.ReadUncommitted)), []string{"open", "after"})
		committed := &sarama.ListOffsetsOptions{IsolationLevel: sarama.ReadCommitted}
		Equal("the last stable offset", offset(topic, sarama.OffsetNewest, committed), int64(0))
		return producer.CommitTxn()
	})
	Equal("committed", values(read(ctx, topic, 2, sarama.ReadCommitted)), []string{"open", "after"})
}

func committedOffset(group, topic string) int64 {
	found := Get(admin.ListConsumerGroupOffsets(group, map[string][]int32{topic: {0}}))
	block := found.GetBlock(topic, 0)
	Equal("error", block.Err, sarama.ErrNoError)
	return block.Offset
}

func transactionOffsets(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), Fresh("group")
	produce(config(), message(topic, 0, "1"), message(topic, 0, "2"))
	member := join(group, topic)
	defer member.leave()
	taken := take(ctx, member.messages, 2)
	producer := transactional()
	defer producer.Close()
	metadata := sarama.NewConsumerGroupMetadataFromSession(*member.session.Load(), group, nil)
	for _, end := range []func() error{producer.AbortTxn, producer.CommitTxn} {
		Equal("the group's offset", committedOffset(group, topic), int64(-1))
		Must(producer.BeginTxn())
		Must(producer.AddMessageToTxnWithGroupMetadata(taken[1], metadata, nil))
		Must(end())
	}
	Until(ctx, "the group's offset", func() bool { return committedOffset(group, topic) == 2 })
}

// member is a member of a consumer group that hands on what it gets.
type member struct {
	group    sarama.ConsumerGroup
	cancel   context.CancelFunc
	ended    chan struct{}
	messages chan *sarama.ConsumerMessage
	session  atomic.Pointer[sarama.ConsumerGroupSession]
	owned    atomic.Int32
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.session.Store(&session)
	for _, partitions := range session.Claims() {
		m.owned.Store(int32(len(partitions)))
	}
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	m.owned.Store(0)
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for one := range claim.Messages() {
		session.MarkMessage(one, "")
		m.messages <- one
	}
	return nil
}

func join(group, topic string) *member {
	one := &member{ended: make(chan struct{}), messages: make(chan *sarama.ConsumerMessage, 100)}
	one.group = Get(sarama.NewConsumerGroup([]string{Bootstrap()}, group, config()))
	ctx, cancel := context.WithCancel(context.Background())
	one.cancel = cancel
	go func() {
		defer close(one.ended)
		for ctx.Err() == nil { // each rebalance ends a session
			if err := one.group.Consume(ctx, []string{topic}, one); err != nil {
				fmt.Println(group, err)
				return
			}
		}
	}()
	return one
}

func (m *member) leave() {
	m.cancel()
	<-m.ended
	m.group.Close()
}

func group(ctx context.Context) {
	topic, group := makeTopic(ctx, 4), Fresh("group")
	first := join(group, topic)
	Until(ctx, "four partitions for the first", func() bool { return first.owned.Load() == 4 })
	second := join(group, topic)
	defer second.leave()
	Until(ctx, "two partitions each", func() bool { return first.owned.Load() == 2 && second.owned.Load() == 2 })
	for partition := range int32(4) {
		produce(config(), message(topic, partition, fmt.Sprint(partition)))
	}
	both := append(values(take(ctx, first.messages, 2)), values(take(ctx, second.messages, 2))...)
	slices.Sort(both)
	Equal("values", both, []string{"0", "1", "2", "3"})
	first.leave()
	Until(ctx, "four partitions for the second", func() bool { return second.owned.Load() == 4 })
}

func commit(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), Fresh("group")
	for i, value := range []string{"1", "2"} {
		produce(config(), message(topic, 0, value))
		one := join(group, topic)
		Equal("values", values(take(ctx, one.messages, 1)), []string{value})
		(*one.session.Load()).Commit()
		one.leave()
		Equal("the group's offset", committedOffset(group, topic), int64(i+1))
	}
}

func topics(ctx context.Context) {
	topic := makeTopic(ctx, 2)
	Must(admin.CreatePartitions(topic, 3, nil, false))
	Until(ctx, "three partitions", func() bool { return Get(admin.ListTopics())[topic].NumPartitions == 3 })
	Must(admin.DeleteTopic(topic))
	Until(ctx, "the topic gone", func() bool {
		_, there := Get(admin.ListTopics())[topic]
		return !there
	})
}

func configs(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	value := func() string {
		resource := sarama.ConfigResource{Type: sarama.TopicResource, Name: topic, ConfigNames: []string{"retention.ms"}}
		return Get(admin.DescribeConfig(resource))[0].Value
	}
	wanted := "7200000"
	for _, step := range []struct {
		entry sarama.IncrementalAlterConfigsEntry
		after string
	}{
		{sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &wanted}, wanted},
		{sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationDelete}, "604800000"},
	} {
		entries := map[string]sarama.IncrementalAlterConfigsEntry{"retention.ms": step.entry}
		Must(admin.IncrementalAlterConfig(sarama.TopicResource, topic, entries, false))
		Until(ctx, "retention.ms="+step.after, func() bool { return value() == step.after })
	}
}

func groups(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), Fresh("group")
	one := join(group, topic)
	Until(ctx, "the partition", func() bool { return one.owned.Load() == 1 })
	Equal("type", Get(admin.ListConsumerGroups())[group], "consumer")
	found := Get(admin.DescribeConsumerGroups([]string{group}))[0]
	Equal("error", found.Err, sarama.ErrNoError)
	Equal("state", found.State, "Stable")
	for _, described := range found.Members {
		Equal("partitions", Get(described.GetMemberAssignment()).Topics, map[string][]int32{topic: {0}})
	}
	Equal("members", len(found.Members), 1)
	one.leave()
	Must(admin.DeleteConsumerGroup(group))
	_, left := Get(admin.ListConsumerGroups())[group]
	Equal("left", left, false)
}

func offsets(ctx context.Context) {
	topic, group := makeTopic(ctx, 1), Fresh("group")
	wanted := map[string]map[int32]sarama.OffsetAndMetadata{topic: {0: {Offset: 7, Metadata: "m", LeaderEpoch: -1}}}
	answer := Get(admin.AlterConsumerGroupOffsets(group, wanted, nil))
	Equal("error", answer.Errors[topic][0], sarama.ErrNoError)
	Equal("the offset", committedOffset(group, topic), int64(7))
	batch := Get(admin.ListConsumerGroupOffsetsBatch(map[string]map[string][]int32{group: nil}))
	Equal("the metadata", batch[group].Blocks[topic][0].Metadata, "m")
	Must(admin.DeleteConsumerGroupOffset(group, topic, 0))
	Equal("the offset", committedOffset(group, topic), int64(-1))
}

func deleteRecords(ctx context.Context) {
	topic := makeTopic(ctx, 1)
	produce(config(), message(topic, 0, "a"), message(topic, 0, "b"), message(topic, 0, "c"))
	Must(admin.DeleteRecords(topic, map[int32]int64{0: 2}))
	Equal("the start", offset(topic, sarama.OffsetOldest, nil), int64(2))
	Equal("values", values(read(ctx, topic, 1, sarama.ReadUncommitted)), []string{"c"})
}

func metadata(ctx context.Context) {
	topic := makeTopic(ctx, 3)
	client := Get(sarama.NewClient([]string{Bootstrap()}, config()))
	defer client.Close()
	Equal("partitions", Get(client.Partitions(topic)), []int32{0, 1, 2})
	Equal("leader", Get(client.Leader(topic, 2)).ID(), client.Brokers()[0].ID())
	brokers, controller, err := admin.DescribeCluster()
	Must(err)
	Equal("controller", controller, brokers[0].ID())
}

func main() {
	admin = Get(sarama.NewClusterAdmin([]string{Bootstrap()}, config()))
	const noShare = "sarama has no share groups"
	Run("sarama", "github.com/IBM/sarama", []Check{
		{Feature: "produce.codecs", Do: codecs},
		{Feature: "produce.headers", Do: headers},
		{Feature: "produce.nulls", Do: nulls},
		{Feature: "produce.idempotent", Do: idempotent},
		{Feature: "txn.commit", Do: transactionCommit},
		{Feature: "txn.abort", Do: transactionAbort},
		{Feature: "txn.offsets", Do: transactionOffsets},
		{Feature: "consume.group.classic", Do: group},
		{Feature: "consume.group.consumer", Skip: "sarama has no member of the consumer protocol"},
		{Feature: "consume.commit", Do: commit},
		{Feature: "consume.read_committed", Do: readCommitted},
		{Feature: "admin.topics", Do: topics},
		{Feature: "admin.configs", Do: configs},
		{Feature: "admin.groups", Do: groups},
		{Feature: "admin.offsets", Do: offsets},
		{Feature: "admin.delete_records", Do: deleteRecords},
		{Feature: "share.consume", Skip: noShare},
		{Feature: "share.acknowledge", Skip: noShare},
		{Feature: "metadata", Do: metadata},
	})
}
