// The API like kafkajs': promises, a consumer that calls back.
import assert from 'node:assert/strict'

import confluent from '@confluentinc/kafka-javascript'

import { BOOTSTRAP, check, fresh, until } from './compat.mjs'

const {
  AclOperationTypes, CompressionTypes, ConsumerGroupStates, ConsumerGroupTypes, ErrorCodes, Kafka, PartitionAssigners,
  logLevel
} = confluent.KafkaJS

// What librdkafka repeats, it repeats soon.
const kafka = new Kafka({
  kafkaJS: { brokers: [BOOTSTRAP], clientId: 'compat', logLevel: logLevel.NOTHING },
  'retry.backoff.ms': 50,
  'topic.metadata.refresh.fast.interval.ms': 100
})

async function connected (scope, client) {
  scope.closes(() => client.disconnect())
  await client.connect()
  return client
}

const admin = scope => connected(scope, kafka.admin())
const producer = (scope, config = {}, more = {}) => connected(scope, kafka.producer({ kafkaJS: config, ...more }))

// A member that subscribes to a topic before the broker knows it has no partitions for minutes.
function known (client, topics) {
  return until(async () => {
    const listed = await client.listTopics()
    return topics.every(topic => listed.includes(topic))
  }, 'the topics are listed')
}

async function makeTopic (scope, numPartitions = 1, configs = {}) {
  const topic = fresh('topic')
  const client = await admin(scope)
  const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
  assert.equal(await client.createTopics({ topics: [{ topic, numPartitions, configEntries }] }), true)
  await known(client, [topic])
  return topic
}

async function produce (scope, topic, values, config = {}, partition = 0) {
  const client = await producer(scope, config)
  await client.send({ topic, messages: values.map(value => ({ value, partition })) })
}

// A member of a group that keeps what comes.
class Member {
  messages = []

  constructor (client) {
    this.client = client
  }

  get partitions () {
    return this.client.assignment().map(one => one.partition).sort()
  }

  get values () {
    return this.messages.map(message => message.value?.toString())
  }

  has (count) {
    return until(() => this.messages.length >= count, `${count} records`)
  }
}

const CLASSIC = { kafkaJS: { heartbeatInterval: 300 } }
const CONSUMER = { 'group.protocol': 'consumer' }

async function join (scope, topic, { runs, kafkaJS = {}, ...more } = CLASSIC) {
  const client = await connected(scope, kafka.consumer({
    kafkaJS: { groupId: fresh('group'), fromBeginning: true, maxWaitTimeInMs: 100, ...kafkaJS }, ...more
  }))
  const member = new Member(client)
  await client.subscribe({ topic })
  await client.run(runs?.(member) ?? { eachMessage: async ({ message }) => { member.messages.push(message) } })
  return member
}

async function read (scope, topic, count, config) {
  const member = await join(scope, topic, config)
  await member.has(count)
  return member
}

const READ_UNCOMMITTED = { kafkaJS: { readUncommitted: true } }

// The offset that a group has committed for partition 0.
async function committed (client, groupId, topic, requireStableOffsets = false) {
  const [found] = await client.fetchOffsets({ groupId, topics: [{ topic, partitions: [0] }], requireStableOffsets })
  assert.equal(found.partitions[0].error, null)
  return found.partitions[0].offset
}

check('metadata', async scope => {
  const topic = await makeTopic(scope, 3)
  const client = await admin(scope)
  assert.ok((await client.listTopics()).includes(topic))
  const [described] = await client.fetchTopicMetadata({ topics: [topic], includeAuthorizedOperations: true })
  assert.deepEqual([described.name, described.isInternal], [topic, false])
  assert.match(described.topicId.base64, /^[\w+/]{22}$/)
  assert.deepEqual(described.partitions.map(one => one.partitionId).sort(), [0, 1, 2])
  for (const { leader, leaderNode, replicas, isr } of described.partitions) {
    assert.deepEqual([replicas, isr], [[leader], [leader]])
    assert.equal(leaderNode.port, Number(BOOTSTRAP.split(':').pop()))
  }
  const { READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS } = AclOperationTypes
  assert.deepEqual(new Set(described.authorizedOperations),
    new Set([READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS]))
})

check('produce.codecs', async scope => {
  const topic = await makeTopic(scope)
  const sent = []
  for (const compression of Object.values(CompressionTypes)) {
    const values = Array.from({ length: 50 }, (_, i) => `${compression}-${i}-${'x'.repeat(300)}`)
    await produce(scope, topic, values, { compression })
    sent.push(...values)
  }
  assert.equal(sent.length, 250, 'five codecs')
  assert.deepEqual((await read(scope, topic, 250)).values, sent)
})

check('produce.headers', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope)
  const headers = { a: Buffer.from('1'), twice: ['x', 'y'], ä: Buffer.from([255, 0]) }
  await client.send({ topic, messages: [{ key: 'k', value: 'v', headers, timestamp: '1700000000000' }] })
  const { messages: [message] } = await read(scope, topic, 1)
  assert.deepEqual({ ...message.headers }, { ...headers, twice: [Buffer.from('x'), Buffer.from('y')] })
  assert.deepEqual([message.key.toString(), message.timestamp], ['k', '1700000000000'])
})

check('produce.nulls', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope)
  const sent = [[null, 'v'], ['k', null], [null, null], ['', '']]
  await client.send({ topic, messages: sent.map(([key, value]) => ({ key, value, partition: 0 })) })
  const { messages } = await read(scope, topic, 4)
  assert.deepEqual(messages.map(({ key, value }) => [key, value].map(one => one && one.toString())), sent)
})

check('produce.idempotent', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope, { idempotent: true }, { 'batch.num.messages': 7 })
  const sent = Array.from({ length: 500 }, (_, i) => `${i}`)
  const [{ partition, baseOffset }] = await client.send({
    topic, messages: sent.map(value => ({ value, partition: 0 }))
  })
  assert.deepEqual([partition, baseOffset], [0, '0'])
  assert.deepEqual((await read(scope, topic, 500)).values, sent)
})

check('produce.acks', async scope => {
  const topic = await makeTopic(scope)
  for (const acks of [0, 1, -1]) await produce(scope, topic, [`${acks}`], { acks })
  assert.deepEqual((await read(scope, topic, 3)).values.sort(), ['-1', '0', '1'])
})

const transactional = (scope, transactionalId = fresh('tx')) => producer(scope, { transactionalId })

check('txn.commit', async scope => {
  const topic = await makeTopic(scope, 2)
  const client = await transactional(scope)
  for (let i = 0; i < 2; i++) {
    const transaction = await client.transaction()
    for (const partition of [0, 1]) await transaction.send({ topic, messages: [{ value: `${i}`, partition }] })
    await transaction.commit()
  }
  assert.deepEqual((await read(scope, topic, 4)).values.sort(), ['0', '0', '1', '1'])
})

check('txn.abort', async scope => {
  const topic = await makeTopic(scope)
  const client = await transactional(scope)
  for (const [value, end] of [['never', 'abort'], ['kept', 'commit']]) {
    const transaction = await client.transaction()
    await transaction.send({ topic, messages: [{ value, partition: 0 }] })
    await transaction[end]()
  }
  assert.deepEqual((await read(scope, topic, 1)).values, ['kept'])
  assert.deepEqual((await read(scope, topic, 2, READ_UNCOMMITTED)).values, ['never', 'kept'])
})

check('txn.abort.fenced', async scope => {
  const [topic, id] = [await makeTopic(scope), fresh('tx')]
  const zombie = await (await transactional(scope, id)).transaction()
  await zombie.send({ topic, messages: [{ value: 'zombie', partition: 0 }] })
  const successor = await (await transactional(scope, id)).transaction()
  await successor.send({ topic, messages: [{ value: 'new', partition: 0 }] })
  await successor.commit()
  await assert.rejects(zombie.commit(), error => error.code === ErrorCodes.ERR__FENCED)
  assert.deepEqual((await read(scope, topic, 1)).values, ['new'])
})

check('txn.offsets', async scope => {
  const [source, sink, groupId] = [await makeTopic(scope), await makeTopic(scope), fresh('group')]
  await produce(scope, source, ['1', '2', '3'])
  const { client: consumer } = await read(scope, source, 3, { kafkaJS: { groupId, autoCommit: false } })
  const [client, asking] = [await transactional(scope), await admin(scope)]
  for (const [end, wanted] of [['abort', '-1001'], ['commit', '3']]) {
    const transaction = await client.transaction()
    await transaction.send({ topic: sink, messages: [{ value: end, partition: 0 }] })
    await transaction.sendOffsets({
      consumer, topics: [{ topic: source, partitions: [{ partition: 0, offset: '3' }] }]
    })
    await transaction[end]()
    await until(async () => await committed(asking, groupId, source) === wanted, `offset ${wanted}`)
  }
  assert.deepEqual((await read(scope, sink, 1)).values, ['commit'])
})

check('consume.read_committed', async scope => {
  const topic = await makeTopic(scope)
  const client = await transactional(scope)
  await produce(scope, topic, ['before'])
  const transaction = await client.transaction()
  await transaction.send({ topic, messages: [{ value: 'open', partition: 0 }] })
  await produce(scope, topic, ['after'])
  const stable = await read(scope, topic, 1)
  const all = await read(scope, topic, 3, READ_UNCOMMITTED)
  assert.deepEqual(all.values, ['before', 'open', 'after'])
  assert.deepEqual(stable.values, ['before'], 'what follows an open transaction is not stable')
  await transaction.commit()
  await stable.has(3)
  assert.deepEqual(stable.values, ['before', 'open', 'after'])
})

async function twoMembersShare (scope, config, protocol) {
  const [topic, groupId] = [await makeTopic(scope, 4), fresh('group')]
  const withGroup = { ...config, kafkaJS: { ...config.kafkaJS, groupId } }
  const stays = await join(scope, topic, withGroup)
  const leaves = await join(scope, topic, withGroup)
  await until(() => stays.partitions.length === 2 && leaves.partitions.length === 2, 'two partitions each')
  assert.deepEqual([...stays.partitions, ...leaves.partitions].sort(), [0, 1, 2, 3])
  assert.equal(stays.client.rebalanceProtocol(), protocol)
  await leaves.client.disconnect()
  await until(() => stays.partitions.length === 4, 'all partitions for the one that stays')
  for (const partition of [0, 1, 2, 3]) await produce(scope, topic, [`${partition}`], {}, partition)
  await stays.has(4)
  assert.deepEqual(stays.values.sort(), ['0', '1', '2', '3'])
}

const assigned = name => ({ kafkaJS: { heartbeatInterval: 300, partitionAssigners: [PartitionAssigners[name]] } })

check('consume.group.classic', scope => twoMembersShare(scope, CLASSIC, 'EAGER'))

check('consume.group.classic.range', scope => twoMembersShare(scope, assigned('range'), 'EAGER'))

check('consume.group.classic.cooperative', scope => (
  twoMembersShare(scope, assigned('cooperativeSticky'), 'COOPERATIVE')))

check('consume.group.consumer', scope => twoMembersShare(scope, CONSUMER, 'COOPERATIVE'))

check('consume.group.consumer.range', scope => (
  twoMembersShare(scope, { ...CONSUMER, 'group.remote.assignor': 'range' }, 'COOPERATIVE')))

// A static member that is gone is not missed; who comes with its name has its place, and no other member hears of it.
async function placeIsKept (scope, config) {
  const [topic, groupId] = [await makeTopic(scope, 2), fresh('group')]
  let heard = 0
  const joins = name => join(scope, topic, {
    ...config,
    kafkaJS: { ...config.kafkaJS, groupId },
    'group.instance.id': name,
    rebalance_cb: () => { if (name === 'first') heard++ }
  })
  const [first, second] = [await joins('first'), await joins('second')]
  await until(() => first.partitions.length === 1 && second.partitions.length === 1, 'a partition each')
  const [[kept], before] = [second.partitions, heard]
  await second.client.disconnect()
  const again = await joins('second')
  await until(() => again.partitions.length === 1, 'the place of the second member')
  assert.deepEqual([again.partitions, first.partitions, heard], [[kept], [1 - kept], before])
}

check('consume.group.classic.static', scope => placeIsKept(scope, CLASSIC))

check('consume.group.consumer.static', scope => placeIsKept(scope, CONSUMER))

async function topicsOfAPattern (scope, config) {
  const prefix = fresh('pattern')
  const client = await admin(scope)
  const topics = [`not-${prefix}`, `${prefix}-0`, `${prefix}-1`]
  await client.createTopics({ topics: topics.map(topic => ({ topic })) })
  await known(client, topics)
  for (const topic of topics) await produce(scope, topic, [topic])
  const member = await read(scope, new RegExp(`^${prefix}-.*`), 2, config)
  assert.deepEqual(member.values.sort(), [`${prefix}-0`, `${prefix}-1`])
}

check('consume.group.classic.pattern', scope => topicsOfAPattern(scope, CLASSIC))

check('consume.group.consumer.pattern', scope => topicsOfAPattern(scope, CONSUMER))

async function goesOn (scope, config) {
  const [topic, groupId] = [await makeTopic(scope), fresh('group')]
  await produce(scope, topic, ['0', '1', '2', '3'])
  const first = await read(scope, topic, 4, { ...config, kafkaJS: { ...config.kafkaJS, groupId, autoCommit: false } })
  await first.client.commitOffsets([{ topic, partition: 0, offset: '2', metadata: 'a note' }])
  const [{ offset, metadata }] = await first.client.committed([{ topic, partition: 0 }])
  assert.deepEqual([offset, metadata], ['2', 'a note'])
  await first.client.disconnect()
  const second = await read(scope, topic, 2, { ...config, kafkaJS: { ...config.kafkaJS, groupId } })
  assert.deepEqual(second.values, ['2', '3'], 'it goes on where it has committed')
  await second.client.disconnect()
  assert.equal(await committed(await admin(scope), groupId, topic), '4', 'closing commits')
}

check('consume.commit', scope => goesOn(scope, CLASSIC))

check('consume.commit.consumer', scope => goesOn(scope, CONSUMER))

check('consume.commit.batches', async scope => {
  const [topic, groupId] = [await makeTopic(scope), fresh('group')]
  await produce(scope, topic, ['0', '1', '2', '3'])
  const runs = member => ({
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch, resolveOffset, commitOffsetsIfNecessary }) => {
      for (const message of batch.messages) {
        member.messages.push(message)
        resolveOffset(message.offset)
        await commitOffsetsIfNecessary()
      }
    }
  })
  const member = await read(scope, topic, 4, { runs, kafkaJS: { groupId, autoCommit: false } })
  assert.deepEqual(member.values, ['0', '1', '2', '3'])
  await until(async () => await committed(await admin(scope), groupId, topic) === '4', 'all committed')
})

check('consume.seek', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope)
  const messages = Array.from({ length: 10 }, (_, i) => (
    { value: `${i}`, partition: 0, timestamp: `${1_000_000 + i * 1000}` }))
  await client.send({ topic, messages })
  const asking = await admin(scope)
  const [{ low, high }] = await asking.fetchTopicOffsets(topic)
  assert.deepEqual([low, high], ['0', '10'])
  assert.equal((await asking.fetchTopicOffsetsByTimestamp(topic, 1_004_500))[0].offset, '5')
  assert.equal((await asking.fetchTopicOffsetsByTimestamp(topic, 2_000_000))[0].offset, '10')
  const member = await read(scope, topic, 10)
  member.client.seek({ topic, partition: 0, offset: '7' })
  await member.has(13)
  assert.deepEqual(member.values.slice(10, 13), ['7', '8', '9'])
})

check('admin.topics', async scope => {
  const client = await admin(scope)
  const topic = await makeTopic(scope)
  assert.equal(await client.createTopics({ topics: [{ topic }] }), false, 'it exists')
  await assert.rejects(client.createTopics({ topics: [{ topic: 'a/b' }] }),
    error => error.errors[0].code === ErrorCodes.ERR_TOPIC_EXCEPTION)
  await client.deleteTopics({ topics: [topic] })
  await until(async () => !(await client.listTopics()).includes(topic), 'the topic is gone')
  await assert.rejects(client.deleteTopics({ topics: [topic] }),
    error => error.code === ErrorCodes.ERR_UNKNOWN_TOPIC_OR_PART)
})

// The client can neither describe nor alter a config.
check('admin.topics.configs', async scope => {
  const topic = await makeTopic(scope, 1, { 'max.message.bytes': '2000' })
  await produce(scope, topic, ['x'.repeat(1000)])
  await assert.rejects(produce(scope, topic, ['x'.repeat(3000)]),
    error => error.code === ErrorCodes.ERR_MSG_SIZE_TOO_LARGE)
  const client = await admin(scope)
  const configEntries = [{ name: 'max.message.bytes', value: 'many' }]
  await assert.rejects(client.createTopics({ topics: [{ topic: fresh('topic'), configEntries }] }),
    error => error.errors[0].code === ErrorCodes.ERR_INVALID_CONFIG)
})

async function groupComesAndGoes (scope, config, type) {
  const [topic, groupId, client] = [await makeTopic(scope), fresh('group'), await admin(scope)]
  const listed = async state => {
    const { groups, errors } = await client.listGroups({
      matchConsumerGroupStates: [state], matchConsumerGroupTypes: [type]
    })
    assert.deepEqual(errors, [])
    return groups.find(one => one.groupId === groupId)
  }
  const member = await join(scope, topic, { ...config, kafkaJS: { ...config.kafkaJS, groupId } })
  await until(() => member.partitions.length === 1, 'an assignment')
  assert.equal(await listed(ConsumerGroupStates.EMPTY), undefined)
  const { protocolType, isSimpleConsumerGroup, type: found } = await listed(ConsumerGroupStates.STABLE)
  assert.deepEqual([protocolType, isSimpleConsumerGroup, found], ['consumer', false, type])
  const { groups: [described] } = await client.describeGroups([groupId])
  assert.deepEqual([described.state, described.type, described.members.length], [ConsumerGroupStates.STABLE, type, 1])
  const [{ clientId, assignment }] = described.members
  assert.equal(clientId, 'compat')
  assert.deepEqual(assignment.topicPartitions.map(one => [one.topic, one.partition]), [[topic, 0]])
  await assert.rejects(client.deleteGroups([groupId]),
    error => error.groups[0].error.code === ErrorCodes.ERR_NON_EMPTY_GROUP)
  await member.client.disconnect()
  assert.equal((await client.describeGroups([groupId])).groups[0].state, ConsumerGroupStates.EMPTY)
  assert.deepEqual((await client.deleteGroups([groupId])).map(one => one.groupId), [groupId])
  assert.equal(await listed(ConsumerGroupStates.EMPTY), undefined)
}

check('admin.groups', scope => groupComesAndGoes(scope, CLASSIC, ConsumerGroupTypes.CLASSIC))

check('admin.groups.consumer', scope => groupComesAndGoes(scope, CONSUMER, ConsumerGroupTypes.CONSUMER))

check('admin.offsets', async scope => {
  const [topic, other] = [await makeTopic(scope), await makeTopic(scope)]
  const [groupId, client] = [fresh('group'), await admin(scope)]
  await produce(scope, topic, ['a', 'b'])
  const { client: consumer } = await read(scope, topic, 2, { kafkaJS: { groupId, autoCommit: false } })
  await consumer.commitOffsets([{ topic, partition: 0, offset: '1', metadata: 'a note' }])
  const [{ partitions: [found] }] = await client.fetchOffsets({ groupId, topics: [topic] })
  assert.deepEqual([found.partition, found.offset, found.metadata], [0, '1', 'a note'])
  assert.deepEqual(await client.fetchOffsets({ groupId, topics: [other] }), [])
  assert.equal(await committed(client, groupId, topic, true), '1')
})

check('admin.delete_records', async scope => {
  const [topic, client] = [await makeTopic(scope), await admin(scope)]
  await produce(scope, topic, ['0', '1', '2', '3'])
  assert.equal((await client.fetchTopicOffsets(topic))[0].low, '0')
  const [deleted] = await client.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] })
  assert.equal(deleted.lowWatermark, 3)
  assert.equal((await client.fetchTopicOffsets(topic))[0].low, '3')
  assert.deepEqual((await read(scope, topic, 1)).values, ['3'])
})
