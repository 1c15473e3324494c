// Single events that are decided with their acceptance: the same comes of them, in one transaction, and nothing when that fails.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Fate } from '../support/faulty-db.ts'
import { sqlError } from '../support/faulty-db.ts'
import { fresh, statuses } from '../support/flow-scene.ts'
import { eventually } from '../support/service.ts'
import type { Side } from '../support/two-ways.ts'
import { createTwoWays, seen, settle, writesAtOnce } from '../support/two-ways.ts'
import { condition, delay, digest, email, inApp } from '../support/workflow-scene.ts'

let fault: ((statement: Statement) => Fate) | undefined
let atOnce: Side
let inTurn: Side
before(async () => {
  ;({ atOnce, inTurn } = await createTwoWays((statement) => fault?.(statement)))
})
after(async () => {
  await atOnce.app.close()
  await inTurn.app.close()
})
beforeEach(async () => {
  fault = undefined
  for (const { mail } of [atOnce, inTurn]) {
    await mail.clear()
    await mail.account('provider')
  }
})

const ifGold = { filters: [condition('gold')] }
const ifOnline = (value: boolean) => ({
  filters: [{ isNegated: false, type: 'GROUP', value: 'AND', children: [{ on: 'isOnline', value }] }],
})
const cases: Readonly<Record<string, { steps: readonly object[]; to?: object; payload?: object; fails?: number }>> = {
  'in-app': { steps: [inApp('Hello {{ payload.n }}')] },
  'e-mail': { steps: [email('Hello')] },
  'in-app, then e-mail': { steps: [inApp('One'), email('Two')] },
  'four steps': { steps: [inApp('One'), email('Two'), inApp('Three'), email('Four')] },
  'no one to write to': { steps: [inApp('One'), email('Two')], to: { email: null } },
  'a condition that is not met': { steps: [inApp('One'), { ...email('Two'), ...ifGold }, inApp('Three')] },
  'the first condition is not met': { steps: [{ ...inApp('One'), ...ifGold }, email('Two')] },
  'conditions on whether a new subscriber is online': {
    steps: [inApp('Now', ifOnline(true)), inApp('Away', ifOnline(false)), email('Three')],
  },
  'a delay after the first': { steps: [inApp('One'), delay(), email('Two')] },
  'a digest after the first': { steps: [inApp('One'), digest(), email('Two')] },
  'a digest first': { steps: [digest(), email('Two')] },
  'an SMS, which has its own turn': {
    steps: [inApp('One'), { template: { type: 'sms', content: 'Hi' } }, email('Three')],
  },
  'a template that fails': {
    steps: [inApp('{{ payload.n | plus: payload }}'), email('{% for i in (1..99999999) %}{% endfor %}')],
  },
  'a provider that refuses it': { steps: [inApp('One'), email('Two'), inApp('Three')], fails: 400 },
}

for (const [name, { steps, to, payload, fails }] of Object.entries(cases)) {
  test(`it is the same as in its own turn: ${name}`, async () => {
    const results: unknown[] = []
    for (const side of [inTurn, atOnce]) {
      if (fails !== undefined) side.mail.answers('provider', fails)
      const workflow = await side.scene.workflow(steps)
      // The first fills what is kept of the configuration; the second finds it.
      for (const subscriberId of ['ada', 'grace']) {
        const person = { subscriberId: `${subscriberId}-${name}`, email: 'person@example.org', ...to }
        const transactionId = await side.scene.trigger(workflow, person, { payload: { n: 7, ...payload } })
        await settle(side)
        results.push(await seen(side, transactionId))
      }
    }
    const [first, second, ...atOnceResults] = results
    assert.deepEqual(atOnceResults, [first, second])
  })
}

/** In-app, then e-mail. Its first event has filled what is kept of the configuration, so the next is decided at once. */
async function knownWorkflow(): Promise<string> {
  const { scene } = atOnce
  const workflow = await scene.workflow([inApp('One'), email('Two')])
  await scene.trigger(workflow, { subscriberId: fresh('first'), email: 'a@example.org' })
  await settle(atOnce)
  return workflow
}

test('all of it is one transaction: when the provider is asked, both steps are written', async () => {
  const { scene, mail } = atOnce
  const workflow = await knownWorkflow()
  let written: unknown
  mail.meanwhile = async ({ to }) => {
    if (to[0] !== 'b@example.org') return
    written = await scene.rows(sql`
      select count(distinct xmin::text) as transactions, count(*) as rows from (
        select xmin from events where transaction_id = 'one' union all
        select j.xmin from jobs j join events e on e.id = j.event_id where e.transaction_id = 'one' union all
        select n.xmin from notifications n join events e on e.id = n.event_id where e.transaction_id = 'one' union all
        select m.xmin from messages m join events e on e.id = m.event_id where e.transaction_id = 'one') as all_rows`)
  }
  await scene.trigger(workflow, { subscriberId: fresh('second'), email: 'b@example.org' }, { transactionId: 'one' })
  await settle(atOnce)
  assert.deepEqual(written, [{ transactions: 1, rows: 6 }])
  assert.equal(mail.asked.filter(({ to }) => to[0] === 'b@example.org').length, 1)
})

/** From now on what is written at once has this fate; how often that was. */
function fateOfThoseAtOnce(fate: Fate): () => number {
  let count = 0
  fault = (statement) => {
    if (!writesAtOnce(statement)) return undefined
    count += 1
    return fate
  }
  return () => count
}

test('bulk calls are answered first: they are decided in their own turn', async () => {
  const { scene, mail } = atOnce
  const workflow = await scene.workflow([inApp('One'), email('Two')])
  const decided = fateOfThoseAtOnce(undefined)
  for (const subscriberId of [fresh('first'), fresh('second')]) {
    await scene.results([{ name: workflow, to: { subscriberId, email: 'bulk@example.org' } }])
    await settle(atOnce)
  }
  assert.equal(mail.asked.length, 2)
  assert.equal(decided(), 0)
})

test('what must ask first has its own turn; the others do not', async () => {
  const { scene } = atOnce
  const phone = { template: { type: 'sms', content: 'Hi' } }
  const decidedOf = async (steps: readonly object[]): Promise<number> => {
    const workflow = await scene.workflow(steps)
    const decided = fateOfThoseAtOnce(undefined)
    for (const subscriberId of [fresh('first'), fresh('second')]) {
      await scene.trigger(workflow, { subscriberId, email: 'a@example.org', phone: '+4915110000' })
      await settle(atOnce)
    }
    return decided()
  }
  assert.equal(await decidedOf([inApp('One'), email('Two')]), 1, 'the second; the first fills what is kept')
  assert.equal(await decidedOf([inApp('One'), phone]), 0)
  assert.equal(await decidedOf([digest(), email('Two')]), 0)
})

test('what is kept from being sent by the suppression list is so at once, and the others are sent', async () => {
  const results: unknown[] = []
  const decided = fateOfThoseAtOnce(undefined)
  for (const side of [inTurn, atOnce]) {
    const { scene } = side
    await scene.expect(201, 'POST', '/v1/suppressions', { channel: 'email', address: 'Listed@example.org' })
    const workflow = await scene.workflow([inApp('One'), email('Two'), inApp('Three')])
    for (const address of ['first@example.org', 'listed@example.org', 'other@example.org']) {
      const transactionId = await scene.trigger(workflow, { subscriberId: fresh('person'), email: address })
      await settle(side)
      results.push(await seen(side, transactionId))
    }
    await scene.rows(sql`delete from suppressions`)
  }
  assert.equal(decided(), 2, 'all but the first, which fills what is kept')
  assert.deepEqual(results.slice(3), results.slice(0, 3))
  assert.match(JSON.stringify(results[1]), /suppression list/)
  assert.deepEqual(
    atOnce.mail.asked.map(({ to }) => to[0]),
    ['first@example.org', 'other@example.org'],
  )
})

test('a critical workflow reaches those who opted out at once, and no one whose address bounced', async () => {
  const results: unknown[] = []
  for (const side of [inTurn, atOnce]) {
    const { scene } = side
    for (const reason of ['opted_out', 'bounced'])
      await scene.expect(201, 'POST', '/v1/suppressions', {
        channel: 'email',
        address: `${reason}@example.org`,
        reason,
      })
    const workflow = await scene.workflow([inApp('One'), email('Two')], { critical: true })
    for (const name of ['first', 'opted_out', 'bounced']) {
      const transactionId = await scene.trigger(workflow, {
        subscriberId: fresh('person'),
        email: `${name}@example.org`,
      })
      await settle(side)
      results.push(await seen(side, transactionId))
    }
    await scene.rows(sql`delete from suppressions`)
  }
  assert.deepEqual(results.slice(3), results.slice(0, 3))
  assert.deepEqual(
    atOnce.mail.asked.map(({ to }) => to[0]),
    ['first@example.org', 'opted_out@example.org'],
  )
})

test('a suppression list that cannot be read: the event is accepted, and decided in its own turn', async () => {
  const { scene, mail } = atOnce
  await scene.expect(201, 'POST', '/v1/suppressions', { channel: 'email', address: 'listed@example.org' })
  const workflow = await knownWorkflow()
  let failed = 0
  fault = ({ text }) => {
    if (failed > 0 || !/from suppressions s/.test(text)) return undefined
    failed += 1
    return { fails: sqlError('57014') }
  }
  const transactionId = await scene.trigger(workflow, { subscriberId: fresh('person'), email: 'b@example.org' })
  await settle(atOnce)
  await scene.rows(sql`delete from suppressions`)
  assert.equal(failed, 1)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  assert.equal(mail.asked.filter(({ to }) => to[0] === 'b@example.org').length, 1)
})

test('whoever was changed by someone else meanwhile is written to as they are then', async () => {
  const { scene, mail, app } = atOnce
  const workflow = await knownWorkflow()
  const subscriberId = fresh('moving')
  await scene.trigger(workflow, { subscriberId, email: 'old@example.org' })
  await settle(atOnce)
  const db = app.database.another()
  let triggered: Promise<string> | undefined
  await db.transaction(async (tx) => {
    await tx.run(sql`
      update subscribers set email = 'new@example.org', updated_at = updated_at + interval '1 second'
      where subscriber_id = ${subscriberId}`)
    triggered = scene.trigger(workflow, { subscriberId, lastName: 'King' })
    const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%changed_subscribers%'`
    await eventually(async () => (await db.rows(waiting)).length > 0)
  })
  await triggered
  await settle(atOnce)
  assert.deepEqual(
    mail.asked.map(({ to }) => to[0]).filter((address) => address !== 'a@example.org'),
    ['old@example.org', 'new@example.org'],
  )
})

test('someone whose fields the event changes, and its actor, are as they will be', async () => {
  const words =
    '{{ subscriber.firstName }} {{ subscriber.lastName }} {{ subscriber.data.plan }} by {{ actor.firstName }}'
  const results: unknown[] = []
  const decided = fateOfThoseAtOnce(undefined)
  for (const side of [inTurn, atOnce]) {
    const { scene } = side
    const workflow = await scene.workflow([inApp(words), email(words)])
    const actor = { subscriberId: 'changing-actor', firstName: 'Grace' }
    const person = { subscriberId: 'changing', email: 'a@example.org', firstName: 'Ada', lastName: 'King' }
    const changes = [
      person,
      { ...person, data: { plan: 'gold' } },
      { subscriberId: 'changing', lastName: null },
      { subscriberId: 'changing', email: 'b@example.org', data: { plan: 'basic' } },
      { subscriberId: 'changing', email: null },
    ]
    for (const [place, to] of changes.entries()) {
      const named = { ...actor, firstName: place === 3 ? 'Joan' : 'Grace' }
      const transactionId = await scene.trigger(workflow, to, { actor: named })
      await settle(side)
      results.push(await seen(side, transactionId))
    }
  }
  assert.equal(decided(), 4, 'all but the first, which fills what is kept')
  assert.deepEqual(results.slice(5), results.slice(0, 5))
  assert.match(JSON.stringify(results[1]), /Ada King gold by Grace/)
  assert.match(JSON.stringify(results[2]), /Ada {2}gold by Grace/)
  assert.match(JSON.stringify(results[3]), /Ada {2}basic by Joan/)
})

test('members of objects have the order that the database keeps', async () => {
  const words =
    '{% for m in payload.object %}{{ m[0] }} {% endfor %}{{ subscriber.data | json }} {{ actor.data | json }}'
  const data = { zebra: 1, a: { dd: 1, c: 2 }, bb: 3 }
  const results: unknown[] = []
  const asked: unknown[] = []
  const decided = fateOfThoseAtOnce(undefined)
  for (const side of [inTurn, atOnce]) {
    const { scene, mail } = side
    const workflow = await scene.workflow([inApp(words), email(words)])
    for (const subscriberId of ['ordered-one', 'ordered-two']) {
      const transactionId = await scene.trigger(
        workflow,
        { subscriberId, email: 'a@example.org', data },
        {
          actor: { subscriberId: `actor of ${subscriberId}`, data },
          payload: { object: data },
          overrides: { email: { customData: data, headers: { 'X-Zebra': '1', 'X-A': '2' } } },
        },
      )
      await settle(side)
      results.push(await seen(side, transactionId))
    }
    asked.push(mail.asked.map(({ body }) => body.replaceAll(/[0-9a-f-]{36}|workflow-\d+/g, 'id')))
  }
  assert.equal(decided(), 1, 'the second; the first fills what is kept')
  assert.deepEqual(results.slice(2), results.slice(0, 2))
  assert.deepEqual(asked[1], asked[0])
  assert.match(JSON.stringify(results[3]), /a bb zebra /)
})

test('what PostgreSQL refuses in a message does not cost the event: it has its own turn', async () => {
  const { scene, mail } = atOnce
  const workflow = await knownWorkflow()
  const refused = fateOfThoseAtOnce({ fails: sqlError('22P05') })
  const transactionId = await scene.trigger(workflow, { subscriberId: fresh('second'), email: 'b@example.org' })
  await settle(atOnce)
  assert.equal(refused(), 1)
  assert.deepEqual(statuses(await scene.notification(transactionId)), ['completed', 'completed'])
  assert.deepEqual(
    mail.asked.map(({ to }) => to[0]),
    ['a@example.org', 'b@example.org'],
  )
})

test('a commit whose answer is lost: this node looks, knows that nothing was called, and sends it once', async () => {
  const { scene, mail } = atOnce
  await mail.clear()
  // Whoever would not repeat an unsure message must not lose one that was never called.
  await mail.account('provider', { configurations: { whenUnsure: 'skip' } })
  const workflow = await knownWorkflow()
  let lost = 0
  fault = (statement) => {
    if (lost > 0 || !writesAtOnce(statement)) return undefined
    lost += 1
    return 'answer lost'
  }
  const to = { subscriberId: fresh('second'), email: 'lost@example.org' }
  const event = { name: workflow, to, transactionId: 'lost' }
  const first = await scene.single(event)
  assert.equal(lost, 1, 'it was decided at once')
  assert.equal(first.status, 503, first.text)
  assert.equal((await scene.single(event)).status, 201)
  await settle(atOnce)
  assert.equal(mail.asked.filter(({ to: [address] }) => address === 'lost@example.org').length, 1)
  const notification = await scene.notification('lost')
  assert.deepEqual(statuses(notification), ['completed', 'completed'])
  const [, sent] = notification.jobs
  assert.ok(!JSON.stringify(sent.executionDetails).includes('perhaps'), 'nothing about it is unsure')
})

test('more jobs than callers should wait for are decided in several groups', async () => {
  const { scene } = atOnce
  const workflow = await knownWorkflow()
  let largest = 0
  let groups = 0
  fault = ({ text, values }) => {
    if (!writesAtOnce({ text, values })) return undefined
    groups += 1
    largest = Math.max(largest, ...values.map((value) => (Array.isArray(value) ? value.length : 0)))
    return undefined
  }
  const people = Array.from({ length: 20 }, (_, place) => ({ subscriberId: `shared-${place}`, email: 'x@example.org' }))
  await Promise.all(Array.from({ length: 12 }, () => scene.trigger(workflow, people)))
  await settle(atOnce)
  assert.ok(largest <= 200, `${largest} jobs were decided in one call`)
  assert.ok(groups >= 3, `all were decided at once, in ${groups} groups`)
  const [row] = await scene.rows(sql`
    select count(*) as count from messages m join subscribers s on s.id = m.subscriber_id
    where s.subscriber_id like 'shared-%' and m.channel = 'email' and m.status = 'sent'`)
  assert.equal(row.count, 240)
})

test('an event that cannot be decided at once does not keep those from it that come with it', async () => {
  const { scene } = atOnce
  const workflow = await knownWorkflow()
  const topicKey = fresh('topic')
  const members = [fresh('member'), fresh('member')]
  for (const subscriberId of members) await scene.trigger(workflow, { subscriberId, email: 'd@example.org' })
  await scene.topic(topicKey, members)
  const decided = fateOfThoseAtOnce(undefined)
  const plain = () => scene.trigger(workflow, { subscriberId: fresh('plain'), email: 'd@example.org' })
  const [first] = await Promise.all([
    plain(),
    scene.trigger(workflow, { type: 'Topic', topicKey }),
    plain(),
    scene.single({ name: workflow }),
  ])
  assert.ok(decided() > 0, 'the plain ones are a group of their own')
  await settle(atOnce)
  assert.deepEqual(statuses(await scene.notification(first)), ['completed', 'completed'])
})

test('one that is outrun holds no slot of its provider', async () => {
  const { scene, mail } = atOnce
  const workflow = await knownWorkflow()
  const refused = fateOfThoseAtOnce({ fails: sqlError('PH001') })
  // As many as there are slots at first: were they held, the last would wait forever.
  for (let event = 0; event < 60; event += 1) {
    await scene.trigger(workflow, { subscriberId: fresh('other'), email: 'c@example.org' })
  }
  assert.equal(refused(), 60)
  await settle(atOnce)
  assert.equal(mail.asked.filter(({ to }) => to[0] === 'c@example.org').length, 60)
})
