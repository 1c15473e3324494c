// kill -9 again and again under load: everything acknowledged is done, nothing is there by halves, nothing is doubled but recorded repeats.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../src/db/sql.ts'
import type { FaultNode, Sink } from '../support/fault-scene.ts'
import { FaultScene, makeIntegration, makeWorkflow, startSink } from '../support/fault-scene.ts'
import { createRandom } from '../support/random.ts'
import { eventually } from '../support/service.ts'
import { email, inApp } from '../support/workflow-scene.ts'

const kills = 3
const writers = 3
const recipientsPerEvent = 2

let scene: FaultScene
let node: FaultNode
let sink: Sink
before(async () => {
  scene = await FaultScene.create()
  sink = await startSink(scene)
  node = await scene.start('node-0')
  await makeIntegration(node, 'webhook', 'email-webhook', { webhookUrl: sink.url, secretKey: 'secret' })
  await makeWorkflow(node, 'both', [inApp('Feed {{ payload.id }}'), email('Mail {{ payload.id }}')])
})
after(() => scene.close())

const acknowledged = new Set<string>()
const asked = new Set<string>()

const eventOf = (id: string) => ({
  name: 'both',
  to: ['a', 'b'].map((letter) => ({ subscriberId: `${id}-${letter}`, email: `${id}-${letter}@example.org` })),
  payload: { id },
  transactionId: id,
})

/** Each id is asked for once: what a kill cut off is not repeated, so that it shows what a cut leaves behind. */
async function write(writer: number, isOver: () => boolean): Promise<void> {
  for (let call = 0; !isOver(); call += 1) {
    const ids = writer === 0 ? [0, 1, 2, 3, 4].map((place) => `w${writer}-${call}-${place}`) : [`w${writer}-${call}`]
    for (const id of ids) asked.add(id)
    const events = ids.map(eventOf)
    const answer = await (events.length === 1
      ? node.ask('POST', '/v1/events/trigger', events[0])
      : node.ask('POST', '/v1/events/trigger/bulk', { events })
    ).catch(() => undefined)
    if (answer?.status === 201) for (const id of ids) acknowledged.add(id)
    // While no one listens, no more than a few calls are wasted.
    else await sleep(50)
  }
}

interface StoredMail {
  readonly id: string
  readonly notified: number
  readonly notifications: number
  readonly feed: number
  readonly mail: number
  readonly steps: number
}

function whatIsThere(): Promise<StoredMail[]> {
  return scene.rows(sql`
    select e.transaction_id as id, e.notified,
      (select count(*) from notifications n where n.event_id = e.id) as notifications,
      count(m.id) filter (where m.channel = 'in_app' and m.status = 'sent') as feed,
      count(m.id) filter (where m.channel = 'email' and m.status = 'sent') as mail,
      count(distinct (m.notification_id, m.step)) as steps
    from events e left join messages m on m.event_id = e.id group by e.environment_id, e.id, e.transaction_id, e.notified`)
}

test('under constant load and kills, each acknowledged event is done wholly, the others wholly or not at all', async (t) => {
  const seed = 77_003
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  let isOver = false
  const writing = Array.from({ length: writers }, (_, writer) => write(writer, () => isOver))
  for (let kill = 1; kill <= kills; kill += 1) {
    // A kill comes after so many acknowledged events, wherever the pipeline then is.
    const until = acknowledged.size + 20 + random.integer(150)
    await eventually(async () => acknowledged.size >= until)
    await node.kill()
    node = await scene.start(`node-${kill}`)
  }
  isOver = true
  await Promise.all(writing)
  await scene.settled()
  const there = await whatIsThere()
  const whole = { notified: 2, notifications: 2, feed: 2, mail: 2, steps: recipientsPerEvent * 2 }
  const torn = there.filter(({ id: _, ...counts }) => JSON.stringify(counts) !== JSON.stringify(whole))
  assert.deepEqual(torn, [])
  const ids = new Set(there.map(({ id }) => id))
  assert.equal(ids.size, there.length, 'each once')
  assert.deepEqual(
    [...acknowledged].filter((id) => !ids.has(id)),
    [],
  )
  assert.deepEqual(
    [...ids].filter((id) => !asked.has(id)),
    [],
  )
  t.diagnostic(`${acknowledged.size} acknowledged, ${ids.size - acknowledged.size} more are there, of ${asked.size}`)
})

test('the receiver heard of every mail and of no other; what it heard twice is reported as a repeat', async (t) => {
  const mails = await scene.rows(sql`
    select m.id, exists (select 1 from jsonb_array_elements(j.details) d where (d->>'isRetry')::boolean) as repeated
    from messages m join jobs j on j.environment_id = m.environment_id and j.id = m.job_id where m.channel = 'email'`)
  const times = sink.timesSeen()
  assert.equal(times.size, mails.length)
  let twice = 0
  for (const { id, repeated } of mails) {
    const seen = times.get(id) ?? 0
    assert.ok(seen > 0, 'each mail was sent')
    if (seen === 1) continue
    twice += 1
    assert.ok(repeated, 'a mail sent twice says so')
  }
  t.diagnostic(`${mails.length} mails, ${twice} of them sent again`)
  const doubled = sql`
    select count(*) as count from (select 1 from messages group by notification_id, step having count(*) > 1) as twice`
  assert.equal(await scene.count(doubled), 0)
})
