// Cancelling an event of a digest, open or closed: the digest goes on without it, for all the others.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript, statuses } from '../support/flow-scene.ts'
import { whyOf } from '../support/why-scene.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const windowMs = 5 * minuteMs
const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
const hourly = digest({ metadata: { type: 'regular', amount: 60, unit: 'minutes' } })

const cancel = (transactionId = ''): Promise<unknown> =>
  scene.expect(200, 'DELETE', `/v1/events/trigger/${encodeURIComponent(transactionId)}`)

/** Triggers so many events, numbered from 1, a second apart; their transactions. */
async function gather(workflow: string, person: string, count: number, from = 1): Promise<string[]> {
  const transactions: string[] = []
  for (let n = from; n < from + count; n += 1) {
    transactions.push((await scene.run(workflow, person, { payload: { n } })).transactionId)
  }
  return transactions
}

const statusesOf = async (transactionId = ''): Promise<string[]> => statuses(await scene.notification(transactionId))

const subjects = (mail: MailScript): string[] => mail.asked.map(({ subject }) => subject)

/** The job that is open for the person. */
async function openJob(person: string): Promise<Json> {
  const rows = await scene.rows(sql`
    select j.* from jobs j join subscribers s on s.id = j.subscriber_id
    where s.subscriber_id = ${person} and j.due_at is not null`)
  assert.equal(rows.length, 1, `${rows.length} jobs are open`)
  return rows[0]
}

test('a closed digest that waits continues without the event that opened it', async () => {
  const workflow = await scene.workflow([digest(), inApp(`now ${list}`), delay(), inApp(`late ${list}`)])
  const person = fresh('person')
  const [first, second, third] = await gather(workflow, person, 3)
  await scene.advance(windowMs)
  assert.deepEqual(await scene.texts(person), ['now 3: 1 2 3'])
  const before = await openJob(person)
  assert.equal(await cancel(first), true)
  assert.deepEqual(await statusesOf(first), ['completed', 'completed', 'canceled', 'canceled'])
  assert.deepEqual(await statusesOf(second), ['merged', 'merged', 'delayed', 'pending'])
  assert.deepEqual(await statusesOf(third), ['merged', 'merged', 'merged', 'merged'])
  assert.deepEqual((await openJob(person)).due_at, before.due_at, 'it waits no longer than before')
  assert.equal(await cancel(first), false)
  await scene.advance(3 * hourMs)
  assert.deepEqual((await scene.texts(person)).sort(), ['late 2: 2 3', 'now 3: 1 2 3'])
  assert.deepEqual(await statusesOf(second), ['merged', 'merged', 'completed', 'completed'])
})

test('why names the run that a digest was taken over from, never the run itself', async () => {
  const workflow = await scene.workflow([digest(), delay(), inApp(list)])
  const [first = '', second = '', third = ''] = await gather(workflow, fresh('person'), 3)
  await scene.advance(windowMs)
  assert.equal(await cancel(first), true)
  const opener = await scene.notification(first)
  const next = await scene.notification(second)
  const mergedInto = async (notification: Json): Promise<Json> => {
    const [step] = (await whyOf(scene, notification)).steps
    assert.equal(step.status, 'merged')
    const { mergedIntoNotificationId, mergedIntoTransactionId } = step.reasons.at(-1).data
    assert.match(step.sentence, new RegExp(`notification ${mergedIntoNotificationId}`))
    return [mergedIntoNotificationId, mergedIntoTransactionId]
  }
  assert.deepEqual(await mergedInto(next), [opener._id, undefined])
  assert.deepEqual(await mergedInto(await scene.notification(third)), [next._id, second])
})

test('a closed digest that waits continues without an event that had joined it', async () => {
  const workflow = await scene.workflow([digest(), delay(), inApp(list)])
  const person = fresh('person')
  const [first, second, third] = await gather(workflow, person, 3)
  await scene.advance(windowMs)
  assert.equal(await cancel(second), true)
  assert.deepEqual(await statusesOf(second), ['canceled', 'canceled', 'canceled'])
  assert.equal(await cancel(second), false)
  await scene.advance(3 * hourMs)
  assert.deepEqual(await scene.texts(person), ['2: 1 3'])
  assert.deepEqual(await statusesOf(first), ['completed', 'completed', 'completed'])
  assert.deepEqual(await statusesOf(third), ['merged', 'merged', 'merged'])
})

test('what was said with an event stays said, and what is still to be said leaves it out', async () => {
  const workflow = await scene.workflow([digest(), inApp(`now ${list}`), delay(), inApp(`late ${list}`)])
  const person = fresh('person')
  const [, second] = await gather(workflow, person, 2)
  await scene.advance(windowMs)
  assert.equal(await cancel(second), true)
  assert.deepEqual(await statusesOf(second), ['merged', 'merged', 'canceled', 'canceled'])
  assert.equal(await cancel(second), false)
  await scene.advance(3 * hourMs)
  assert.deepEqual((await scene.texts(person)).sort(), ['late 1: 1', 'now 2: 1 2'])
})

test('all events of a closed digest are cancelled, one after the other or at once: nothing is sent', async () => {
  const workflow = await scene.workflow([digest(), delay(), inApp(list)])
  for (const way of ['in order', 'backwards', 'at once']) {
    const person = fresh('person')
    const transactions = await gather(workflow, person, 6)
    await scene.advance(windowMs)
    const ordered = way === 'backwards' ? transactions.toReversed() : transactions
    const answers: unknown[] = []
    if (way === 'at once') answers.push(...(await Promise.all(ordered.map((one) => cancel(one)))))
    else for (const one of ordered) answers.push(await cancel(one))
    assert.deepEqual(answers, Array(6).fill(true), way)
    await scene.advance(3 * hourMs)
    assert.deepEqual(await scene.texts(person), [], way)
    const open = await scene.rows(sql`
      select 1 from jobs j join subscribers s on s.id = j.subscriber_id
      where s.subscriber_id = ${person} and (j.due_at is not null or j.status in ('queued', 'delayed', 'running'))`)
    assert.deepEqual(open, [], way)
  }
})

test('the next owner is found behind any number of events that are cancelled', async () => {
  const workflow = await scene.workflow([digest(), inApp(list)])
  const person = fresh('person')
  const transactions = await gather(workflow, person, 1)
  const { body } = await app.call('POST', '/v1/events/trigger/bulk', {
    body: { events: Array.from({ length: 100 }, () => ({ name: workflow, to: person, payload: { n: 'x' } })) },
  })
  const more = await app.call('POST', '/v1/events/trigger/bulk', {
    body: { events: [...Array(40).fill('x'), 'last'].map((n) => ({ name: workflow, to: person, payload: { n } })) },
  })
  const others: string[] = [...body, ...more.body].map((one: Json) => one.transactionId)
  await scene.work()
  // Their cancelling is on its way: the flag is there, the digest not yet left.
  await scene.rows(
    sql`update events set canceled_at = now() where transaction_id = any(${others.slice(0, -1)}::text[])`,
  )
  assert.equal(await cancel(transactions[0]), true)
  assert.deepEqual(await statusesOf(others.at(-1)), ['delayed', 'pending'])
  for (const one of others.slice(0, -1)) assert.equal(await cancel(one), true)
  await scene.advance(windowMs)
  assert.deepEqual(await scene.texts(person), ['1: last'])
})

test('the next owner of a second digest is found behind any number of events that were carried along', async () => {
  const workflow = await scene.workflow([digest(), hourly, inApp(list)])
  const person = fresh('person')
  const { body } = await app.call('POST', '/v1/events/trigger/bulk', {
    body: { events: Array.from({ length: 100 }, () => ({ name: workflow, to: person, payload: { n: 'x' } })) },
  })
  const more = await app.call('POST', '/v1/events/trigger/bulk', {
    body: { events: Array.from({ length: 20 }, () => ({ name: workflow, to: person, payload: { n: 'x' } })) },
  })
  assert.equal(more.body.length, 20)
  await scene.work()
  await scene.advance(6 * minuteMs)
  await gather(workflow, person, 1)
  await scene.advance(6 * minuteMs)
  assert.equal(await cancel(body[0].transactionId), true)
  await scene.advance(3 * hourMs)
  const [text = ''] = await scene.texts(person)
  assert.ok(text.startsWith('120: '), text)
})

test('events that were only carried along keep a second digest going', async () => {
  const workflow = await scene.workflow([digest(), hourly, inApp(list)])
  const person = fresh('person')
  const [first, second, third] = await gather(workflow, person, 3)
  await scene.advance(6 * minuteMs)
  // The first has opened the second digest and brought the others along.
  assert.equal(await cancel(first), true)
  assert.deepEqual(await statusesOf(second), ['merged', 'delayed', 'pending'])
  assert.equal(await cancel(third), true)
  assert.deepEqual(await statusesOf(third), ['canceled', 'canceled', 'canceled'])
  await scene.advance(3 * hourMs)
  assert.deepEqual(await scene.texts(person), ['1: 2'])
})

test('an event that was carried along leaves a second digest that is closed, too', async () => {
  const workflow = await scene.workflow([digest(), hourly, delay(), inApp(list)])
  const person = fresh('person')
  const [first, second] = await gather(workflow, person, 3)
  await scene.advance(6 * minuteMs)
  await scene.advance(hourMs)
  assert.deepEqual(await statusesOf(first), ['completed', 'completed', 'delayed', 'pending'])
  assert.equal(await cancel(second), true)
  await scene.advance(3 * hourMs)
  assert.deepEqual(await scene.texts(person), ['2: 1 3'])
})

test('what a cancelled run had brought along stays in the second digest, until it is cancelled itself', async () => {
  const workflow = await scene.workflow([digest(), hourly, inApp(list)])
  const person = fresh('person')
  await gather(workflow, person, 2)
  await scene.advance(6 * minuteMs)
  const [third, fourth] = await gather(workflow, person, 3, 3)
  await scene.advance(6 * minuteMs)
  // The third joined the second digest, and brought the fourth and the fifth along.
  assert.deepEqual(await statusesOf(third), ['completed', 'merged', 'merged'])
  assert.equal(await cancel(third), true)
  assert.equal(await cancel(fourth), true)
  assert.equal(await cancel(fourth), false)
  await scene.advance(3 * hourMs)
  assert.deepEqual(await scene.texts(person), ['3: 1 2 5'])
})

test('one notification of a digest is cancelled by itself: the digest continues for the others', async () => {
  const workflow = await scene.workflow([digest(), delay(), inApp(list)])
  const person = fresh('person')
  const transactions = await gather(workflow, person, 3)
  await scene.advance(windowMs)
  for (const transactionId of transactions.slice(0, 2)) {
    const { _id } = await scene.notification(transactionId)
    const done = await scene.expect(200, 'POST', `/v1/notifications/${_id}/cancel`)
    assert.ok(done.canceled.length >= 2, JSON.stringify(done))
  }
  await scene.advance(3 * hourMs)
  assert.deepEqual(await scene.texts(person), ['1: 3'])
})

test('a run that took a closed digest over sees what a custom step before had answered', async () => {
  app.world.onFetch = async () => ({ status: 200, headers: new Headers(), body: '{"score":7}' })
  const scorer = {
    uuid: 'scorer',
    template: { type: 'custom' },
    metadata: { type: 'http', url: 'https://example.com/x' },
  }
  const workflow = await scene.workflow([
    digest(),
    scorer,
    delay(),
    inApp(`{{ steps.scorer.result.score }} of ${list}`),
  ])
  const person = fresh('person')
  const [first] = await gather(workflow, person, 2)
  await scene.advance(windowMs)
  assert.equal(await cancel(first), true)
  await scene.advance(3 * hourMs)
  assert.deepEqual(await scene.texts(person), ['7 of 1: 2'])
})

test('a digest whose e-mail waits for another try is sent without the cancelled event', async () => {
  const mail = new MailScript(scene)
  const account = fresh('mail')
  await mail.account(account)
  const workflow = await scene.workflow([digest(), email(list)])
  const person = fresh('person')
  await scene.subscribers(person)
  const [first, second] = await gather(workflow, person, 3)
  mail.answers(account, 503)
  await scene.advance(windowMs)
  assert.deepEqual(subjects(mail), ['3: 1 2 3'])
  assert.equal(await cancel(first), true)
  mail.answers(account, 202)
  await scene.advance(hourMs, minuteMs)
  assert.deepEqual(subjects(mail), ['3: 1 2 3', '2: 2 3'])
  assert.deepEqual(await statusesOf(first), ['completed', 'canceled'])
  assert.deepEqual(await statusesOf(second), ['merged', 'completed'])
  await mail.remove(account)
})

test('a digest whose e-mail is being sent ends as it ends, and the steps after it continue for the others', async () => {
  const mail = new MailScript(scene)
  const account = fresh('mail')
  await mail.account(account)
  const workflow = await scene.workflow([digest(), email(list), inApp(`after ${list}`)])
  const person = fresh('person')
  await scene.subscribers(person)
  const [first, second] = await gather(workflow, person, 2)
  // It was not taken: it is sent as it was decided, since the others are in it.
  mail.answers(account, 503, 202)
  mail.meanwhile = async () => {
    if (mail.asked.length === 1) assert.equal(await cancel(first), true)
  }
  await scene.advance(windowMs)
  assert.equal(await cancel(first), false, 'what goes on is for the others')
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
  await scene.advance(hourMs, minuteMs)
  assert.deepEqual(subjects(mail), ['2: 1 2', '2: 1 2'])
  assert.deepEqual(await statusesOf(first), ['completed', 'completed', 'canceled'])
  assert.deepEqual(await statusesOf(second), ['merged', 'merged', 'completed'])
  assert.deepEqual(await scene.texts(person), ['after 1: 2'])
  await mail.remove(account)
})

test('a digest whose e-mail was perhaps sent is repeated as it was, for the others', async () => {
  const mail = new MailScript(scene)
  const account = fresh('mail')
  await mail.account(account)
  const workflow = await scene.workflow([digest(), email(list), inApp(`after ${list}`)])
  const person = fresh('person')
  await scene.subscribers(person)
  const [first, second] = await gather(workflow, person, 2)
  mail.answers(account, 'cut', 202)
  await scene.advance(windowMs)
  for (const answer of [true, false]) assert.equal(await cancel(first), answer)
  assert.deepEqual(await scene.rows(sql`select 1 from tasks`), [])
  await scene.advance(hourMs, minuteMs)
  assert.deepEqual(subjects(mail), ['2: 1 2', '2: 1 2'])
  assert.deepEqual(await statusesOf(first), ['completed', 'completed', 'canceled'])
  assert.deepEqual(await statusesOf(second), ['merged', 'merged', 'completed'])
  assert.deepEqual(await scene.texts(person), ['after 1: 2'])
  await mail.remove(account)
})

test('a node that decides a digest when one of its events is cancelled has lost it, and it is decided again', async () => {
  const workflow = await scene.workflow([digest(), delay(), inApp(list)])
  for (const [place, says] of [
    [0, '2: 2 3'],
    [1, '2: 1 3'],
  ] as const) {
    const person = fresh('person')
    const transactions = await gather(workflow, person, 3)
    await scene.advance(windowMs)
    // As if a worker had claimed it, and read the digest.
    const inHand = sql`gen_random_uuid()`
    const until = new Date(app.world.now().getTime() + minuteMs)
    await scene.rows(sql`update jobs set lease = ${inHand}, due_at = ${until} where id = ${(await openJob(person)).id}`)
    assert.equal(await cancel(transactions[place]), true)
    const { lease, due_at: dueAt } = await openJob(person)
    assert.deepEqual([lease, dueAt <= app.world.now()], [null, true])
    await scene.work()
    assert.deepEqual(await scene.texts(person), [says])
  }
})
