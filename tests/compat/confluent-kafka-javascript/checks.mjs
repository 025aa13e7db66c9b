// Checks with @confluentinc/kafka-javascript against any broker (see ../support/compat.mjs): of its two APIs, over one
// librdkafka. Those of the second end in .rdkafka where the first has the same. Each has topics and groups of its own.
import { createRequire } from 'node:module'

import confluent from '@confluentinc/kafka-javascript'

import { run } from './compat.mjs'
import './kafkajs_api.mjs'
import './rdkafka_api.mjs'

const { version } = createRequire(import.meta.url)('@confluentinc/kafka-javascript/package.json')
const [librdkafka] = confluent.librdkafkaVersion.split('-') // what follows tells how it was compiled

await run('@confluentinc/kafka-javascript', `${version}+${librdkafka}`)
