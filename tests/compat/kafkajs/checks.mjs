// Checks with kafkajs against any broker (see ../support/compat.mjs). Each has topics and groups of its own.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import zlib from 'node:zlib'

import kafkajs from 'kafkajs'
import snappy from 'kafkajs-snappy'
import lz4 from 'lz4-napi'

import { BOOTSTRAP, check, fresh, run, until } from './compat.mjs'

const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = kafkajs
const { version } = createRequire(import.meta.url)('kafkajs/package.json')

// What kafkajs leaves to plugins.
CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: encoder => lz4.compressFrame(encoder.buffer),
  decompress: buffer => lz4.decompressFrame(buffer)
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: encoder => promisify(zlib.zstdCompress)(encoder.buffer),
  decompress: buffer => promisify(zlib.zstdDecompress)(buffer)
})

const kafka = new Kafka({
  clientId: 'compat',
  brokers: [BOOTSTRAP],
  logLevel: logLevel.NOTHING,
  // A coordinator that is not there yet is asked for again soon.
  retry: { initialRetryTime: 50, retries: 20, maxRetryTime: 1000 }
})

async function connected (scope, client) {
  scope.closes(() => client.disconnect())
  await client.connect()
  return client
}

const admin = scope => connected(scope, kafka.admin())
const producer = (scope, config = {}) => connected(scope, kafka.producer({
  createPartitioner: kafkajs.Partitioners.DefaultPartitioner, ...config
}))

async function makeTopic (scope, numPartitions = 1, configEntries = []) {
  const topic = fresh('topic')
  const client = await admin(scope)
  assert.equal(await client.createTopics({ topics: [{ topic, numPartitions, configEntries }] }), true)
  return topic
}

async function produce (scope, topic, values, options = {}, partition = 0) {
  const client = await producer(scope)
  await client.send({ topic, messages: values.map(value => ({ value, partition })), ...options })
}

// A member of a group that keeps what comes.
class Member {
  messages = []
  partitions = []

  constructor (client) {
    this.client = client
    client.on(client.events.GROUP_JOIN, ({ payload }) => {
      this.partitions = Object.values(payload.memberAssignment).flat().sort()
    })
  }

  get values () {
    return this.messages.map(({ message }) => message.value?.toString())
  }

  has (count) {
    return until(() => this.messages.length >= count, `${count} records`)
  }
}

async function join (scope, topic, { runs = {}, ...config } = {}) {
  const client = await connected(scope, kafka.consumer({
    groupId: fresh('group'), heartbeatInterval: 300, rebalanceTimeout: 10_000, maxWaitTimeInMs: 100, ...config
  }))
  const member = new Member(client)
  await client.subscribe({ topic, fromBeginning: true })
  await client.run({ ...runs, eachMessage: async record => { member.messages.push(record) } })
  return member
}

async function read (scope, topic, count, config = {}) {
  const member = await join(scope, topic, config)
  await member.has(count)
  return member
}

check('metadata', async scope => {
  const topic = await makeTopic(scope, 3)
  const client = await admin(scope)
  const cluster = await client.describeCluster()
  assert.equal(cluster.brokers.length, 1)
  assert.equal(cluster.controller, cluster.brokers[0].nodeId)
  assert.ok((await client.listTopics()).includes(topic))
  const { topics: [described] } = await client.fetchTopicMetadata({ topics: [topic] })
  assert.deepEqual(described.partitions.map(one => one.partitionId).sort(), [0, 1, 2])
})

check('produce.codecs', async scope => {
  const topic = await makeTopic(scope)
  const sent = []
  for (const [name, compression] of Object.entries(CompressionTypes)) {
    const values = Array.from({ length: 50 }, (_, i) => `${name}-${i}-${'x'.repeat(300)}`)
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
  const { messages: [{ message }] } = await read(scope, topic, 1)
  assert.deepEqual({ ...message.headers }, { ...headers, twice: [Buffer.from('x'), Buffer.from('y')] })
  assert.deepEqual([message.key.toString(), message.timestamp], ['k', '1700000000000'])
})

check('produce.nulls', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope)
  const sent = [[null, 'v'], ['k', null], [null, null], ['', '']]
  await client.send({ topic, messages: sent.map(([key, value]) => ({ key, value, partition: 0 })) })
  const { messages } = await read(scope, topic, 4)
  assert.deepEqual(messages.map(({ message }) => [message.key, message.value].map(one => one && one.toString())), sent)
})

check('produce.idempotent', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope, { idempotent: true, maxInFlightRequests: 1 })
  const sent = Array.from({ length: 50 }, (_, i) => `${i}`)
  for (const value of sent) await client.send({ topic, messages: [{ value, partition: 0 }] })
  assert.deepEqual((await read(scope, topic, 50)).values, sent)
})

const transactional = scope => producer(scope, {
  transactionalId: fresh('tx'), idempotent: true, maxInFlightRequests: 1
})

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
  assert.deepEqual((await read(scope, topic, 2, { readUncommitted: true })).values, ['never', 'kept'])
})

check('txn.abort.fenced', async scope => {
  const topic = await makeTopic(scope)
  const config = { transactionalId: fresh('tx'), idempotent: true, maxInFlightRequests: 1 }
  const zombie = await (await producer(scope, config)).transaction()
  await zombie.send({ topic, messages: [{ value: 'zombie', partition: 0 }] })
  const successor = await (await producer(scope, config)).transaction()
  await successor.send({ topic, messages: [{ value: 'new', partition: 0 }] })
  await successor.commit()
  await assert.rejects(async () => {
    await zombie.send({ topic, messages: [{ value: 'zombie', partition: 0 }] })
    await zombie.commit()
  })
  assert.deepEqual((await read(scope, topic, 1)).values, ['new'])
})

check('txn.offsets', async scope => {
  const [source, sink, groupId] = [await makeTopic(scope), await makeTopic(scope), fresh('group')]
  const client = await transactional(scope)
  const asking = await admin(scope)
  for (const [end, wanted] of [['abort', '-1'], ['commit', '3']]) {
    const transaction = await client.transaction()
    await transaction.send({ topic: sink, messages: [{ value: end, partition: 0 }] })
    await transaction.sendOffsets({
      consumerGroupId: groupId, topics: [{ topic: source, partitions: [{ partition: 0, offset: '3' }] }]
    })
    await transaction[end]()
    await until(async () => {
      const [{ partitions: [{ offset }] }] = await asking.fetchOffsets({ groupId, topics: [source] })
      return offset === wanted
    }, `offset ${wanted}`)
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
  const all = await read(scope, topic, 3, { readUncommitted: true })
  assert.deepEqual(all.values, ['before', 'open', 'after'])
  assert.deepEqual(stable.values, ['before'], 'what follows an open transaction is not stable')
  await transaction.commit()
  await stable.has(3)
  assert.deepEqual(stable.values, ['before', 'open', 'after'])
})

check('consume.group.classic', async scope => {
  const [topic, groupId] = [await makeTopic(scope, 4), fresh('group')]
  const stays = await join(scope, topic, { groupId })
  const leaves = await join(scope, topic, { groupId })
  await until(() => stays.partitions.length === 2 && leaves.partitions.length === 2, 'two partitions each')
  assert.deepEqual([...stays.partitions, ...leaves.partitions].sort(), [0, 1, 2, 3])
  await leaves.client.disconnect()
  await until(() => stays.partitions.length === 4, 'all partitions for the one that stays')
  for (const partition of [0, 1, 2, 3]) await produce(scope, topic, [`${partition}`], {}, partition)
  await stays.has(4)
  assert.deepEqual(stays.values.sort(), ['0', '1', '2', '3'])
})

check('consume.group.classic.pattern', async scope => {
  const prefix = fresh('pattern')
  const client = await admin(scope)
  await client.createTopics({ topics: [{ topic: `${prefix}-0` }, { topic: `${prefix}-1` }] })
  for (const i of [0, 1]) await produce(scope, `${prefix}-${i}`, [`${i}`])
  const member = await read(scope, new RegExp(`^${prefix}-.*`), 2)
  assert.deepEqual(member.values.sort(), ['0', '1'])
})

check('consume.commit', async scope => {
  const [topic, groupId] = [await makeTopic(scope), fresh('group')]
  await produce(scope, topic, ['0', '1', '2', '3'])
  const first = await read(scope, topic, 4, { groupId, runs: { autoCommit: false } })
  await first.client.commitOffsets([{ topic, partition: 0, offset: '2', metadata: 'a note' }])
  await first.client.disconnect()
  const second = await read(scope, topic, 2, { groupId })
  assert.deepEqual(second.values, ['2', '3'], 'it goes on where it has committed')
  await second.client.disconnect()
  const [{ partitions }] = await (await admin(scope)).fetchOffsets({ groupId, topics: [topic] })
  assert.equal(partitions[0].offset, '4', 'closing commits')
})

check('consume.seek', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope)
  const messages = Array.from({ length: 10 }, (_, i) => ({ value: `${i}`, timestamp: `${1_000_000 + i * 1000}` }))
  await client.send({ topic, messages })
  const asking = await admin(scope)
  const [{ low, high }] = await asking.fetchTopicOffsets(topic)
  assert.deepEqual([low, high], ['0', '10'])
  assert.equal((await asking.fetchTopicOffsetsByTimestamp(topic, 1_004_500))[0].offset, '5')
  const member = await read(scope, topic, 10)
  member.client.seek({ topic, partition: 0, offset: '7' })
  await member.has(13)
  assert.deepEqual(member.values.slice(10, 13), ['7', '8', '9'])
})

check('admin.topics', async scope => {
  const client = await admin(scope)
  const [topic, twin] = [await makeTopic(scope), fresh('topic')]
  assert.equal(await client.createTopics({ topics: [{ topic }] }), false, 'it exists')
  await client.createTopics({ topics: [{ topic: twin }], validateOnly: true, waitForLeaders: false })
  assert.ok(!(await client.listTopics()).includes(twin))
  await client.createPartitions({ topicPartitions: [{ topic, count: 3 }] })
  await until(async () => {
    const { topics: [described] } = await client.fetchTopicMetadata({ topics: [topic] })
    return described.partitions.length === 3
  }, 'three partitions')
  await client.deleteTopics({ topics: [topic] })
  await until(async () => !(await client.listTopics()).includes(topic), 'the topic is gone')
})

check('admin.configs', async scope => {
  const client = await admin(scope)
  const topic = await makeTopic(scope, 1, [{ name: 'retention.ms', value: '3600000' }])
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic }
  const value = async name => {
    const described = await client.describeConfigs({ resources: [{ ...resource, configNames: [name] }] })
    const entries = described.resources[0].configEntries
    assert.equal(entries.length, 1)
    return entries[0].configValue
  }
  assert.equal(await value('retention.ms'), '3600000')
  const configEntries = [{ name: 'segment.bytes', value: '1048576' }]
  await client.alterConfigs({ resources: [{ ...resource, configEntries }] })
  await until(async () => await value('segment.bytes') === '1048576', 'the new value')
  await until(async () => await value('retention.ms') === '604800000', 'what was not named is the default again')
})

check('admin.groups', async scope => {
  const [topic, groupId, client] = [await makeTopic(scope), fresh('group'), await admin(scope)]
  const listed = async () => (await client.listGroups()).groups.find(one => one.groupId === groupId)
  const member = await join(scope, topic, { groupId })
  await until(() => member.partitions.length === 1, 'an assignment')
  assert.equal((await listed()).protocolType, 'consumer')
  const { groups: [described] } = await client.describeGroups([groupId])
  assert.deepEqual([described.state, described.members.length, described.protocol], ['Stable', 1, 'RoundRobinAssigner'])
  assert.equal(described.members[0].clientId, 'compat')
  await member.client.disconnect()
  assert.equal((await client.describeGroups([groupId])).groups[0].state, 'Empty')
  assert.equal((await client.deleteGroups([groupId]))[0].errorCode, 0)
  assert.equal(await listed(), undefined)
})

check('admin.offsets', async scope => {
  const [topic, groupId, client] = [await makeTopic(scope), fresh('group'), await admin(scope)]
  await produce(scope, topic, ['a', 'b'])
  await client.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '1' }] })
  const [{ partitions: [{ offset }] }] = await client.fetchOffsets({ groupId, topics: [topic] })
  assert.equal(offset, '1')
  const first = await read(scope, topic, 1, { groupId })
  assert.deepEqual(first.values, ['b'], 'it begins where the offset was set')
  await first.client.disconnect()
  await client.resetOffsets({ groupId, topic, earliest: true })
  assert.deepEqual((await read(scope, topic, 2, { groupId })).values, ['a', 'b'])
})

check('admin.delete_records', async scope => {
  const [topic, client] = [await makeTopic(scope), await admin(scope)]
  await produce(scope, topic, ['0', '1', '2', '3'])
  assert.equal((await client.fetchTopicOffsets(topic))[0].low, '0')
  await client.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] })
  assert.equal((await client.fetchTopicOffsets(topic))[0].low, '3')
  assert.deepEqual((await read(scope, topic, 1)).values, ['3'])
})

await run('kafkajs', version)
