// Events with tenants, contexts and large payloads are decided with their acceptance too: the same comes of them, and nothing else.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import type { Fate } from '../support/faulty-db.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'
import { eventually } from '../support/service.ts'
import type { Side } from '../support/two-ways.ts'
import { createTwoWays, seen, settle, writesAtOnce } from '../support/two-ways.ts'
import { email, inApp } from '../support/workflow-scene.ts'

let fate: ((statement: Statement) => Fate) | undefined
let atOnce: Side
let inTurn: Side
let second: TestApp
before(async () => {
  ;({ atOnce, inTurn } = await createTwoWays((statement) => fate?.(statement)))
  second = await createTestApp({ nodeOf: atOnce.app, works: true })
  for (const { scene } of [atOnce, inTurn])
    for (const [identifier, plan] of [
      ['acme', 'gold'],
      ['quiet', 'basic'],
      ['unmailed', 'basic'],
    ])
      await scene.expect(201, 'POST', '/v1/tenants', { identifier, name: `The ${identifier}`, data: { plan } })
})
after(async () => {
  await second.close()
  await atOnce.app.close()
  await inTurn.app.close()
})
beforeEach(async () => {
  fate = undefined
  for (const { mail } of [atOnce, inTurn]) {
    await mail.clear()
    await mail.account('provider')
  }
})

/** How many events were written with what was decided for them, from now on. */
function countAtOnce(): () => number {
  let count = 0
  fate = (statement) => {
    if (writesAtOnce(statement)) count += 1
    return undefined
  }
  return () => count
}

const words =
  '{{ tenant.name }} {{ tenant.data.plan }} {{ context.team.id }} {{ context.team.data.lead }} {{ context.app.id }} {{ payload.text | size }}'
const steps = [inApp(words), email(words)]
const text = (letters: number) => ({ payload: { text: 'x'.repeat(letters) } })
const team = { team: { id: 'blue', data: { lead: 'Ada' } } }

/** Each three times: what the first made is there then. `atOnce`: how many of the three are written with their messages. */
const cases: Readonly<Record<string, { event: object; atOnce?: number }>> = {
  'a tenant': { event: { tenant: 'acme' } },
  'a tenant as an object with nothing but its identifier': { event: { tenant: { identifier: 'acme' } } },
  'a tenant that turned the workflow off': { event: { tenant: 'quiet' }, atOnce: 0 },
  'a tenant without e-mail': { event: { tenant: 'unmailed' } },
  'a tenant that the event changes': {
    event: { tenant: { identifier: 'acme', data: { plan: 'gold' } } },
    atOnce: 0,
  },
  'a context': { event: { context: { team: 'red' } } },
  'a context with data': { event: { context: team } },
  'two contexts': { event: { context: { ...team, app: 'web' } } },
  'a tenant and a context': { event: { tenant: 'acme', context: team } },
  '8 kB': { event: text(8_000) },
  '20 kB': { event: text(20_000) },
  '60 kB with a tenant and a context': { event: { tenant: 'acme', context: team, ...text(60_000) } },
  '70 kB': { event: text(70_000), atOnce: 0 },
}

async function workflowOf({ scene }: Side): Promise<string> {
  const workflowId = await scene.workflow(steps)
  const overrides = [
    { workflowId, tenantId: 'quiet', active: false },
    { workflowId, tenantId: 'unmailed', preferenceSettings: { email: false } },
  ]
  for (const override of overrides) await scene.expect(201, 'POST', '/v1/workflow-overrides', override)
  return workflowId
}

for (const [name, { event, atOnce: expected = 3 }] of Object.entries(cases)) {
  test(`it is the same as in its own turn: ${name}`, async () => {
    const results: unknown[] = []
    let decided = (): number => 0
    for (const side of [inTurn, atOnce]) {
      const workflow = await workflowOf(side)
      // It fills what is kept of the configuration.
      await side.scene.trigger(workflow, { subscriberId: `first of ${name}`, email: 'first@example.org' })
      await settle(side)
      decided = countAtOnce()
      for (const subscriberId of ['one', 'two', 'three']) {
        const to = { subscriberId: `${subscriberId} of ${name}`, email: 'person@example.org' }
        const transactionId = await side.scene.trigger(workflow, to, event)
        await settle(side)
        results.push(await seen(side, transactionId))
      }
    }
    assert.deepEqual(results.slice(3), results.slice(0, 3))
    assert.equal(decided(), expected)
  })
}

test('a context that is not there yet is written with its event, in one transaction', async () => {
  const { scene } = atOnce
  const workflow = await workflowOf(atOnce)
  await scene.trigger(workflow, { subscriberId: fresh('first') })
  await settle(atOnce)
  const id = fresh('context')
  const decided = countAtOnce()
  const transactionId = await scene.trigger(workflow, { subscriberId: fresh('person') }, { context: { team: id } })
  assert.equal(decided(), 1)
  const [written] = await scene.rows(sql`
    select count(distinct xmin::text)::int as transactions, count(*)::int as rows from (
      select xmin from contexts where id = ${id} union all
      select xmin from events where transaction_id = ${transactionId}) as both_of_them`)
  assert.deepEqual(written, { transactions: 1, rows: 2 })
})

test('a context that someone else makes meanwhile is theirs; the event runs once, with their data', async () => {
  const { scene, app } = atOnce
  const workflow = await workflowOf(atOnce)
  await scene.trigger(workflow, { subscriberId: fresh('first') })
  await settle(atOnce)
  const id = fresh('context')
  const db = app.database.another()
  let triggered: Promise<string> | undefined
  await db.transaction(async (tx) => {
    await tx.run(sql`
      insert into contexts (environment_id, type, id, data, created_at, updated_at)
      select environment_id, 'team', ${id}, '{"lead":"Grace"}', now(), now() from events limit 1`)
    const context = { team: { id, data: { lead: 'Ada' } } }
    triggered = scene.trigger(workflow, { subscriberId: fresh('person') }, { context })
    const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%new_contexts%'`
    await eventually(async () => (await db.rows(waiting)).length > 0)
  })
  const transactionId = (await triggered) ?? ''
  await settle(atOnce)
  const message = (await scene.messages(transactionId)).find(({ channel }) => channel === 'in_app')
  assert.match(message?.content, new RegExp(`${id} Grace`))
})

test('a context of an event that does not run is not saved, whoever shares its commit', async () => {
  const { scene } = atOnce
  const workflow = await workflowOf(atOnce)
  // Known and unchanged: nothing but the context keeps them from being written in one statement.
  const subscriberId = fresh('known')
  await scene.trigger(workflow, { subscriberId })
  await settle(atOnce)
  const [lost, kept] = [fresh('lost'), fresh('kept')]
  await scene.trigger(workflow, { subscriberId }, { context: { team: kept } })
  const replies = await Promise.all([
    scene.single({ name: workflow, to: subscriberId, context: { team: kept } }),
    scene.single({ name: 'no-such-workflow', to: subscriberId, context: { team: lost } }),
    scene.single({ name: workflow, to: subscriberId, context: { team: kept } }),
    scene.single({ name: workflow, to: subscriberId, tenant: 'no-such-tenant', context: { team: lost } }),
  ])
  assert.deepEqual(
    replies.map(({ body }) => body.status === 'processed'),
    [true, false, true, false],
  )
  const found = await scene.rows(sql`select id from contexts where id = any(${[lost, kept]}::text[])`)
  assert.deepEqual(found, [{ id: kept }])
})

test('the override of a tenant is not lost to another pair of names that is spelt alike', async () => {
  const { scene } = atOnce
  const workflow = await workflowOf(atOnce)
  const subscriberId = fresh('known')
  const tenant = 'north/south'
  await scene.expect(201, 'POST', '/v1/tenants', { identifier: tenant })
  await scene.expect(201, 'POST', '/v1/tenants', { identifier: 'south' })
  await scene.expect(201, 'POST', '/v1/workflow-overrides', { workflowId: workflow, tenantId: tenant, active: false })
  await scene.trigger(workflow, { subscriberId })
  await settle(atOnce)
  const [turnedOff] = await Promise.all([
    scene.trigger(workflow, { subscriberId }, { tenant }),
    scene.single({ name: `${workflow}/north`, to: subscriberId, tenant: 'south' }),
  ])
  await settle(atOnce)
  assert.deepEqual(await scene.messages(turnedOff), [])
})

test('the members of data have the order that the database keeps, of a new context too', async () => {
  const results: string[] = []
  for (const side of [inTurn, atOnce]) {
    const { scene } = side
    const workflow = await scene.workflow([inApp('{% for m in context.team.data %}{{ m[0] }} {% endfor %}')])
    await scene.trigger(workflow, { subscriberId: fresh('first') })
    await settle(side)
    const context = { team: { id: 'ordered', data: { zebra: 1, a: 2, bb: 3 } } }
    for (const subscriberId of [fresh('one'), fresh('two')]) {
      const transactionId = await scene.trigger(workflow, { subscriberId }, { context })
      await settle(side)
      results.push((await scene.message(transactionId)).content)
    }
  }
  assert.deepEqual(new Set(results), new Set(['a bb zebra ']))
})

test('a context with much data is read when its event is decided, and not when it is accepted', async () => {
  const { scene } = atOnce
  const workflow = await scene.workflow([inApp('{{ context.team.data.text | size }}')])
  await scene.trigger(workflow, { subscriberId: fresh('first') })
  await settle(atOnce)
  const written = (letters: number) => ({ team: { id: `of-${letters}`, data: { text: 'x'.repeat(letters) } } })
  for (const [letters, expected] of [
    [100, 1],
    [10_000, 0],
  ] as const) {
    await scene.trigger(workflow, { subscriberId: fresh('first') }, { context: written(letters) })
    await settle(atOnce)
    const decided = countAtOnce()
    const transactionId = await scene.trigger(
      workflow,
      { subscriberId: fresh('second') },
      { context: written(letters) },
    )
    await settle(atOnce)
    assert.equal((await scene.message(transactionId)).content, String(letters))
    assert.equal(decided(), expected)
  }
})

test('a tenant that was changed, and an override that was made, on one node bind the next event of another', async () => {
  const other = new FlowScene(second)
  const workflow = await workflowOf(atOnce)
  const tenant = fresh('tenant')
  await atOnce.scene.expect(201, 'POST', '/v1/tenants', { identifier: tenant, name: 'Before' })
  /** What the person reads of it, if anything. */
  const triggered = async (): Promise<string | undefined> => {
    const transactionId = await other.trigger(workflow, { subscriberId: fresh('person') }, { tenant })
    await settle(atOnce)
    return (await other.messages(transactionId)).find(({ channel }) => channel === 'in_app')?.content
  }
  await triggered()
  assert.match((await triggered()) ?? '', /^Before/)
  await atOnce.scene.expect(200, 'PATCH', `/v1/tenants/${tenant}`, { name: 'After' })
  assert.match((await triggered()) ?? '', /^After/)
  await atOnce.scene.expect(201, 'POST', '/v1/workflow-overrides', {
    workflowId: workflow,
    tenantId: tenant,
    active: false,
  })
  assert.equal(await triggered(), undefined)
})

test('whoever names what, at the same time, on two nodes: every event runs once, and every context is there once', async (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  const workflow = await workflowOf(atOnce)
  const ids = new Map<string, object>()
  for (let round = 0; round < fuzzRounds(6); round += 1) {
    const contexts = Array.from({ length: 4 }, () => fresh('shared'))
    const people = Array.from({ length: 4 }, () => fresh('person'))
    const calls = Array.from({ length: 24 }, () => {
      const named = contexts.filter(() => random.chance(0.5)).slice(0, 3)
      const context = Object.fromEntries(
        named.map((id, place) => [`kind${random.chance(0.5) ? place : 9 - place}`, id]),
      )
      return {
        name: workflow,
        to: { subscriberId: random.oneOf(people), lastName: random.oneOf(['King', 'Hopper', null]) },
        transactionId: fresh('event'),
        ...(random.chance(0.8) && { context }),
        ...(random.chance(0.3) && { tenant: random.oneOf(['acme', 'unmailed']) }),
        ...(random.chance(0.1) && { tenant: { identifier: 'acme', name: 'The acme' } }),
        ...(random.chance(0.1) && text(20_000)),
      }
    })
    const replies = await Promise.all(
      calls.map((body) => (random.chance(0.5) ? atOnce.app : second).call('POST', '/v1/events/trigger', { body })),
    )
    for (const [place, reply] of replies.entries()) assert.equal(reply.status, 201, `${reply.text} of call ${place}`)
    for (const { transactionId, ...call } of calls) ids.set(transactionId, call)
  }
  await settle(atOnce)
  for (const [transactionId, call] of ids) {
    const [row] = await atOnce.scene.rows(sql`
      select count(*)::int as count, min(array_length(e.context_keys, 1)) as contexts,
        (select count(*)::int from contexts c where c.type || ':' || c.id = any(min(e.context_keys))) as found
      from events e join notifications n on n.event_id = e.id where e.transaction_id = ${transactionId}`)
    const named = Object.keys((call as { context?: object }).context ?? {}).length
    assert.deepEqual(row, { count: 1, contexts: named === 0 ? null : named, found: named }, JSON.stringify(call))
  }
})
