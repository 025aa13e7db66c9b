// The API like librdkafka's: callbacks, events, streams.
import assert from 'node:assert/strict'
import { finished } from 'node:stream/promises'

import confluent from '@confluentinc/kafka-javascript'

import { BOOTSTRAP, check, fresh, until } from './compat.mjs'

const {
  AdminClient, CODES, ConsumerGroupStates, ConsumerGroupTypes, HighLevelProducer, IsolationLevel, KafkaConsumer,
  OffsetSpec, Producer, createReadStream, createWriteStream
} = confluent.RdKafka
const { ERRORS } = CODES

// What librdkafka repeats, it repeats soon.
const base = {
  'bootstrap.servers': BOOTSTRAP,
  'client.id': 'compat',
  'retry.backoff.ms': 50,
  'topic.metadata.refresh.fast.interval.ms': 100
}
const TIMEOUT_MS = 10_000

// What the client's method calls back with.
function call (client, method, ...args) {
  return new Promise((resolve, reject) => {
    client[method](...args, (error, result) => error ? reject(error) : resolve(result))
  })
}

function is (code) {
  return error => error.code === code
}

async function connected (scope, client) {
  scope.closes(() => leave(client))
  await call(client, 'connect', {})
  return client
}

async function leave (client) {
  if (client.isConnected()) await call(client, 'disconnect')
}

function admin (scope) {
  const client = AdminClient.create(base)
  scope.closes(() => client.disconnect())
  return client
}

async function makeTopic (scope, partitions = 1, config = {}) {
  const topic = fresh('topic')
  const made = { topic, num_partitions: partitions, replication_factor: 1, config }
  const client = admin(scope)
  await call(client, 'createTopic', made, TIMEOUT_MS)
  // A member that subscribes to a topic before the broker knows it has no partitions for minutes.
  await until(async () => (await call(client, 'listTopics', {})).includes(topic), 'the topic is listed')
  return topic
}

// A producer whose reports() are what has become of what it was given.
async function producer (scope, config = {}) {
  const client = await connected(scope, new Producer({ ...base, dr_cb: true, ...config }))
  client.setPollInBackground(true)
  const reports = []
  client.on('delivery-report', (error, report) => reports.push({ error, report }))
  client.reports = async count => {
    await until(() => reports.length >= count, `${count} delivery reports`)
    assert.deepEqual(reports.filter(one => one.error), [])
    return reports.map(one => one.report)
  }
  return client
}

async function produce (scope, topic, values, config = {}, partition = 0) {
  const client = await producer(scope, config)
  for (const value of values) client.produce(topic, partition, Buffer.from(value))
  return client.reports(values.length)
}

// A consumer that keeps what comes.
class Reader {
  messages = []
  rebalances = []

  constructor (client) {
    this.client = client
    client.on('data', message => { this.messages.push(message) })
    client.on('rebalance', error => { this.rebalances.push(error.code) })
  }

  get partitions () {
    return this.client.assignments().map(one => one.partition).sort()
  }

  get values () {
    return this.messages.map(message => message.value?.toString())
  }

  has (count) {
    return until(() => this.messages.length >= count, `${count} records`)
  }
}

const CLASSIC = { 'group.protocol': 'classic', 'heartbeat.interval.ms': 300 }
const CONSUMER = { 'group.protocol': 'consumer' }

async function reader (scope, config = {}) {
  const client = await connected(scope, new KafkaConsumer({
    ...base,
    'group.id': fresh('group'),
    'fetch.wait.max.ms': 100,
    'enable.auto.commit': false,
    rebalance_cb: true,
    ...config
  }, { 'auto.offset.reset': 'earliest' }))
  client.setDefaultConsumeLoopTimeoutDelay(10)
  return new Reader(client)
}

async function join (scope, topic, config) {
  const member = await reader(scope, config)
  member.client.subscribe([topic])
  member.client.consume()
  return member
}

async function read (scope, topic, count, config) {
  const member = await join(scope, topic, config)
  await member.has(count)
  return member
}

async function committed (client, group, topic) {
  const asked = [{ groupId: group, partitions: [{ topic, partition: 0 }] }]
  const [found] = await call(client, 'listConsumerGroupOffsets', asked, { timeout: TIMEOUT_MS })
  return found.partitions[0].offset
}

check('metadata.rdkafka', async scope => {
  const topic = await makeTopic(scope, 3)
  const client = await producer(scope)
  const metadata = await call(client, 'getMetadata', { topic, timeout: TIMEOUT_MS })
  assert.deepEqual(metadata.brokers.map(one => one.port), [Number(BOOTSTRAP.split(':').pop())])
  const [{ id }] = metadata.brokers
  const partitions = metadata.topics.find(one => one.name === topic).partitions
  assert.deepEqual(partitions.map(one => [one.leader, one.replicas, one.isrs]), Array(3).fill([id, [id], [id]]))
  const asking = AdminClient.createFrom(client)
  const [described] = await call(asking, 'describeTopics', [topic], { timeout: TIMEOUT_MS })
  assert.deepEqual([described.name, described.partitions.length], [topic, 3])
  const [missing] = await call(asking, 'describeTopics', [fresh('topic')], { timeout: TIMEOUT_MS })
  assert.equal(missing.error.code, ERRORS.ERR_UNKNOWN_TOPIC_OR_PART)
})

check('produce.codecs.rdkafka', async scope => {
  const topic = await makeTopic(scope)
  const sent = []
  for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
    const values = Array.from({ length: 50 }, (_, i) => `${codec}-${i}-${'x'.repeat(300)}`)
    const reports = await produce(scope, topic, values, { 'compression.codec': codec, 'linger.ms': 20 })
    assert.deepEqual(reports.map(one => one.offset), values.map((_, i) => sent.length + i))
    sent.push(...values)
  }
  assert.deepEqual((await read(scope, topic, 250)).values, sent)
})

check('produce.headers.rdkafka', async scope => {
  const topic = await makeTopic(scope)
  const client = await connected(scope, new HighLevelProducer(base))
  const headers = [{ a: Buffer.from('1') }, { b: 'x' }, { a: Buffer.from([255, 0]) }, { empty: '' }]
  assert.equal(await call(client, 'produce', topic, 0, Buffer.from('v'), 'k', 1_700_000_000_000, headers), 0)
  const { messages: [message] } = await read(scope, topic, 1)
  assert.deepEqual(message.headers.map(one => ({ ...one })),
    [{ a: Buffer.from('1') }, { b: Buffer.from('x') }, { a: Buffer.from([255, 0]) }, { empty: Buffer.alloc(0) }])
  assert.deepEqual([message.key.toString(), message.timestamp], ['k', 1_700_000_000_000])
})

check('produce.nulls.rdkafka', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope)
  const sent = [[null, 'v'], ['k', null], [null, null], ['', '']]
  for (const [key, value] of sent) client.produce(topic, 0, value === null ? null : Buffer.from(value), key)
  const { messages } = await read(scope, topic, 4)
  assert.deepEqual(messages.map(({ key, value }) => [key, value].map(one => one && one.toString())), sent)
})

check('produce.idempotent.streams', async scope => {
  const topic = await makeTopic(scope)
  const sent = Array.from({ length: 500 }, (_, i) => `${i}`)
  const writing = createWriteStream({ ...base, 'enable.idempotence': true, 'batch.num.messages': 7 }, {},
    { topic, pollInterval: 10 })
  for (const value of sent) writing.write(Buffer.from(value))
  writing.end()
  await finished(writing)
  const reading = createReadStream({ ...base, 'group.id': fresh('group'), 'enable.auto.commit': false },
    { 'auto.offset.reset': 'earliest' }, { topics: [topic], waitInterval: 10, fetchSize: 50 })
  scope.closes(() => new Promise(resolve => reading.close(resolve)))
  const values = []
  reading.on('data', message => { values.push(message.value.toString()) })
  await until(() => values.length >= 500, '500 records')
  assert.deepEqual(values, sent)
})

async function transactional (scope, id = fresh('tx')) {
  const client = await producer(scope, { 'transactional.id': id })
  await call(client, 'initTransactions', TIMEOUT_MS)
  return client
}

async function send (client, topic, value, partition = 0) {
  client.produce(topic, partition, Buffer.from(value))
  await call(client, 'flush', TIMEOUT_MS)
}

check('txn.commit.rdkafka', async scope => {
  const topic = await makeTopic(scope, 2)
  const client = await transactional(scope)
  for (let i = 0; i < 2; i++) {
    await call(client, 'beginTransaction')
    for (const partition of [0, 1]) await send(client, topic, `${i}`, partition)
    await call(client, 'commitTransaction', TIMEOUT_MS)
  }
  assert.deepEqual((await read(scope, topic, 4)).values.sort(), ['0', '0', '1', '1'])
})

check('txn.abort.rdkafka', async scope => {
  const topic = await makeTopic(scope)
  const client = await transactional(scope)
  for (const [value, end] of [['never', 'abortTransaction'], ['kept', 'commitTransaction']]) {
    await call(client, 'beginTransaction')
    await send(client, topic, value)
    await call(client, end, TIMEOUT_MS)
  }
  assert.deepEqual((await read(scope, topic, 1)).values, ['kept'])
  const all = await read(scope, topic, 2, { 'isolation.level': 'read_uncommitted' })
  assert.deepEqual(all.values, ['never', 'kept'])
})

check('txn.abort.fenced.rdkafka', async scope => {
  const [topic, id] = [await makeTopic(scope), fresh('tx')]
  const zombie = await transactional(scope, id)
  await call(zombie, 'beginTransaction')
  await send(zombie, topic, 'zombie')
  const successor = await transactional(scope, id)
  await call(successor, 'beginTransaction')
  await send(successor, topic, 'new')
  await call(successor, 'commitTransaction', TIMEOUT_MS)
  await assert.rejects(call(zombie, 'commitTransaction', TIMEOUT_MS), is(ERRORS.ERR__FENCED))
  assert.deepEqual((await read(scope, topic, 1)).values, ['new'])
})

check('txn.offsets.rdkafka', async scope => {
  const [source, sink, group] = [await makeTopic(scope), await makeTopic(scope), fresh('group')]
  await produce(scope, source, ['1', '2', '3'])
  const { client: consumer } = await read(scope, source, 3, { ...CONSUMER, 'group.id': group })
  const [client, asking] = [await transactional(scope), admin(scope)]
  for (const [end, wanted] of [['abortTransaction', -1001], ['commitTransaction', 3]]) {
    await call(client, 'beginTransaction')
    await send(client, sink, end)
    await call(client, 'sendOffsetsToTransaction', consumer.position(), consumer, TIMEOUT_MS)
    await call(client, end, TIMEOUT_MS)
    await until(async () => await committed(asking, group, source) === wanted, `offset ${wanted}`)
  }
  assert.deepEqual((await read(scope, sink, 1)).values, ['commitTransaction'])
})

async function twoMembersShare (scope, config) {
  const [topic, group] = [await makeTopic(scope, 4), fresh('group')]
  const stays = await join(scope, topic, { ...config, 'group.id': group })
  const leaves = await join(scope, topic, { ...config, 'group.id': group })
  await until(() => stays.partitions.length === 2 && leaves.partitions.length === 2, 'two partitions each')
  assert.deepEqual([...stays.partitions, ...leaves.partitions].sort(), [0, 1, 2, 3])
  assert.ok(leaves.rebalances.includes(ERRORS.ERR__ASSIGN_PARTITIONS), 'it is told of its partitions')
  await leave(leaves.client)
  await until(() => stays.partitions.length === 4, 'all partitions for the one that stays')
  for (const partition of [0, 1, 2, 3]) await produce(scope, topic, [`${partition}`], {}, partition)
  await stays.has(4)
  assert.deepEqual(stays.values.sort(), ['0', '1', '2', '3'])
}

check('consume.group.classic.rdkafka', scope => twoMembersShare(scope, CLASSIC))

check('consume.group.consumer.rdkafka', scope => twoMembersShare(scope, CONSUMER))

async function goesOn (scope, config) {
  const [topic, group] = [await makeTopic(scope), fresh('group')]
  await produce(scope, topic, ['0', '1', '2', '3'])
  const first = await read(scope, topic, 4, { ...config, 'group.id': group })
  first.client.commitSync([{ topic, partition: 0, offset: 1, metadata: 'a note' }])
  const [found] = await call(first.client, 'committed', [{ topic, partition: 0 }], TIMEOUT_MS)
  assert.deepEqual([found.offset, found.metadata], [1, 'a note'])
  first.client.commitMessageSync(first.messages[1])
  await leave(first.client)
  const second = await read(scope, topic, 2, { ...config, 'group.id': group })
  assert.deepEqual(second.values, ['2', '3'], 'it goes on where it has committed')
  await call(second.client, 'commitCb', [{ topic, partition: 0, offset: 4 }])
  assert.equal(await committed(admin(scope), group, topic), 4)
}

check('consume.commit.rdkafka', scope => goesOn(scope, CLASSIC))

check('consume.commit.consumer.rdkafka', scope => goesOn(scope, CONSUMER))

check('consume.seek.rdkafka', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope)
  for (let i = 0; i < 10; i++) client.produce(topic, 0, Buffer.from(`${i}`), null, 1_000_000 + i * 1000)
  await client.reports(10)
  const first = await reader(scope)
  assert.deepEqual({ ...await call(first.client, 'queryWatermarkOffsets', topic, 0, TIMEOUT_MS) },
    { lowOffset: 0, highOffset: 10 })
  const [at] = await call(first.client, 'offsetsForTimes', [{ topic, partition: 0, offset: 1_004_500 }], TIMEOUT_MS)
  assert.equal(at.offset, 5)
  first.client.assign([{ topic, partition: 0, offset: 8 }])
  first.client.consume()
  await first.has(2)
  await call(first.client, 'seek', { topic, partition: 0, offset: 6 }, TIMEOUT_MS)
  await first.has(6)
  assert.deepEqual(first.values, ['8', '9', '6', '7', '8', '9'])
})

check('admin.topics.rdkafka', async scope => {
  const client = admin(scope)
  const topic = await makeTopic(scope)
  await assert.rejects(call(client, 'createTopic', { topic, num_partitions: 1, replication_factor: 1 }, TIMEOUT_MS),
    is(ERRORS.ERR_TOPIC_ALREADY_EXISTS))
  await call(client, 'createPartitions', topic, 3, TIMEOUT_MS)
  await until(async () => {
    const [found] = await call(client, 'describeTopics', [topic], { timeout: TIMEOUT_MS })
    return found.partitions.length === 3
  }, 'three partitions')
  await assert.rejects(call(client, 'createPartitions', topic, 2, TIMEOUT_MS), is(ERRORS.ERR_INVALID_PARTITIONS))
  await call(client, 'deleteTopic', topic, TIMEOUT_MS)
  await until(async () => !(await call(client, 'listTopics', {})).includes(topic), 'the topic is gone')
})

async function groupComesAndGoes (scope, config, type) {
  const [topic, group, client] = [await makeTopic(scope), fresh('group'), admin(scope)]
  const listed = async () => (await call(client, 'listGroups', { timeout: TIMEOUT_MS })).groups.find(
    one => one.groupId === group)
  const described = async () => (await call(client, 'describeGroups', [group], { timeout: TIMEOUT_MS })).groups[0]
  const member = await join(scope, topic, { ...config, 'group.id': group, 'group.instance.id': 'the one' })
  await until(() => member.partitions.length === 1, 'an assignment')
  const { state, type: found } = await listed()
  assert.deepEqual([state, found], [ConsumerGroupStates.STABLE, type])
  const { members: [{ clientId, groupInstanceId }] } = await described()
  assert.deepEqual([clientId, groupInstanceId], ['compat', 'the one'])
  await leave(member.client)
  const busy = await call(client, 'deleteGroups', [group], { timeout: TIMEOUT_MS })
  assert.equal(busy[0].error.code, ERRORS.ERR_NON_EMPTY_GROUP, 'a static member that has gone may come again')
}

check('admin.groups.rdkafka', scope => groupComesAndGoes(scope, CLASSIC, ConsumerGroupTypes.CLASSIC))

check('admin.offsets.rdkafka', async scope => {
  const [topic, group, client] = [await makeTopic(scope, 2), fresh('group'), admin(scope)]
  const { client: consumer } = await reader(scope, { 'group.id': group })
  consumer.commitSync([{ topic, partition: 0, offset: 7, metadata: 'a note' }])
  const [found] = await call(client, 'listConsumerGroupOffsets', [{ groupId: group, partitions: null }],
    { timeout: TIMEOUT_MS, requireStableOffsets: true })
  assert.equal(found.groupId, group)
  assert.deepEqual(found.partitions.map(one => [one.topic, one.partition, one.offset, one.metadata]),
    [[topic, 0, 7, 'a note']])
  assert.equal((await call(client, 'listGroups', { timeout: TIMEOUT_MS })).groups.find(
    one => one.groupId === group).isSimpleConsumerGroup, true)
})

check('admin.list_offsets', async scope => {
  const topic = await makeTopic(scope)
  const client = await producer(scope)
  for (const time of [1000, 3000, 2000]) client.produce(topic, 0, Buffer.from('v'), null, time)
  await client.reports(3)
  const open = await transactional(scope)
  await call(open, 'beginTransaction')
  await send(open, topic, 'open')
  const offset = async (spec, isolationLevel) => {
    const [found] = await call(AdminClient.createFrom(client), 'listOffsets', [{ topic, partition: 0, offset: spec }],
      { timeout: TIMEOUT_MS, isolationLevel })
    assert.equal(found.error, undefined)
    return found.offset
  }
  const { READ_COMMITTED, READ_UNCOMMITTED } = IsolationLevel
  assert.equal(await offset(OffsetSpec.EARLIEST, READ_UNCOMMITTED), 0)
  assert.equal(await offset(OffsetSpec.LATEST, READ_UNCOMMITTED), 4)
  assert.equal(await offset(OffsetSpec.LATEST, READ_COMMITTED), 3)
  assert.equal(await offset(new OffsetSpec(1500), READ_UNCOMMITTED), 1)
  await call(open, 'abortTransaction', TIMEOUT_MS)
  await until(async () => await offset(OffsetSpec.LATEST, READ_COMMITTED) === 5, 'the aborted record and its marker')
})

check('admin.delete_records.rdkafka', async scope => {
  const [topic, client] = [await makeTopic(scope), admin(scope)]
  await produce(scope, topic, ['0', '1', '2', '3'])
  const remove = async offset => {
    const [deleted] = await call(client, 'deleteRecords', [{ topic, partition: 0, offset }], { timeout: TIMEOUT_MS })
    return deleted
  }
  assert.equal((await remove(3)).lowWatermark, 3)
  assert.deepEqual((await read(scope, topic, 1)).values, ['3'])
  assert.equal((await remove(5)).error.code, ERRORS.ERR_OFFSET_OUT_OF_RANGE)
  assert.equal((await remove(-1)).lowWatermark, 4)
})
