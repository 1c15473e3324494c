// Simulating and running agree: random workflows, people and events, simulated and then run in virtual time.
// POSTHORN_AGREEMENT_WORKFLOWS=200 compares 10,000 runs; POSTHORN_FUZZ_SEED repeats one that failed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { json, sql } from '../../src/db/sql.ts'
import { idsOfEvent } from '../../src/domain/derived-id.ts'
import { grouped } from '../../src/domain/grouped.ts'
import { withWholeEnvelope } from '../../src/store/messages/addresses.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import type { Random } from '../support/random.ts'
import { createRandom } from '../support/random.ts'
import type { RandomPerson } from '../support/random-workflows.ts'
import {
  makePeople,
  openAccounts,
  randomChoice,
  randomEvent,
  randomWorkflow,
  serviceResult,
} from '../support/random-workflows.ts'

const sharedCount = 45
/** Named by one event alone, which says more of them. */
const newSubscribersPerEvent = 5
const peopleCount = sharedCount + newSubscribersPerEvent
/** Some seconds of computing; 200 of them take a minute. */
const workflowsByDefault = 20
const workflowCount = Number(process.env['POSTHORN_AGREEMENT_WORKFLOWS'] ?? workflowsByDefault)
const seedByDefault = 6
const meanwhileMs = 30_000

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

interface Compared {
  readonly workflow: Json
  readonly event: Json
  readonly simulation: Json
  transactionId: string
}

/** Runs everything at the time it is due. */
async function runToTheEnd(): Promise<void> {
  for (;;) {
    await scene.work()
    const [row] = await scene.rows(sql`select min(due_at) as at from jobs where due_at is not null`)
    if (row?.at == null) return
    app.world.advance(Math.max(0, row.at.getTime() - app.world.now().getTime()))
  }
}

/** What only the database can hold, and no caller could say so quickly. */
async function writeWishes(
  random: Random,
  people: readonly RandomPerson[],
  workflowIds: readonly string[],
): Promise<void> {
  const now = app.world.now()
  for (const { subscriberId, preferences, isOnline } of people) {
    const chosen = workflowIds.filter(() => random.chance(0.06)).map((id) => [id, randomChoice(random, now)])
    const document = chosen.length === 0 ? preferences : { ...preferences, workflows: Object.fromEntries(chosen) }
    await scene.rows(sql`
      update subscribers set preferences = ${json(document)}::jsonb, is_online = ${isOnline},
        last_online_at = ${isOnline ? null : now}
      where subscriber_id = ${subscriberId}`)
  }
}

interface StepSeen {
  readonly status: string
  readonly endsAt: string | undefined
  readonly reasons: readonly unknown[]
  readonly messages: readonly unknown[]
}

/** What the run alone can know: what providers and services answered. */
const answered = new Set(['messageSent', 'callFinished'])
/** What reasons are reported with beside what a job keeps. */
const added = ['mergedIntoNotificationId', 'windowEvents', 'windowEndsAt', 'failedStep', 'failedStepId']
const ownData = (data: Json): Json => {
  const own = Object.entries(data).filter(([name]) => !added.includes(name))
  return JSON.parse(JSON.stringify(Object.fromEntries(own)).replaceAll('"actual":"not asked"', '"actual":"yes"'))
}

function simulatedStep({ type, status, beginsAt, endsAt, reasons, messages }: Json): StepSeen {
  return {
    status,
    endsAt: beginsAt === undefined ? undefined : endsAt,
    reasons: reasons.flatMap(({ code, at, data }: Json) => {
      if (answered.has(code) && type !== 'in_app') return []
      return [{ code, at, data: ownData(data) }]
    }),
    messages: sorted(messages.map(simulatedMessage)),
  }
}

const sorted = (messages: Json[]): Json[] =>
  messages.sort((a, b) => (JSON.stringify(a.target) < JSON.stringify(b.target) ? -1 : 1))

const simulatedMessage = ({ envelope, integration, errorText, ...said }: Json): Json => {
  const { channel, subject, title, content, email, phone, cta, actor, data } = said
  return {
    channel,
    said: known({ subject, title, content, email, phone, cta, actor, data }),
    integrationId: integration?._id ?? null,
    errorText: errorText ?? null,
    target: envelope === undefined ? null : partsOf(envelope),
  }
}

const known = (members: Json): Json => Object.fromEntries(Object.entries(members).filter(([, value]) => value != null))

/** Of what a provider is given, what says something; the ids in it are others. */
const partsOf = ({
  to,
  cc,
  bcc,
  from,
  senderName,
  subject,
  html,
  text,
  headers,
  target,
  title,
  content,
  webhookUrl,
}: Json) => known({ to, cc, bcc, from, senderName, subject, html, text, headers, target, title, content, webhookUrl })

function realStep({ type, status, details, updated_at: updatedAt, is_reached: isReached, messages }: Json): StepSeen {
  return {
    status,
    endsAt: isReached ? updatedAt.toISOString() : undefined,
    reasons: details.flatMap(({ code, at, raw, words, providerId }: Json) => {
      if (answered.has(code) && type !== 'in_app') return []
      return [{ code, at, data: { ...JSON.parse(raw ?? '{}'), ...known({ providerId, words }) } }]
    }),
    messages: sorted(messages.map(realMessage)),
  }
}

const realMessage = (row: Json): Json => ({
  channel: row.channel,
  said: known({
    subject: row.subject,
    title: row.title,
    content: row.content,
    email: row.email,
    phone: row.phone,
    cta: row.cta,
    actor: row.actor,
    data: row.data,
  }),
  integrationId: row.integration_id,
  errorText: row.error_text,
  target: row.envelope === null || row.status !== 'sent' ? null : partsOf(row.envelope),
})

/** The jobs of an event with their messages, by subscriber; found by their ids, which stand together. */
async function realRuns(transactionId: string): Promise<Map<string, Json[]>> {
  // An event that was given no transaction id has its own.
  const [event] = await scene.rows(sql`select id, environment_id from events where id = ${transactionId}::uuid`)
  const { from, to } = idsOfEvent(event.id)
  const jobs = await scene.rows(sql`
    select j.id, s.subscriber_id, j.step, j.status, j.details, j.updated_at
    from jobs j
    cross join lateral (select subscriber_id from subscribers
      where environment_id = ${event.environment_id} and id = j.subscriber_id limit 1) s
    where j.environment_id = ${event.environment_id} and j.id between ${from} and ${to} and j.event_id = ${event.id}`)
  const rows = await scene.rows(sql`
    select * from messages
    where environment_id = ${event.environment_id} and id between ${from} and ${to} and event_id = ${event.id}`)
  // Of chat and push it is sealed whom they are for.
  const { sealer } = app.world
  const messages = rows.map((row: Json) => withWholeEnvelope(sealer, { ...event, id: event.environment_id }, row))
  const said = grouped(messages, ({ job_id: jobId }) => jobId)
  const reported = jobs.map((job) => ({ ...job, messages: said.get(job.id) ?? [] }))
  return grouped(reported, ({ subscriber_id: subscriberId }) => subscriberId)
}

function differences({ workflow, simulation }: Compared, real: ReadonlyMap<string, Json[]>): string[] {
  return simulation.recipients.flatMap(({ subscriberId, steps }: Json) => {
    const jobs = new Map((real.get(subscriberId) ?? []).map((job) => [job.step, job]))
    return steps.flatMap((step: Json, place: number) => {
      const job = jobs.get(place)
      if (job === undefined)
        return step.status === 'inactive' ? [] : [`${subscriberId} step ${place}: no job, ${step.status}`]
      const simulated = simulatedStep(step)
      const seen = realStep({ ...job, type: step.type, is_reached: step.beginsAt !== undefined })
      if (isDeepStrictEqual(simulated, seen)) return []
      return [`${workflow.name} ${subscriberId} step ${place} (${step.type})\n${shownDifference(simulated, seen)}`]
    })
  })
}

function shownDifference(simulated: StepSeen, real: StepSeen): string {
  const names = ['status', 'endsAt', 'reasons', 'messages'] as const
  return names
    .filter((name) => !isDeepStrictEqual(simulated[name], real[name]))
    .map(
      (name) =>
        `  ${name}\n    simulated ${JSON.stringify(simulated[name])}\n    real      ${JSON.stringify(real[name])}`,
    )
    .join('\n')
}

async function compare(all: readonly Compared[]): Promise<{ found: string[]; runs: number }> {
  const found: string[] = []
  let runs = 0
  for (const one of all) {
    const real = await realRuns(one.transactionId)
    assert.equal(real.size, one.simulation.recipientCount)
    runs += real.size
    found.push(...differences(one, real))
  }
  return { found, runs }
}

test(`what ${workflowCount} random workflows do to ${peopleCount} people each is what was simulated`, async () => {
  // The same every time: what random events do to each other in one instant must not fail someone else's change.
  const seed = Number(process.env['POSTHORN_FUZZ_SEED'] ?? seedByDefault)
  const random = createRandom(seed)
  const identifiers = await openAccounts(scene)
  await scene.expect(201, 'POST', '/v1/tenants', { identifier: 'acme', name: 'Acme', data: {} })
  await scene.expect(201, 'POST', '/v2/contexts', { type: 'app', id: 'two', data: { kind: 'kept' } })
  const people = await makePeople(scene, random, sharedCount)
  const made = Array.from({ length: workflowCount }, () => randomWorkflow(random))
  const saved: Json[] = []
  for (const { body } of made) saved.push(await scene.expect(201, 'POST', '/v1/workflows', body))
  for (const workflow of saved.filter(() => random.chance(0.2))) {
    const override = { active: random.chance(0.7), preferenceSettings: { email: random.chance(0.5) } }
    await scene.expect(201, 'POST', '/v1/workflow-overrides', {
      workflowId: workflow._id,
      tenantId: 'acme',
      ...override,
    })
  }
  await writeWishes(
    random,
    people,
    saved.map(({ _id }) => _id),
  )
  const to = people.map(({ subscriberId }) => subscriberId)
  const newSubscribers = Array.from({ length: workflowCount * newSubscribersPerEvent }, () => fresh('stranger'))
  // Every other one is known before, and changed by the event.
  await scene.subscribers(...newSubscribers.filter((_, index) => index % 2 === 0))
  const events = saved.map((_, index) => {
    const own = newSubscribers.slice(index * newSubscribersPerEvent, (index + 1) * newSubscribersPerEvent)
    return randomEvent(random, app.world.now(), { to, own, identifiers })
  })
  // What an earlier event left: windows that gather, throttles that count.
  for (const [index, { body, isRepeatable }] of made.entries()) {
    if (!isRepeatable) continue
    const { to: _, ...event } = events[index]
    const half = people.filter(() => random.chance(0.5)).map(({ subscriberId }) => subscriberId)
    if (half.length > 0) await scene.trigger(body.workflowId, half, event)
  }
  await scene.work()
  // Before the first window of an earlier event ends: what follows from that is not known yet.
  const startAt = new Date(app.world.now().getTime() + meanwhileMs)
  const compared: Compared[] = []
  for (const [index, workflow] of saved.entries()) {
    const event = events[index]
    const simulation = await scene.expect(200, 'POST', '/v1/events/simulate', {
      name: workflow.triggers[0].identifier,
      ...event,
      at: startAt.toISOString(),
      assume: { customResult: serviceResult },
    })
    compared.push({ workflow, event, simulation, transactionId: '' })
  }
  await scene.advance(meanwhileMs)
  assert.deepEqual(app.world.now(), startAt)
  for (const one of compared) {
    one.transactionId = await scene.trigger(one.workflow.triggers[0].identifier, one.event.to, { ...one.event })
    await scene.work()
  }
  await runToTheEnd()
  const { found, runs } = await compare(compared)
  assert.equal(runs, workflowCount * peopleCount)
  assert.equal(found.length, 0, `seed ${seed}: ${found.length} steps differ\n${found.slice(0, 5).join('\n')}`)
})
