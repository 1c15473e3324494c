// Preferences over the API: what is read, what is changed, and what is refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, email, inApp, refusals } from '../support/workflow-scene.ts'

let app: TestApp
let orders: Json
let alarms: Json
before(async () => {
  app = await createTestApp()
  orders = await create(app, { name: 'Orders', workflowId: 'orders', active: true, steps: [email(), inApp()] })
  alarms = await create(app, { name: 'Alarms', workflowId: 'alarms', active: true, critical: true, steps: [email()] })
  await create(app, { name: 'Draft', workflowId: 'draft', active: false, steps: [inApp()] })
})
after(() => app.close())

let people = 0
async function person(): Promise<string> {
  people += 1
  const subscriberId = `person ${people}`
  assert.equal((await app.call('POST', '/v2/subscribers', { body: { subscriberId } })).status, 201)
  return subscriberId
}

const pathOf = (subscriberId: string): string => `/v2/subscribers/${encodeURIComponent(subscriberId)}/preferences`
const patch = (subscriberId: string, body: unknown, more = ''): Promise<TestReply> =>
  app.call('PATCH', `${pathOf(subscriberId)}${more}`, { body })
async function read(subscriberId: string, query = ''): Promise<Json> {
  const reply = await app.call('GET', `${pathOf(subscriberId)}${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
async function changed(subscriberId: string, body: unknown): Promise<Json> {
  const reply = await patch(subscriberId, body)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const everything = { in_app: true, email: true, sms: true, chat: true, push: true }

test('someone who chose nothing hears of everything, and each active workflow shows its channels', async () => {
  const { global, workflows, hasMore } = await read(await person())
  assert.deepEqual(global, { enabled: true, channels: everything })
  assert.equal(hasMore, false)
  assert.deepEqual(workflows, [
    {
      enabled: true,
      channels: { in_app: true, email: true },
      overrides: [
        { channel: 'in_app', source: 'template' },
        { channel: 'email', source: 'template' },
      ],
      workflow: {
        id: orders._id,
        slug: 'orders',
        identifier: 'orders',
        name: 'Orders',
        critical: false,
        updatedAt: orders.updatedAt,
      },
    },
  ])
})

test('workflows are listed by whether they are critical, and by pages', async () => {
  const reader = await person()
  const named = async (query: string): Promise<string[]> =>
    (await read(reader, query)).workflows.map((one: Json) => one.workflow.identifier)
  assert.deepEqual(await named('?criticality=critical'), ['alarms'])
  assert.deepEqual(await named('?criticality=nonCritical'), ['orders'])
  assert.deepEqual(await named('?criticality=all'), ['alarms', 'orders'])
  assert.deepEqual(await named('?criticality=all&limit=1&page=1'), ['orders'])
  assert.equal((await read(reader, '?criticality=all&limit=1')).hasMore, true)
  assert.equal((await app.call('GET', `${pathOf(reader)}?criticality=some`)).status, 422)
  assert.equal((await app.call('GET', `${pathOf(reader)}?limit=1001`)).status, 422)
})

test('a choice for all workflows holds for each that has none of its own', async () => {
  const reader = await person()
  const { global, workflows } = await changed(reader, { channels: { email: false } })
  assert.deepEqual(global.channels, { ...everything, email: false })
  assert.deepEqual(workflows[0].channels, { in_app: true, email: false })
  assert.deepEqual(workflows[0].overrides[1], { channel: 'email', source: 'subscriber' })
  assert.equal('updatedAt' in workflows[0], false)
  assert.deepEqual((await read(reader)).workflows, workflows)
})

test('a choice for one workflow is made by its id or identifier, merged, and answered alone', async () => {
  const reader = await person()
  await changed(reader, { channels: { email: false } })
  const byIdentifier = await changed(reader, { workflowId: 'orders', channels: { email: true } })
  assert.equal(byIdentifier.workflows.length, 1)
  assert.deepEqual(byIdentifier.workflows[0].channels, { in_app: true, email: true })
  assert.equal(byIdentifier.workflows[0].updatedAt, app.world.now().toISOString())
  const byId = await changed(reader, { workflowId: orders._id, channels: { in_app: false } })
  assert.deepEqual(byId.workflows[0].channels, { in_app: false, email: true })
  const cleared = await changed(reader, { workflowId: 'orders', channels: null })
  assert.deepEqual(cleared.workflows[0].channels, { in_app: true, email: false })
  assert.equal('updatedAt' in cleared.workflows[0], false)
})

test('hours are kept as they are given, merged member by member, and cleared by null', async () => {
  const reader = await person()
  const weeklySchedule = { monday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] } }
  const set = await changed(reader, { schedule: { isEnabled: true, weeklySchedule } })
  assert.deepEqual(set.global.schedule, { isEnabled: true, weeklySchedule })
  const held = await changed(reader, { schedule: { outside: 'bundle' } })
  assert.deepEqual(held.global.schedule, { isEnabled: true, weeklySchedule, outside: 'bundle' })
  const off = await changed(reader, { schedule: { isEnabled: false } })
  assert.deepEqual(off.global.schedule, { isEnabled: false, weeklySchedule, outside: 'bundle' })
  assert.equal('schedule' in (await changed(reader, { schedule: null })).global, false)
})

test('times of day are understood as people write them, and stored in the forms there have always been', async () => {
  const reader = await person()
  const hours = [
    { start: '9am', end: '5:30 pm' },
    { start: '18:00', end: '8 PM' },
  ]
  const set = await changed(reader, {
    schedule: { isEnabled: true, weeklySchedule: { monday: { isEnabled: true, hours } } },
  })
  assert.deepEqual(set.global.schedule.weeklySchedule.monday.hours, [
    { start: '09:00 AM', end: '5:30 pm' },
    { start: '18:00', end: '08:00 PM' },
  ])
  const often = await changed(reader, { workflowId: 'orders', frequency: { type: 'daily', atTime: '6pm' } })
  assert.deepEqual(often.workflows[0].frequency, { type: 'daily', atTime: '18:00' })
})

test('a day that there is not is refused with those that there are, and the nearest', async () => {
  const reader = await person()
  const refused = refusals(await patch(reader, { schedule: { weeklySchedule: { mon: { isEnabled: true } } } }))
  assert.equal(
    refused['schedule.weeklySchedule.mon'],
    'schedule.weeklySchedule.mon is not a known field; allowed: monday, tuesday, wednesday, thursday, friday, saturday, sunday; did you mean monday?',
  )
  const time = refusals(await patch(reader, day([{ start: '25:00', end: '05:00 PM' }])))
  assert.equal(
    time['schedule.weeklySchedule.monday.hours.0.start'],
    'schedule.weeklySchedule.monday.hours.0.start must be a time of day such as 09:00, 09:00 AM or 9am',
  )
})

test('a week that was stored with a misspelt day is read and changed as before', async () => {
  const reader = await person()
  await changed(reader, week({ monday: open }))
  await app.database.db.run(sql`
    update subscribers set preferences = jsonb_set(preferences, '{schedule,weeklySchedule}', '{"mon": {"isEnabled": true}}')
    where subscriber_id = ${reader}`)
  assert.deepEqual((await read(reader)).global.schedule, { isEnabled: true, weeklySchedule: {} })
  assert.deepEqual((await changed(reader, { schedule: { outside: 'hold' } })).global.schedule, {
    ...{ isEnabled: true, weeklySchedule: {}, outside: 'hold' },
  })
  const fixed = await changed(reader, week({ monday: open }))
  assert.deepEqual(fixed.global.schedule.weeklySchedule, { monday: open })
})

test('how often, and until when not to be disturbed, are kept and cleared', async () => {
  const reader = await person()
  const frequency = { type: 'weekly', weekDay: 'friday', atTime: '16:30' }
  const often = await changed(reader, { workflowId: 'orders', frequency })
  assert.deepEqual(often.workflows[0].frequency, frequency)
  const until = new Date(app.world.now().getTime() + 3_600_000).toISOString()
  assert.equal((await changed(reader, { doNotDisturbUntil: until })).global.doNotDisturbUntil, until)
  assert.deepEqual((await read(reader)).workflows[0].frequency, frequency, 'one change leaves the other')
  const cleared = await changed(reader, { doNotDisturbUntil: null })
  assert.equal('doNotDisturbUntil' in cleared.global, false)
  const instant = await changed(reader, { workflowId: 'orders', frequency: null })
  assert.equal('frequency' in instant.workflows[0], false)
})

test('critical workflows cannot be changed, and show what their author says', async () => {
  const reader = await person()
  await changed(reader, { channels: { email: false } })
  const refused = refusals(await patch(reader, { workflowId: 'alarms', channels: { email: false } }))
  assert.match(refused['workflowId'] ?? '', /alarms is critical/)
  const { workflows } = await read(reader, '?criticality=critical')
  assert.deepEqual(workflows[0].channels, { email: true })
})

const day = (hours: unknown): Json => ({
  schedule: { isEnabled: true, weeklySchedule: { monday: { isEnabled: true, hours } } },
})
const week = (weeklySchedule: Json): Json => ({ schedule: { isEnabled: true, weeklySchedule } })
const open = { isEnabled: true }
const wrong: Record<string, [Json, string]> = {
  'a switch that is none': [{ channels: { email: 'off' } }, 'channels.email'],
  'a time that is none': [day([{ start: '25:00', end: '05:00 PM' }]), 'schedule.weeklySchedule.monday.hours.0.start'],
  'hours without an end': [day([{ start: '09:00 AM' }]), 'schedule.weeklySchedule.monday.hours.0.end'],
  'more hours than a day has': [
    day(Array.from({ length: 25 }, () => ({ start: '09:00', end: '10:00' }))),
    'schedule.weeklySchedule.monday.hours',
  ],
  'a day cut short': [week({ mon: open }), 'schedule.weeklySchedule.mon'],
  'a day in capitals': [week({ Monday: open }), 'schedule.weeklySchedule.Monday'],
  'a day that is none': [week({ caturday: open }), 'schedule.weeklySchedule.caturday'],
  'hours misspelt': [week({ monday: { isEnabled: true, hour: [] } }), 'schedule.weeklySchedule.monday.hour'],
  'hours of another shape': [
    day([{ start: '9am', end: '5pm', to: '6pm' }]),
    'schedule.weeklySchedule.monday.hours.0.to',
  ],
  'an unknown way outside': [{ schedule: { outside: 'shout' } }, 'schedule.outside'],
  'an unknown frequency': [{ workflowId: 'orders', frequency: { type: 'yearly' } }, 'frequency.type'],
  'a frequency at no time': [{ workflowId: 'orders', frequency: { type: 'daily', atTime: '9' } }, 'frequency.atTime'],
  'a frequency of all workflows': [{ frequency: { type: 'daily' } }, 'frequency'],
  'hours of one workflow': [{ workflowId: 'orders', schedule: { isEnabled: true } }, 'schedule'],
  'quiet of one workflow': [{ workflowId: 'orders', doNotDisturbUntil: null }, 'doNotDisturbUntil'],
  'quiet until no timestamp': [{ doNotDisturbUntil: 'tomorrow' }, 'doNotDisturbUntil'],
  'quiet until the past': [{ doNotDisturbUntil: '2020-01-01T00:00:00Z' }, 'doNotDisturbUntil'],
  'quiet for years': [{ doNotDisturbUntil: '2099-01-01T00:00:00Z' }, 'doNotDisturbUntil'],
}
for (const [name, [body, field]] of Object.entries(wrong)) {
  test(`refused, and nothing is changed: ${name}`, async () => {
    const reader = await person()
    const reported = refusals(await patch(reader, body))
    assert.deepEqual(Object.keys(reported), [field])
    assert.ok((reported[field] ?? '').startsWith(field), reported[field])
    assert.deepEqual((await read(reader)).global, { enabled: true, channels: everything })
  })
}

test('who or what is not there is not found', async () => {
  const reader = await person()
  assert.equal((await patch('nobody', { channels: {} })).status, 404)
  assert.equal((await app.call('GET', pathOf('nobody'))).status, 404)
  assert.equal((await patch(reader, { workflowId: 'nothing', channels: {} })).status, 404)
  const elsewhere = await app.call('PATCH', pathOf(reader), { body: { channels: {} }, key: app.productionKey })
  assert.equal(elsewhere.status, 404)
})

test('a subscriber chooses for a thousand workflows and no more', async () => {
  const reader = await person()
  const { db } = app.database
  const choices = Object.fromEntries(
    Array.from({ length: 1_000 }, () => [app.world.newId(app.world.now()), { enabled: false, updatedAt: '' }]),
  )
  const [row] = await db.rows<{ environment_id: string }>(sql`
    select environment_id from subscribers where subscriber_id = ${reader}`)
  await db.rows(sql`
    update subscribers set preferences = ${JSON.stringify({ workflows: choices })}::jsonb
    where environment_id = ${row?.environment_id} and subscriber_id = ${reader}`)
  const reported = refusals(await patch(reader, { workflowId: 'orders', enabled: false }))
  assert.match(reported['workflowId'] ?? '', /at most 1000 workflows/)
  assert.equal((await patch(reader, { channels: { sms: false } })).status, 200)
})

test('in bulk all changes are made, or none where one is wrong', async () => {
  const reader = await person()
  const more = await create(app, { name: 'More', workflowId: 'more', active: true, tags: ['a'], steps: [email()] })
  const reply = await patch(
    reader,
    {
      preferences: [
        { workflowId: 'orders', channels: { email: false }, frequency: { type: 'hourly' } },
        { workflowId: more._id, channels: { email: false } },
        { workflowId: 'orders', channels: { in_app: false } },
      ],
    },
    '/bulk',
  )
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(
    reply.body.map((one: Json) => [one.level, one.workflow.identifier, one.channels]),
    [
      ['template', 'orders', { in_app: false, email: false }],
      ['template', 'more', { email: false }],
      ['template', 'orders', { in_app: false, email: false }],
    ],
  )
  const before = await read(reader)
  const refused = refusals(
    await patch(
      reader,
      {
        preferences: [
          { workflowId: 'orders', channels: { email: true } },
          { workflowId: 'alarms', channels: { email: false } },
          { workflowId: 'nothing', channels: { email: false } },
        ],
      },
      '/bulk',
    ),
  )
  assert.deepEqual(Object.keys(refused), ['preferences.1.workflowId', 'preferences.2.workflowId'])
  assert.deepEqual(await read(reader), before)
  const many = Array.from({ length: 101 }, () => ({ workflowId: 'orders', channels: {} }))
  assert.equal((await patch(reader, { preferences: many }, '/bulk')).status, 422)
  assert.equal((await patch(reader, { preferences: [] }, '/bulk')).status, 422)
})

test('changes that come together are all there afterwards', async () => {
  const reader = await person()
  const names = Object.keys(everything)
  await Promise.all(names.map((name) => changed(reader, { channels: { [name]: false } })))
  assert.deepEqual((await read(reader)).global.channels, Object.fromEntries(names.map((name) => [name, false])))
})

test('what API v1 has: read and changed, for all and for one', async () => {
  const reader = await person()
  const path = `/v1/subscribers/${encodeURIComponent(reader)}/preferences`
  const globally = await app.call('PATCH', path, { body: { preferences: [{ type: 'email', enabled: false }] } })
  assert.equal(globally.status, 200, globally.text)
  assert.deepEqual(globally.body, { preference: { enabled: true, channels: { ...everything, email: false } } })
  assert.deepEqual((await app.call('GET', `${path}/global`)).body, [globally.body])
  const one = await app.call('PATCH', `${path}/orders`, { body: { channel: { type: 'email', enabled: true } } })
  assert.equal(one.status, 200, one.text)
  assert.deepEqual(one.body.preference.channels, { in_app: true, email: true })
  assert.equal(one.body.template._id, orders._id)
  assert.deepEqual((await app.call('GET', `${path}/${orders._id}`)).body, one.body)
  const list = (await app.call('GET', path)).body
  assert.deepEqual(
    list.find((item: Json) => item.template._id === orders._id),
    one.body,
  )
  assert.ok(list.some((item: Json) => item.template._id === alarms._id))
  for (const [method, more, status] of [
    ['GET', '/nothing', 404],
    ['PATCH', '/nothing', 404],
    ['PATCH', '/alarms', 422],
  ] as const) {
    const reply = await app.call(method, `${path}${more}`, method === 'PATCH' ? { body: { enabled: false } } : {})
    assert.equal(reply.status, status, `${method} ${more}: ${reply.text}`)
  }
  assert.equal((await app.call('PATCH', path, { body: { preferences: [{ type: 'fax', enabled: true }] } })).status, 422)
})
