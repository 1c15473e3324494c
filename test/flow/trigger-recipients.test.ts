// Triggers: whom an event names, how people are written by it, and that each is notified once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTriggers } from '../../src/accept/accept-events.ts'
import { queueOf } from '../../src/queue/queue.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { createIntegration } from '../support/integration-scene.ts'
import { worldClock } from '../support/pipeline.ts'
import { environmentOf } from '../support/topic-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let hello: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  hello = await scene.workflow([inApp('Hello {{ subscriber.firstName }}')])
})
after(() => app.close())

test('an unknown subscriber is created, and notified', async () => {
  const person = fresh('person')
  await scene.run(hello, person)
  assert.equal((await scene.subscriber(person)).subscriberId, person)
  assert.equal((await scene.feed(person)).length, 1)
})

test('a subscriber given whole is written first: what is given is stored, null clears, what is absent stays', async () => {
  const subscriberId = fresh('person')
  const first = { subscriberId, firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.org', data: { a: 1, b: 2 } }
  const notification = await scene.run(hello, first)
  assert.deepEqual(await scene.texts(subscriberId), ['Hello Ada'])
  assert.equal(notification.to.email, 'ada@example.org')
  await scene.run(hello, { subscriberId, lastName: null, phone: '+4915112345678', data: { c: 3 } })
  const written = await scene.subscriber(subscriberId)
  assert.deepEqual(
    [written.firstName, written.lastName ?? null, written.email, written.phone, written.data],
    ['Ada', null, 'ada@example.org', '+4915112345678', { c: 3 }],
  )
  await scene.run(hello, subscriberId)
  assert.deepEqual((await scene.subscriber(subscriberId)).data, { c: 3 })
})

test('channels given with a subscriber are stored, and an entry no one knows is a warning', async () => {
  await createIntegration(app, { providerId: 'slack', channel: 'chat', identifier: 'our-slack', active: false })
  const [good, bad] = [fresh('person'), fresh('person')]
  const entry = (integrationIdentifier: string) => [
    { providerId: 'slack', integrationIdentifier, credentials: { webhookUrl: 'https://hooks.example.com/x' } },
  ]
  const transactionId = await scene.trigger(hello, [
    { subscriberId: good, channels: entry('our-slack') },
    { subscriberId: bad, channels: entry('no-such-name') },
  ])
  await scene.work()
  const [channel] = (await scene.subscriber(good)).channels
  assert.deepEqual([channel.providerId, channel.credentials.webhookUrl], ['slack', 'https://hooks.example.com/x'])
  assert.deepEqual(await scene.recipients(transactionId), [good, bad].sort())
  const { warnings } = await scene.progress(transactionId)
  assert.equal(warnings.length, 1)
  assert.match(warnings[0], new RegExp(bad))
})

test('text, an object, a topic and a list of all of them are taken', async () => {
  const [one, two, three, four] = [fresh('p'), fresh('p'), fresh('p'), fresh('p')]
  await scene.subscribers(three, four)
  const key = fresh('topic')
  await scene.topic(key, [three, four])
  const topic = { type: 'Topic', topicKey: key }
  for (const [to, expected] of [
    [one, [one]],
    [{ subscriberId: one }, [one]],
    [topic, [three, four]],
    [[one], [one]],
    [
      [one, { subscriberId: two }, topic],
      [one, two, three, four],
    ],
  ] as [unknown, string[]][]) {
    const transactionId = await scene.trigger(hello, to)
    await scene.work()
    assert.deepEqual(await scene.recipients(transactionId), [...expected].sort(), JSON.stringify(to))
  }
})

test('the ones that are wrong are left out and reported; the others run', async () => {
  const good = fresh('person')
  const to = ['', good, { email: 'a@example.org' }, 5, null, { subscriberId: 'x', email: 'nowhere' }, { type: 'Topic' }]
  const transactionId = await scene.trigger(hello, to)
  await scene.work()
  assert.deepEqual(await scene.recipients(transactionId), [good])
  const { warnings } = await scene.progress(transactionId)
  assert.equal(warnings.length, 6)
  assert.match(warnings[0], /^to\.0 was ignored/)
  assert.match(warnings[4], /^to\.5 was ignored.*email/)
  assert.equal((await scene.results([{ name: hello, to: ['', 5] }]))[0].status, 'invalid_recipients')
})

test('someone named alone who is wrong is an error that says so; a list of such people has no valid recipient', async () => {
  const bad: [unknown, RegExp][] = [
    ['', /^to: subscriberId /],
    [{}, /^to: subscriberId is required/],
    [{ type: 'Topic' }, /^to: topicKey is required/],
    [{ type: 'Topic', topicKey: 'no key' }, /^to: topicKey /],
    [{ subscriberId: 'x', email: 'nowhere' }, /^to: email must be a valid email/],
  ]
  for (const [to, words] of bad) {
    const [alone, listed] = await scene.results([
      { name: hello, to, transactionId: 'mine' },
      { name: hello, to: [to] },
    ])
    assert.deepEqual([alone.status, alone.transactionId], ['error', 'mine'], JSON.stringify(to))
    assert.match(alone.error.join(), words)
    assert.equal(listed.status, 'invalid_recipients')
    assert.deepEqual(
      listed.error,
      alone.error.map((one: string) => one.replace('to: ', 'to.0 was ignored: ')),
    )
    const single = await scene.single({ name: hello, to })
    assert.equal(single.status, 422)
    assert.match(single.body.message, words)
  }
})

test('an event without a valid recipient is notified why, ten reasons at most; an empty list needs none', async () => {
  const [many, none] = await scene.results([
    { name: hello, to: [5, ...Array.from({ length: 30 }, () => '')] },
    { name: hello, to: [] },
  ])
  assert.deepEqual([many.status, none.status], ['invalid_recipients', 'invalid_recipients'])
  assert.equal(many.error.length, 10)
  assert.equal(many.error[0], 'to.0 was ignored: must be a subscriberId, a subscriber or a topic')
  assert.equal('error' in none, false)
})

test('mistakes in the actor and the tenant are reported under their own names, all at once', async () => {
  const actor = { subscriberId: 'a', email: 'nowhere' }
  const [result] = await scene.results([{ name: hello, to: '', actor, tenant: { name: 'Tenant' } }])
  assert.equal(result.status, 'error')
  assert.deepEqual(
    result.error.map((one: string) => one.split(' ', 2).join(' ')),
    ['to: subscriberId', 'actor: email', 'tenant: identifier'],
  )
})

test('more mistakes than are worth telling are counted', async () => {
  const to = [fresh('person'), ...Array.from({ length: 30 }, () => '')]
  const { warnings } = await scene.progress(await scene.trigger(hello, to))
  assert.equal(warnings.length, 11)
  assert.equal(warnings[10], '20 more recipients were ignored')
})

test('a person named twice is listed once, by the last definition', async () => {
  const subscriberId = fresh('person')
  const to = [
    { subscriberId, firstName: 'First', lastName: 'One' },
    ` ${subscriberId} `,
    { subscriberId, firstName: 'Last' },
  ]
  await scene.run(hello, to)
  assert.deepEqual(await scene.texts(subscriberId), ['Hello Last'])
  assert.equal((await scene.subscriber(subscriberId)).lastName ?? null, null)
})

async function topicsOf(transactionId: string): Promise<Record<string, string[]>> {
  const all = await scene.notifications(transactionId)
  return Object.fromEntries(
    all.map((one) => [one.subscriber.subscriberId, one.topics.map((topic: Json) => topic.topicKey).sort()]),
  )
}

test('a subscriber of several topics is listed once, with all of them; one named directly is listed as such', async () => {
  const [both, one, direct] = [fresh('p'), fresh('p'), fresh('p')]
  await scene.subscribers(both, one, direct)
  const [first, second] = [fresh('topic'), fresh('topic')]
  await scene.topic(first, [both, direct])
  await scene.topic(second, [both, one, direct])
  const to = [{ type: 'Topic', topicKey: first }, direct, { type: 'Topic', topicKey: second }]
  const transactionId = await scene.trigger(hello, to)
  await scene.work()
  assert.deepEqual(await topicsOf(transactionId), { [both]: [first, second], [one]: [second], [direct]: [] })
  const { counts, state } = await scene.progress(transactionId)
  assert.deepEqual([counts.recipients, counts.notifications, counts.byOutcome.completed, state], [3, 3, 3, 'completed'])
  for (const person of [both, one, direct]) assert.equal((await scene.feed(person)).length, 1)
})

test('those excluded from any topic are left out of all, but not where they are named', async () => {
  const [kept, left, named] = [fresh('p'), fresh('p'), fresh('p')]
  await scene.subscribers(kept, left, named)
  const [first, second] = [fresh('topic'), fresh('topic')]
  await scene.topic(first, [kept, left, named])
  await scene.topic(second, [left])
  const to = [{ type: 'Topic', topicKey: first, exclude: [left, named] }, { type: 'Topic', topicKey: second }, named]
  const transactionId = await scene.trigger(hello, to)
  await scene.work()
  assert.deepEqual(await scene.recipients(transactionId), [kept, named].sort())
})

test('whoever did it is left out of topics, but notified where they are named', async () => {
  const [actor, other] = [fresh('actor'), fresh('p')]
  await scene.subscribers(actor, other)
  const key = fresh('topic')
  await scene.topic(key, [actor, other])
  const topic = { type: 'Topic', topicKey: key }
  const unnamed = await scene.trigger(hello, topic, { actor })
  const named = await scene.trigger(hello, [topic, actor], { actor: { subscriberId: actor, firstName: 'Grace' } })
  await scene.work()
  assert.deepEqual(await scene.recipients(unnamed), [other])
  assert.deepEqual(await scene.recipients(named), [actor, other].sort())
  assert.equal((await scene.subscriber(actor)).firstName, 'Grace')
})

test('an actor no one knows is made, and templates see who it is', async () => {
  const actor = fresh('actor')
  const person = fresh('person')
  const liked = await scene.workflow([inApp('{{ actor.firstName }} liked it')])
  await scene.run(liked, person, { actor: { subscriberId: actor, firstName: 'Grace' } })
  assert.deepEqual(await scene.texts(person), ['Grace liked it'])
  assert.equal((await scene.feed(actor)).length, 0)
})

test('a topic no one knows is a warning; an event that reaches no one is found by its transactionId', async () => {
  const person = fresh('person')
  const empty = fresh('empty')
  await scene.topic(empty, [])
  const mixed = await scene.trigger(hello, [person, { type: 'Topic', topicKey: 'no-such-name' }])
  const unknownTopic = await scene.trigger(hello, [{ type: 'Topic', topicKey: 'no-such-name' }])
  const emptied = await scene.trigger(hello, { type: 'Topic', topicKey: empty })
  await scene.work()
  assert.deepEqual((await scene.progress(mixed)).warnings, ['Topic no-such-name was not found'])
  assert.equal((await scene.feed(person)).length, 1)
  for (const transactionId of [unknownTopic, emptied]) {
    const { state, counts } = await scene.progress(transactionId)
    assert.deepEqual([state, counts.recipients], ['completed', 0])
  }
})

test('more than a hundred recipients are expanded by the worker, written and notified as well', async () => {
  const people = Array.from({ length: 150 }, () => ({ subscriberId: fresh('crowd'), firstName: 'Crowd' }))
  const transactionId = await scene.trigger(hello, [...people, people[0], people[1]?.subscriberId])
  const before = await scene.progress(transactionId)
  assert.deepEqual([before.state, before.counts.notifications], ['expanding', 0])
  await scene.work()
  const { state, counts } = await scene.progress(transactionId)
  assert.deepEqual([state, counts.recipients, counts.byOutcome.completed], ['completed', 150, 150])
  assert.deepEqual(await scene.texts(people[149]?.subscriberId ?? ''), ['Hello Crowd'])
  const hundred = await scene.trigger(hello, people.slice(0, 100))
  assert.equal((await scene.progress(hundred)).counts.notifications, 100)
})

test('a subscriber that was deleted is left out of topics and made again where it is named', async () => {
  const [gone, there] = [fresh('p'), fresh('p')]
  await scene.subscribers(gone, there)
  const key = fresh('topic')
  await scene.topic(key, [gone, there])
  await scene.expect(200, 'DELETE', `/v2/subscribers/${gone}`)
  const topic = await scene.trigger(hello, { type: 'Topic', topicKey: key })
  await scene.work()
  assert.deepEqual(await scene.recipients(topic), [there])
  await scene.run(hello, gone)
  assert.equal((await scene.feed(gone)).length, 1)
})

test('what one event of a call says of a person is written, though another only names them', async () => {
  const person = fresh('person')
  await scene.subscribers(person)
  const email = `${person}@new.example.org`
  await scene.results([
    { name: hello, to: person },
    { name: hello, to: { subscriberId: person, email } },
  ])
  assert.equal((await scene.subscriber(person)).email, email)
})

test('a person named only by an event that is refused is not created by the other events of the call', async () => {
  const [refused, known, added] = [fresh('person'), fresh('person'), fresh('person')]
  await scene.subscribers(known)
  for (const person of [known, added]) {
    const events = [
      { name: 'no such workflow', to: { subscriberId: refused, firstName: 'Ada' } },
      { name: hello, to: person },
    ]
    assert.deepEqual(
      (await scene.results(events)).map(({ status }) => status),
      ['error', 'processed'],
    )
    assert.equal((await app.call('GET', `/v2/subscribers/${refused}`)).status, 404)
  }
  await scene.work()
  for (const person of [known, added]) assert.equal((await scene.feed(person)).length, 1)
})

test('an event that this node has no capacity for is announced to those that have', async () => {
  let announced = 0
  const queue = queueOf(worldClock(app.world), () => {
    announced += 1
  })
  const triggers = createTriggers(app.database.db, app.world, queue)
  const environment = await environmentOf(app)
  const trigger = async (name: string, people: readonly string[]) => {
    const recipients = people.map((subscriberId) => ({ subscriberId, fields: {}, channels: [] }))
    const nothing = { payload: {}, overrides: {}, topics: [], isBroadcast: false, attachments: [], context: [] }
    const event = { request: { name, recipients, ...nothing }, warnings: [] }
    await triggers.single(environment, { event, idempotency: undefined })
    return announced
  }
  assert.equal(await trigger('no such workflow', [fresh('person')]), 0)
  assert.equal(await trigger(hello, [fresh('person')]), 1)
  assert.equal(await trigger(hello, [fresh('person'), fresh('person')]), 2)
  await scene.work()
})
