// Checks with @platformatic/kafka against any broker (see ../support/compat.mjs). Each has topics and groups of its own.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

import {
  Admin, CompressionAlgorithms, ConfigResourceTypes, Consumer, IncrementalAlterConfigOperationTypes, Producer,
  stringDeserializers, stringSerializers
} from '@platformatic/kafka'

import { BOOTSTRAP, check, fresh, run, until } from './compat.mjs'

const { version } = JSON.parse(readFileSync(new URL('../node_modules/@platformatic/kafka/package.json', import.meta.url)))
const base = { clientId: 'compat', bootstrapBrokers: [BOOTSTRAP], retries: 20, retryDelay: 100 }
const EARLIEST = -2n
const LATEST = -1n

function admin (scope) {
  const client = new Admin(base)
  scope.closes(() => client.close())
  return client
}

function producer (scope, config = {}) {
  const client = new Producer({ ...base, serializers: stringSerializers, ...config })
  scope.closes(() => client.close(true))
  return client
}

async function makeTopic (scope, partitions = 1, configs = []) {
  const topic = fresh('topic')
  const client = admin(scope)
  await client.createTopics({ topics: [topic], partitions, replicas: 1, configs })
  await until(async () => {
    const found = await client.metadata({ topics: [topic], forceUpdate: true }).catch(() => undefined)
    return found?.topics.get(topic)?.partitionsCount === partitions
  }, 'the topic in the metadata')
  return topic
}

const produce = (scope, topic, values, options = {}, partition = 0) => producer(scope).send({
  messages: values.map(value => ({ topic, value, partition })), ...options
})

// A member of a group that keeps what comes.
class Member {
  messages = []

  constructor (client) {
    this.client = client
  }

  get partitions () {
    return (this.client.assignments ?? []).flatMap(one => one.partitions).sort()
  }

  get values () {
    return this.messages.map(message => message.value)
  }

  has (count) {
    return until(() => this.messages.length >= count, `${count} records`)
  }
}

async function join (scope, topics, { consume = {}, ...config } = {}) {
  const client = new Consumer({
    ...base, groupId: fresh('group'), deserializers: stringDeserializers, maxWaitTime: 100, autocommit: false,
    ...(config.groupProtocol === 'consumer' ? {} : { heartbeatInterval: 300 }), ...config
  })
  scope.closes(() => client.close(true))
  const member = new Member(client)
  const stream = await client.consume({ topics: [topics].flat(), mode: 'committed', fallbackMode: 'earliest', ...consume })
  stream.on('data', message => { member.messages.push(message) })
  return member
}

async function read (scope, topic, count, config = {}) {
  const member = await join(scope, topic, config)
  await member.has(count)
  return member
}

const offsetsOf = async (client, topic, timestamp) => {
  const [{ partitions }] = await client.listOffsets({
    topics: [{ name: topic, partitions: [{ partitionIndex: 0, timestamp }] }]
  })
  return partitions[0].offset
}

async function committed (client, groupId) {
  const [{ topics }] = await client.listConsumerGroupOffsets({ groups: [groupId] })
  return topics.flatMap(topic => topic.partitions.map(one => [one.partitionIndex, one.committedOffset]))
}

check('metadata', async scope => {
  const topic = await makeTopic(scope, 3)
  const client = admin(scope)
  assert.ok((await client.listTopics()).includes(topic))
  const found = await client.metadata({ topics: [topic], forceUpdate: true })
  assert.equal(found.brokers.size, 1)
  assert.ok(found.brokers.has(found.controllerId))
  const [leader] = found.brokers.keys()
  assert.deepEqual(found.topics.get(topic).partitions.map(one => one.leader), [leader, leader, leader])
})

check('produce.codecs', async scope => {
  const topic = await makeTopic(scope)
  const sent = []
  for (const compression of Object.values(CompressionAlgorithms)) {
    const values = Array.from({ length: 50 }, (_, i) => `${compression}-${i}-${'x'.repeat(300)}`)
    await produce(scope, topic, values, { compression })
    sent.push(...values)
  }
  assert.equal(sent.length, 250, 'five codecs')
  assert.deepEqual((await read(scope, topic, 250)).values, sent)
})

check('produce.headers', async scope => {
  const topic = await makeTopic(scope)
  const headers = new Map([['a', '1'], ['ä', 'ü'], ['empty', '']])
  await producer(scope).send({ messages: [{ topic, key: 'k', value: 'v', headers, timestamp: 1_700_000_000_000n }] })
  const { messages: [message] } = await read(scope, topic, 1)
  assert.deepEqual(message.headers, headers)
  assert.deepEqual([message.key, message.timestamp], ['k', 1_700_000_000_000n])
})

check('produce.nulls', async scope => {
  const topic = await makeTopic(scope)
  const sent = [[undefined, 'v'], ['k', undefined], [undefined, undefined], ['', '']]
  await producer(scope).send({ messages: sent.map(([key, value]) => ({ topic, key, value, partition: 0 })) })
  const { messages } = await read(scope, topic, 4)
  assert.deepEqual(messages.map(message => [message.key ?? undefined, message.value ?? undefined]), sent)
})

check('produce.idempotent', async scope => {
  const topic = await makeTopic(scope)
  const client = producer(scope, { idempotent: true })
  const sent = Array.from({ length: 50 }, (_, i) => `${i}`)
  for (const value of sent) await client.send({ messages: [{ topic, value, partition: 0 }] })
  assert.deepEqual((await read(scope, topic, 50)).values, sent)
})

const transactional = scope => producer(scope, { idempotent: true, transactionalId: fresh('tx') })
const READ_COMMITTED = { isolationLevel: 1 }
const READ_UNCOMMITTED = { isolationLevel: 0 }

check('txn.commit', async scope => {
  const topic = await makeTopic(scope, 2)
  const client = transactional(scope)
  for (let i = 0; i < 2; i++) {
    const transaction = await client.beginTransaction()
    for (const partition of [0, 1]) await transaction.send({ messages: [{ topic, value: `${i}`, partition }] })
    await transaction.commit()
  }
  assert.deepEqual((await read(scope, topic, 4, READ_COMMITTED)).values.sort(), ['0', '0', '1', '1'])
})

check('txn.abort', async scope => {
  const topic = await makeTopic(scope)
  const client = transactional(scope)
  for (const [value, end] of [['never', 'abort'], ['kept', 'commit']]) {
    const transaction = await client.beginTransaction()
    await transaction.send({ messages: [{ topic, value, partition: 0 }] })
    await transaction[end]()
  }
  assert.deepEqual((await read(scope, topic, 1, READ_COMMITTED)).values, ['kept'])
  assert.deepEqual((await read(scope, topic, 2, READ_UNCOMMITTED)).values, ['never', 'kept'])
})

check('txn.offsets', async scope => {
  const [source, sink] = [await makeTopic(scope), await makeTopic(scope)]
  await produce(scope, source, ['1', '2', '3'])
  const member = await read(scope, source, 3)
  const [client, asking] = [transactional(scope), admin(scope)]
  for (const [end, wanted] of [['abort', []], ['commit', [[0, 3n]]]]) {
    const transaction = await client.beginTransaction()
    await transaction.addConsumer(member.client)
    await transaction.send({ messages: [{ topic: sink, value: end, partition: 0 }] })
    await transaction.addOffset(member.messages[2])
    await transaction[end]()
    await until(async () => {
      const found = await committed(asking, member.client.groupId)
      return found.length === wanted.length && found.every(([, offset], i) => offset === wanted[i][1])
    }, `${wanted} committed`)
  }
  assert.deepEqual((await read(scope, sink, 1, READ_COMMITTED)).values, ['commit'])
})

check('consume.read_committed', async scope => {
  const topic = await makeTopic(scope)
  const client = transactional(scope)
  await produce(scope, topic, ['before'])
  const transaction = await client.beginTransaction()
  await transaction.send({ messages: [{ topic, value: 'open', partition: 0 }] })
  await produce(scope, topic, ['after'])
  const stable = await read(scope, topic, 1, READ_COMMITTED)
  const all = await read(scope, topic, 3, READ_UNCOMMITTED)
  assert.deepEqual(all.values, ['before', 'open', 'after'])
  assert.deepEqual(stable.values, ['before'], 'what follows an open transaction is not stable')
  await transaction.commit()
  await stable.has(3)
  assert.deepEqual(stable.values, ['before', 'open', 'after'])
})

async function twoMembersShare (scope, config) {
  const [topic, groupId] = [await makeTopic(scope, 4), fresh('group')]
  const stays = await join(scope, topic, { groupId, ...config })
  const leaves = await join(scope, topic, { groupId, ...config })
  await until(() => stays.partitions.length === 2 && leaves.partitions.length === 2, 'two partitions each')
  assert.deepEqual([...stays.partitions, ...leaves.partitions].sort(), [0, 1, 2, 3])
  await leaves.client.close(true)
  await until(() => stays.partitions.length === 4, 'all partitions for the one that stays')
  for (const partition of [0, 1, 2, 3]) await produce(scope, topic, [`${partition}`], {}, partition)
  await stays.has(4)
  assert.deepEqual(stays.values.sort(), ['0', '1', '2', '3'])
}

check('consume.group.classic', scope => twoMembersShare(scope, { groupProtocol: 'classic' }))

check('consume.group.consumer', scope => twoMembersShare(scope, { groupProtocol: 'consumer' }))

async function goesOn (scope, config) {
  const [topic, groupId] = [await makeTopic(scope), fresh('group')]
  await produce(scope, topic, ['0', '1', '2', '3'])
  const first = await read(scope, topic, 4, { groupId, ...config })
  await first.client.commit({ offsets: [{ topic, partition: 0, offset: 2n, leaderEpoch: 0 }] })
  await first.client.close(true)
  const second = await read(scope, topic, 2, { groupId, ...config })
  assert.deepEqual(second.values, ['2', '3'], 'it goes on where it has committed')
  await second.messages[1].commit()
  await until(async () => (await committed(admin(scope), groupId))[0][1] === 4n, 'the next offset is committed')
}

check('consume.commit', scope => goesOn(scope, { groupProtocol: 'classic' }))

check('consume.commit.consumer', scope => goesOn(scope, { groupProtocol: 'consumer' }))

check('consume.seek', async scope => {
  const [topic, client] = [await makeTopic(scope), admin(scope)]
  const messages = Array.from({ length: 10 }, (_, i) => (
    { topic, value: `${i}`, partition: 0, timestamp: BigInt(1_000_000 + i * 1000) }))
  for (const message of messages) await producer(scope).send({ messages: [message] })
  assert.equal(await offsetsOf(client, topic, EARLIEST), 0n)
  assert.equal(await offsetsOf(client, topic, LATEST), 10n)
  assert.equal(await offsetsOf(client, topic, 1_004_500n), 5n)
  assert.equal(await offsetsOf(client, topic, 2_000_000n), -1n)
  const consume = { mode: 'manual', offsets: [{ topic, partition: 0, offset: 7n }] }
  assert.deepEqual((await read(scope, topic, 3, { consume })).values, ['7', '8', '9'])
})

check('admin.topics', async scope => {
  const [topic, client] = [await makeTopic(scope), admin(scope)]
  await assert.rejects(client.createTopics({ topics: [topic], partitions: 1, replicas: 1 }), 'it exists')
  await client.createPartitions({ topics: [{ name: topic, count: 3 }] })
  await until(async () => {
    return (await client.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic).partitionsCount === 3
  }, 'three partitions')
  await client.deleteTopics({ topics: [topic] })
  await until(async () => !(await client.listTopics()).includes(topic), 'the topic is gone')
})

check('admin.configs', async scope => {
  const topic = await makeTopic(scope, 1, [{ name: 'retention.ms', value: '3600000' }])
  const client = admin(scope)
  const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName: topic }
  const values = async () => {
    const [{ configs }] = await client.describeConfigs({
      resources: [{ ...resource, configurationKeys: ['retention.ms', 'segment.bytes'] }]
    })
    return Object.fromEntries(configs.map(one => [one.name, one.value]))
  }
  const become = (retention, segment) => until(async () => {
    const found = await values()
    return found['retention.ms'] === retention && found['segment.bytes'] === segment
  }, `${retention} and ${segment}`)
  const change = { name: 'segment.bytes', configOperation: IncrementalAlterConfigOperationTypes.SET, value: '1048576' }
  await client.incrementalAlterConfigs({ resources: [{ ...resource, configs: [change] }] })
  await become('3600000', '1048576')
  await client.alterConfigs({ resources: [{ ...resource, configs: [{ name: 'segment.bytes', value: '2097152' }] }] })
  await become('604800000', '2097152')
})

check('admin.groups', async scope => {
  const [topic, groupId, client] = [await makeTopic(scope), fresh('group'), admin(scope)]
  const member = await join(scope, topic, { groupId })
  await until(() => member.partitions.length === 1, 'an assignment')
  assert.equal((await client.listGroups()).get(groupId).protocolType, 'consumer')
  const described = (await client.describeGroups({ groups: [groupId] })).get(groupId)
  assert.deepEqual([described.state, described.members.size], ['Stable', 1])
  assert.equal([...described.members.values()][0].clientId, 'compat')
  await member.client.close(true)
  assert.equal((await client.describeGroups({ groups: [groupId] })).get(groupId).state, 'Empty')
  await client.deleteGroups({ groups: [groupId] })
  assert.ok(!(await client.listGroups()).has(groupId))
})

check('admin.offsets', async scope => {
  const [topic, groupId, client] = [await makeTopic(scope, 2), fresh('group'), admin(scope)]
  await produce(scope, topic, ['a', 'b'])
  const partitionOffsets = [{ partition: 0, offset: 1n }, { partition: 1, offset: 0n }]
  await client.alterConsumerGroupOffsets({ groupId, topics: [{ name: topic, partitionOffsets }] })
  assert.deepEqual((await committed(client, groupId)).sort(), [[0, 1n], [1, 0n]])
  await client.deleteConsumerGroupOffsets({ groupId, topics: [{ name: topic, partitionIndexes: [1] }] })
  assert.deepEqual(await committed(client, groupId), [[0, 1n]])
  assert.deepEqual((await read(scope, topic, 1, { groupId })).values, ['b'], 'it begins where the offset was set')
})

check('admin.delete_records', async scope => {
  const [topic, client] = [await makeTopic(scope), admin(scope)]
  await produce(scope, topic, ['0', '1', '2', '3'])
  const [{ partitions }] = await client.deleteRecords({
    topics: [{ name: topic, partitions: [{ partition: 0, offset: 3n }] }]
  })
  assert.equal(partitions[0].lowWatermark, 3n)
  assert.equal(await offsetsOf(client, topic, EARLIEST), 3n)
  assert.deepEqual((await read(scope, topic, 1)).values, ['3'])
})

check('admin.quotas', async scope => {
  const [client, user] = [admin(scope), fresh('user')]
  const entities = [{ entityType: 'user', entityName: user }]
  const alter = (value, remove) => client.alterClientQuotas({
    entries: [{ entities, ops: [{ key: 'producer_byte_rate', value, remove }] }]
  })
  await alter(1e6, false)
  const components = [{ entityType: 'user', matchType: 0, match: user }]
  await until(async () => {
    const [found] = await client.describeClientQuotas({ components })
    return found?.values[0].value === 1e6
  }, 'the quota')
  await alter(0, true)
  await until(async () => (await client.describeClientQuotas({ components })).length === 0, 'no quota')
})

await run('@platformatic/kafka', version)
