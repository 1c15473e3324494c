// A year of some subscribers' lives in virtual time: zones and their clock changes, schedules, digests, throttles.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Schedule } from '../../src/domain/preferences/schedule.ts'
import { nextOpening } from '../../src/domain/preferences/schedule.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import { createRandom, fuzzRounds } from '../support/random.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  await mail.account(fresh('mail'))
})
after(() => app.close())

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
const yearMs = 365 * dayMs
const events = fuzzRounds(160)
/** The numbers of all events that a mail speaks of. */
const numbers = '{% for event in step.events %}[{{ event.n }}]{% endfor %}'
const send = {
  template: { type: 'email', subject: '{{ workflow.name }}', contentType: 'customHtml', content: numbers },
}

const officeHours = { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] }
const nights = { isEnabled: true, hours: [{ start: '10:00 PM', end: '04:00 AM' }] }
const week = (hours: object, days: readonly string[]) => Object.fromEntries(days.map((day) => [day, hours]))
const workDays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday']
const schedules: Readonly<Record<string, Schedule>> = {
  office: { isEnabled: true, outside: 'bundle', weeklySchedule: week(officeHours, workDays) } as Schedule,
  nights: {
    isEnabled: true,
    outside: 'hold',
    weeklySchedule: week(nights, [...workDays, 'saturday', 'sunday']),
  } as Schedule,
}

interface Person {
  readonly subscriberId: string
  readonly timezone: string
  readonly schedule: Schedule | undefined
}

interface Plan {
  readonly name: string
  readonly identifier: string
  readonly isCritical: boolean
  /** Whether some of its events may rightly never be sent. */
  readonly mayDrop: boolean
}

async function plan(name: string, steps: readonly object[], more: { critical?: boolean; mayDrop?: boolean } = {}) {
  const { critical = false, mayDrop = false } = more
  const created = await scene.created([...steps, send], { name, workflowId: fresh('year'), critical })
  return { name, identifier: created.triggers[0].identifier, isCritical: critical, mayDrop }
}

const digest = (metadata: object) => ({ template: { type: 'digest' }, metadata })

async function makePlans(): Promise<Plan[]> {
  const daily = { type: 'timed', amount: 1, unit: 'days', timed: { atTime: '02:30' } }
  const throttle = { type: 'fixed', amount: 20, unit: 'days', threshold: 1 }
  return [
    await plan('plain', []),
    await plan('critical', [], { critical: true }),
    await plan('digest', [digest({ type: 'regular', amount: 3, unit: 'hours' })]),
    await plan('daily', [digest(daily)]),
    await plan('throttled', [{ template: { type: 'throttle' }, metadata: throttle }], { mayDrop: true }),
    await plan('delayed', [{ template: { type: 'delay' }, metadata: { type: 'timed', cron: '30 1 * * 1-5' } }]),
  ]
}

async function makePeople(): Promise<Person[]> {
  const zones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kolkata']
  const deferred = [schedules['office'], schedules['nights'], schedules['office'], undefined]
  return Promise.all(
    zones.map(async (timezone, index) => {
      const subscriberId = fresh('person')
      const email = `${subscriberId}@example.org`
      await scene.expect(201, 'POST', '/v2/subscribers', { subscriberId, email, timezone })
      const schedule = deferred[index]
      if (schedule !== undefined) {
        await scene.expect(200, 'PATCH', `/v2/subscribers/${subscriberId}/preferences`, { schedule })
      }
      return { subscriberId, timezone, schedule }
    }),
  )
}

/** Moves to the next time at which something is due, up to `untilMs`, and runs it; again and again. */
async function liveUntil(untilMs: number): Promise<void> {
  for (;;) {
    const [next] = await scene.rows(sql`select min(due_at) as at from jobs where due_at is not null`)
    const dueMs = next?.at?.getTime() ?? Number.POSITIVE_INFINITY
    const nowMs = app.world.now().getTime()
    if (dueMs > untilMs) {
      app.world.advance(Math.max(0, untilMs - nowMs))
      return
    }
    app.world.advance(Math.max(0, dueMs - nowMs))
    await scene.work()
  }
}

interface Said {
  readonly n: number
  readonly plan: Plan
  readonly person: Person
}

test('no one is notified outside their hours, no event is lost or sent twice, and the counts add up', async () => {
  const random = createRandom(20_260_115)
  const [plans, people] = [await makePlans(), await makePeople()]
  const startMs = app.world.now().getTime()
  const triggeredAtMs = Array.from({ length: events }, () => startMs + random.integer(yearMs)).sort((a, b) => a - b)
  const said: Said[] = []
  for (const [n, atMs] of triggeredAtMs.entries()) {
    await liveUntil(atMs)
    const one = { n, plan: random.oneOf(plans), person: random.oneOf(people) }
    await scene.trigger(one.plan.identifier, one.person.subscriberId, { payload: { n } })
    await scene.work()
    said.push(one)
  }
  await liveUntil(startMs + yearMs + 14 * dayMs)

  const byAddress = new Map(people.map((person) => [`${person.subscriberId}@example.org`, person]))
  const byName = new Map(plans.map((one) => [one.name, one]))
  const reported = new Map<number, number>()
  for (const { subject, to, body, atMs } of mail.asked) {
    const person = byAddress.get(to[0] ?? '') ?? assert.fail(`a mail to ${to}`)
    const { isCritical } = byName.get(subject) ?? assert.fail(`a mail of ${subject}`)
    const at = new Date(atMs)
    const openAt = person.schedule === undefined ? at : nextOpening(person.schedule, person.timezone, at)
    const mayHear = isCritical || openAt?.getTime() === atMs
    assert.ok(mayHear, `${subject} reached ${person.timezone} at ${at.toISOString()}`)
    const mentioned = [...body.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1]))
    for (const n of new Set(mentioned)) reported.set(n, (reported.get(n) ?? 0) + 1)
  }
  const throttled = await outcomes(said.filter((one) => one.plan.mayDrop))
  for (const { n, plan: of, person } of said) {
    const times = reported.get(n) ?? 0
    const what = `event ${n} of ${of.name} for ${person.timezone} was delivered ${times} times`
    assert.ok(of.mayDrop ? times <= 1 : times === 1, what)
  }
  const dropped = said.filter((one) => one.plan.mayDrop && !reported.has(one.n))
  assert.equal(throttled['skipped'] ?? 0, dropped.length, 'who was not notified was throttled')
  assert.ok(dropped.length > 0, 'the throttle had something to do')
  const all = await outcomes(said)
  const total = Object.values(all).reduce((sum, count) => sum + count, 0)
  assert.deepEqual([total, all['open'] ?? 0, all['delayed'] ?? 0, all['failed'] ?? 0], [events, 0, 0, 0])
})

/** How the notifications of these events ended, by the status of their last step. */
async function outcomes(of: readonly Said[]): Promise<Record<string, number>> {
  const rows: Json[] = await scene.rows(sql`
    select coalesce(last.status, 'open') as status, count(*)::int as count
    from notifications n
    join events e on e.environment_id = n.environment_id and e.id = n.event_id
    left join lateral (
      select case when j.status in ('queued', 'running') then 'open' else j.status end as status from jobs j
      where j.environment_id = n.environment_id and j.notification_id = n.id order by j.step desc limit 1) as last on true
    where (e.payload->>'n')::int = any(${of.map((one) => one.n)}::int[])
    group by 1`)
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}
