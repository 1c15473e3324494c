// Simulating events over the API: what every step would do, when, why, by whom and with which words; and that nothing is done.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { condition, delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const path = '/v1/events/simulate'
const simulate = (body: object): Promise<Json> => scene.expect(200, 'POST', path, body)
const person = (more: object = {}): Json => {
  const subscriberId = fresh('person')
  return { subscriberId, email: `${subscriberId}@example.org`, ...more }
}

/** The steps of the only recipient. */
async function stepsOf(steps: readonly object[], event: object = {}, more: object = {}): Promise<Json[]> {
  const name = await scene.workflow(steps, more)
  const answer = await simulate({ name, to: person(), ...event })
  assert.equal(answer.recipients.length, 1)
  return answer.recipients[0].steps
}

const outcomes = (steps: readonly Json[]): string[] => steps.map(({ outcome }) => outcome)
const codes = (step: Json): string[] => step.reasons.map(({ code }: Json) => code)
const later = (ms: number): string => new Date(app.world.now().getTime() + ms).toISOString()
const minuteMs = 60_000
const broken = '{% for i in (1..100000000) %}{{ i }}{% endfor %}'

async function rowCounts(): Promise<Record<string, number>> {
  const tables = await scene.rows(sql`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p')`)
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await scene.rows(sql`
      select (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I', ${name}::text), false, true, '')))[1]::text as c`)
    counts[name] = Number(row.c)
  }
  return counts
}

const everyKind = (): object[] => [
  {
    name: 'call',
    template: { type: 'custom' },
    metadata: { type: 'http', url: 'https://service.example.com/x?key=1' },
  },
  { template: { type: 'throttle' }, metadata: { type: 'fixed', amount: 1, unit: 'hours' } },
  digest({ metadata: { type: 'regular', amount: 5, unit: 'minutes', backoff: true } }),
  digest(),
  delay(),
  inApp('In {{ steps.call.status }}'),
  email('Mail'),
  { template: { type: 'sms', content: 'Text' } },
  { template: { type: 'push', title: 'Push', content: 'Push' } },
  { template: { type: 'chat', content: 'Chat' } },
]

test('nothing is written and no one is asked, whatever the event says', async () => {
  const name = await scene.workflow(everyKind())
  const topic = fresh('topic')
  await scene.subscribers(...[1, 2].map(() => fresh('member')))
  await scene.topic(topic, [])
  const known = fresh('known')
  await scene.subscribers(known)
  const before = await rowCounts()
  assert.ok((before['subscribers'] ?? 0) > 0)
  // Without a script every call to the network throws.
  assert.equal(app.world.onFetch, undefined)
  const channels = [{ providerId: 'push-webhook', credentials: { deviceTokens: ['one'] } }]
  const answer = await simulate({
    name,
    to: [
      person({ phone: '+4915112345', channels }),
      { subscriberId: known, email: null },
      { type: 'Topic', topicKey: topic },
    ],
    actor: person(),
    transactionId: fresh('transaction'),
    context: { app: { id: 'new', data: { kind: 'x' } } },
    payload: { n: 1 },
  })
  assert.equal(answer.status, 'processed')
  assert.equal(answer.recipients.length, 2)
  assert.deepEqual(await rowCounts(), before)
  assert.equal((await scene.subscriber(known)).email, `${known}@example.org`)
  const inline = await simulate({ workflow: { name: 'Not saved', steps: everyKind() }, to: person() })
  assert.equal(inline.status, 'processed')
  assert.deepEqual(await rowCounts(), before)
})

test('a step that runs reports what it would say, to whom and by which integration', async () => {
  const to = person({ firstName: 'Ada' })
  const [bell, mail] = await stepsOf([inApp(), email()], { to, payload: { orderId: 7 } })
  assert.deepEqual(outcomes([bell, mail]), ['run', 'run'])
  assert.equal(bell.messages[0].content, 'Hello Ada')
  assert.equal(bell.sentence, 'Would be added to the subscriber’s feed.')
  const [message] = mail.messages
  assert.deepEqual(
    [message.subject, message.email, message.integration.providerId],
    ['Order 7', to.email, 'platform-email'],
  )
  assert.deepEqual([message.envelope.to, message.envelope.text], [[to.email], 'Hello'])
  assert.match(message.envelope.html, /<p>Hello<\/p>/)
  assert.equal(mail.sentence, 'Would be sent through platform-email (integration platform-email).')
  assert.equal(mail.beginsAt, app.world.now().toISOString())
})

test('skips say why in the words of why', async () => {
  const [bell] = await stepsOf([inApp('x', { filters: [condition('gold')] })], { payload: { plan: 'tin' } })
  assert.deepEqual([bell.outcome, bell.status, codes(bell)], ['skip', 'skipped', ['conditionsFailed']])
  assert.equal(bell.sentence, 'Skipped: its conditions were not met: Payload plan was “tin”, expected EQUAL “gold”.')
  const [off] = await stepsOf([email()], {}, { preferenceSettings: { email: false } })
  assert.deepEqual([off.outcome, codes(off)], ['skip', ['workflowPreference']])
  const [lost] = await stepsOf([email()], { to: { subscriberId: fresh('person') } })
  assert.deepEqual([lost.outcome, lost.sentence], ['skip', 'Skipped: the subscriber has no e-mail address.'])
  const [unreached] = await stepsOf([{ template: { type: 'chat', content: 'x' } }])
  assert.deepEqual([unreached.outcome, codes(unreached).at(-1)], ['skip', 'noChannel'])
})

test('a suppressed address, and one a subscriber has switched off, are skipped', async () => {
  const to = person()
  await scene.expect(201, 'POST', '/v1/suppressions', { channel: 'email', address: to.email, reason: 'manual' })
  const [mail, after_] = await stepsOf([email(), inApp('After')], { to })
  assert.deepEqual([mail.outcome, codes(mail).at(-1), after_.outcome], ['skip', 'suppressed', 'run'])
  assert.match(mail.sentence, /^Skipped: on the suppression list: .+ \(manual, since /)
  const other = person()
  await scene.expect(201, 'POST', '/v2/subscribers', other)
  await scene.expect(200, 'PATCH', `/v2/subscribers/${other.subscriberId}/preferences`, { channels: { email: false } })
  const [refused] = await stepsOf([email()], { to: other.subscriberId })
  assert.deepEqual([refused.outcome, codes(refused)], ['skip', ['globalPreference']])
})

test('waits report until when, and the steps after them begin then', async () => {
  const steps = await stepsOf([delay(), inApp('{{ "now" | date: "%H:%M" }}')])
  assert.deepEqual(outcomes(steps), ['wait', 'run'])
  assert.deepEqual(steps[0].waits, [later(120 * minuteMs)])
  assert.equal(steps[1].beginsAt, later(120 * minuteMs))
  assert.equal(steps[1].messages[0].content, later(120 * minuteMs).slice(11, 16))
})

test('hours are those of the subscriber’s zone, at the time that is asked about', async () => {
  const to = person({ timezone: 'America/New_York' })
  await scene.expect(201, 'POST', '/v2/subscribers', to)
  const day = { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] }
  const weeklySchedule = Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((name) => [name, day]),
  )
  const prefer = (outside: string) =>
    scene.expect(200, 'PATCH', `/v2/subscribers/${to.subscriberId}/preferences`, {
      schedule: { isEnabled: true, outside, weeklySchedule },
    })
  const name = await scene.workflow([email()])
  const mailAt = async (at: string): Promise<Json> => {
    const answer = await simulate({ name, to: to.subscriberId, at })
    assert.equal(answer.at, new Date(at).toISOString())
    assert.equal(answer.recipients[0].timezone, 'America/New_York')
    return answer.recipients[0].steps[0]
  }
  await prefer('hold')
  const held = await mailAt('2026-03-04T07:00:00Z')
  assert.deepEqual(
    [held.outcome, held.waits, held.endsAt],
    ['run', ['2026-03-04T14:00:00.000Z'], '2026-03-04T14:00:00.000Z'],
  )
  assert.deepEqual((await mailAt('2026-03-04T15:00:00Z')).waits, [])
  await prefer('skip')
  const skipped = await mailAt('2026-03-04T07:00:00Z')
  assert.deepEqual([skipped.outcome, codes(skipped)], ['skip', ['outsideSchedule']])
})

test('a digest opens its window, or joins the one that is open and ends there', async () => {
  const to = person().subscriberId
  const name = await scene.workflow([digest(), inApp('{{ step.total_count }}')])
  const alone = (await simulate({ name, to })).recipients[0].steps
  assert.deepEqual(outcomes(alone), ['wait', 'run'])
  assert.deepEqual([alone[0].window.opened, alone[0].window.until], [true, later(5 * minuteMs)])
  assert.equal(alone[1].messages[0].content, '1')
  const transactionId = await scene.trigger(name, to)
  await scene.work()
  const until = later(5 * minuteMs)
  const joined = (await simulate({ name, to, at: later(minuteMs) })).recipients[0].steps
  assert.deepEqual(outcomes(joined), ['merge', 'merge'])
  const { opened, events, transactionIds, until: end } = joined[0].window
  assert.deepEqual([opened, events, transactionIds, end], [false, 2, [transactionId], until])
  assert.equal(joined[1].beginsAt, undefined)
  // By then the window will have closed.
  const late = (await simulate({ name, to, at: later(6 * minuteMs) })).recipients[0].steps
  assert.deepEqual([outcomes(late), late[0].window.opened], [['wait', 'run'], true])
  await scene.advance(10 * minuteMs)
})

test('a throttle reports how many its window let through, and skips the rest of the run', async () => {
  const to = person().subscriberId
  const throttle = { template: { type: 'throttle' }, metadata: { type: 'fixed', amount: 1, unit: 'hours' } }
  const name = await scene.workflow([throttle, inApp('x')])
  const first = (await simulate({ name, to })).recipients[0].steps
  assert.deepEqual([outcomes(first), first[0].throttle.count], [['run', 'run'], 1])
  await scene.run(name, to)
  const second = (await simulate({ name, to })).recipients[0].steps
  assert.deepEqual(outcomes(second), ['skip', 'skip'])
  const { count, threshold, until } = second[0].throttle
  assert.deepEqual([count, threshold, until], [1, 1, later(60 * minuteMs)])
  const nextDay = (await simulate({ name, to, at: later(120 * minuteMs) })).recipients[0].steps
  assert.deepEqual(outcomes(nextDay), ['run', 'run'])
})

test('failures let the next steps run, or cancel them where the step says so', async () => {
  const going = await stepsOf([inApp(broken), inApp('After')])
  assert.deepEqual([outcomes(going), codes(going[0])], [['fail', 'run'], ['contentFailed']])
  assert.match(going[0].sentence, /^Failed: its content could not be generated \(template.content\)/)
  const stopped = await stepsOf([inApp(broken, { shouldStopOnFail: true }), inApp('After')])
  assert.deepEqual([outcomes(stopped), codes(stopped[1])], [['fail', 'cancel'], ['previousFailed']])
  const delayed = await stepsOf([delay({ metadata: { type: 'scheduled', delayPath: 'sendAt' } }), inApp('After')])
  assert.deepEqual([outcomes(delayed), codes(delayed[0])], [['fail', 'cancel'], ['delayInvalid']])
  const overrides = { email: { integrationIdentifier: 'missing' } }
  const [unsent] = await stepsOf([email()], { overrides })
  assert.deepEqual([unsent.outcome, codes(unsent).at(-1)], ['fail', 'noIntegration'])
  assert.equal(unsent.sentence, 'The requested integration missing does not exist or is not active.')
})

test('the caller’s own services are listed, not called; their responses are assumed as given', async () => {
  const filters = [
    {
      type: 'GROUP',
      value: 'AND',
      isNegated: false,
      children: [
        {
          on: 'webhook',
          webhookUrl: 'https://rules.example.com/a?token=1',
          field: 'ok',
          operator: 'EQUAL',
          value: 'yes',
        },
      ],
    },
  ]
  const call = {
    name: 'call',
    template: { type: 'custom' },
    metadata: { type: 'http', url: 'https://service.example.com/x?key=1' },
  }
  const name = await scene.workflow([call, inApp('{{ steps.call.word }}', { filters })])
  const asked = await simulate({ name, to: person(), assume: { customResult: { word: 'Hi' } } })
  const [called, bell] = asked.recipients[0].steps
  assert.deepEqual(outcomes([called, bell]), ['run', 'run'])
  assert.deepEqual([called.asks.length, bell.asks.length], [1, 1])
  assert.ok(![...called.asks, ...bell.asks].join().includes('key=1') && !bell.asks.join().includes('token=1'))
  assert.equal(bell.messages[0].content, 'Hi')
  assert.ok(asked.assumptions.some((words: string) => words.includes('webhook conditions')))
  const refused = await simulate({ name, to: person(), assume: { webhookConditions: false } })
  assert.deepEqual(outcomes(refused.recipients[0].steps), ['run', 'skip'])
})

test('what an event says of a tenant, of contexts and of people is seen as if it were written', async () => {
  await scene.expect(201, 'POST', '/v1/tenants', { identifier: 'acme', name: 'Old' })
  await scene.expect(201, 'POST', '/v2/contexts', { type: 'app', id: 'known', data: { kind: 'kept' } })
  const steps = [inApp('{{ tenant.name }} {{ context.app.data.kind }} {{ subscriber.lastName }} {{ actor.firstName }}')]
  const event = {
    to: { subscriberId: fresh('person'), lastName: 'Lovelace' },
    actor: { subscriberId: fresh('actor'), firstName: 'Bo' },
    tenant: { identifier: 'acme', name: 'New' },
  }
  const [made] = await stepsOf(steps, { ...event, context: { app: { id: 'made', data: { kind: 'given' } } } })
  assert.equal(made.messages[0].content, 'New given Lovelace Bo')
  const [kept] = await stepsOf(steps, { ...event, context: { app: { id: 'known', data: { kind: 'given' } } } })
  assert.equal(kept.messages[0].content, 'New kept Lovelace Bo')
})
