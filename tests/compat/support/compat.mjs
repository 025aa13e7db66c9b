// What the suites in JavaScript share: checks named after features, and how they are run and told of.
//
// A suite is `checks.mjs BOOTSTRAP [FEATURE…]`: calls of check("feature", async scope => …), and run(client, version) at
// the end. It prints "client NAME VERSION", a line for each check, and "N passed, N failed" (tools/compat-table reads them).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'

const [bootstrap, ...chosenFeatures] = process.argv.slice(2)
export const BOOTSTRAP = bootstrap
export const LIMIT_MS = 30_000 // of one check
const JOBS = 4
const checks = []

export function check (feature, body) {
  checks.push({ feature, body })
}

export function fresh (prefix) {
  return `${prefix}-${randomUUID().slice(0, 13)}`
}

export async function until (condition, what) {
  const end = Date.now() + LIMIT_MS
  for (;;) {
    const held = await condition()
    if (held) return held
    assert.ok(Date.now() < end, `not in time: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

// What a check has opened; closed at its end, the last first.
class Scope {
  #closers = []

  closes (close) {
    this.#closers.push(close)
  }

  async end () {
    for (const close of this.#closers.reverse()) await close()
  }
}

function withLimit (promise, what) {
  let timer
  const limit = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} not done in ${LIMIT_MS / 1000} s`)), LIMIT_MS)
  })
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer))
}

// Why the check failed, or undefined.
async function one ({ body }) {
  const scope = new Scope()
  let why
  try {
    await withLimit(body(scope), 'check')
  } catch (error) {
    why = error
  }
  try {
    await withLimit(scope.end(), 'close')
  } catch (error) {
    why ??= error
  }
  if (why === undefined) return undefined
  console.error(inspect(why, { depth: 6 }))
  return `${why.name} ${why.message}`.replace(/\s+/g, ' ').slice(0, 200)
}

export async function run (client, version) {
  process.on('unhandledRejection', error => console.error('unhandled', inspect(error, { depth: 6 })))
  console.log(`client ${client} ${version}`)
  const chosen = checks.filter(({ feature }) => chosenFeatures.length === 0 ||
    chosenFeatures.some(name => feature === name || feature.startsWith(`${name}.`)))
  const results = chosen.map(() => {
    let resolve
    return { promise: new Promise(done => { resolve = done }), resolve }
  })
  let next = 0
  // Most of a check is waiting for a broker.
  const workers = Array.from({ length: JOBS }, async () => {
    while (next < chosen.length) {
      const index = next++
      results[index].resolve(await one(chosen[index]))
    }
  })
  let failed = 0
  for (const [index, { promise }] of results.entries()) {
    const why = await promise
    if (why !== undefined) failed++
    console.log(why === undefined ? `passed ${chosen[index].feature}` : `failed ${chosen[index].feature}: ${why}`)
  }
  await Promise.all(workers)
  console.log(`${chosen.length - failed} passed, ${failed} failed`)
  process.exit(failed > 0 || chosen.length === 0 ? 1 : 0)
}
