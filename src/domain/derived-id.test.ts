// Ids that follow from what they belong to.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  firstIdAt,
  idsOfEvent,
  idsOfMessages,
  jobIdOf,
  messageIdOf,
  notificationIdOf,
  timestampOfId,
} from './derived-id.ts'
import { createIdSource, isUuid } from './uuid-v7.ts'

const newId = createIdSource()
const at = new Date('2024-02-29T10:00:00.123Z')
const eventId = newId(at)
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('the same thing has the same id, and another has another', () => {
  const subscribers = Array.from({ length: 1000 }, () => randomUUID())
  const ids = subscribers.map((subscriber) => notificationIdOf(eventId, subscriber))
  assert.deepEqual(
    subscribers.map((subscriber) => notificationIdOf(eventId, subscriber)),
    ids,
  )
  assert.equal(new Set(ids).size, ids.length)
  const [notification = ''] = ids
  const jobs = Array.from({ length: 50 }, (_, step) => jobIdOf(eventId, notification, step))
  assert.equal(new Set([...jobs, ...ids]).size, jobs.length + ids.length)
  const [job = ''] = jobs
  assert.notEqual(messageIdOf(eventId, job, 'one'), messageIdOf(eventId, job, 'two'))
  assert.equal(messageIdOf(eventId, job, ''), messageIdOf(eventId, job, ''))
  assert.notEqual(notificationIdOf(newId(at), subscribers[0] ?? ''), ids[0])
})

test('every derived id is a UUIDv7 of its event’s millisecond', () => {
  const notification = notificationIdOf(eventId, randomUUID())
  const job = jobIdOf(eventId, notification, 3)
  for (const id of [notification, job, messageIdOf(eventId, job, 'token')]) {
    assert.match(id, uuidV7)
    assert.ok(isUuid(id))
    assert.deepEqual(timestampOfId(id), at)
  }
})

test('all that belongs to an event lies in its range, and other events’ mostly do not', () => {
  const { from, to } = idsOfEvent(eventId)
  assert.match(from, uuidV7)
  assert.match(to, uuidV7)
  for (let count = 0; count < 500; count += 1) {
    const notification = notificationIdOf(eventId, randomUUID())
    const job = jobIdOf(eventId, notification, count)
    for (const id of [notification, job, messageIdOf(eventId, job, `${count}`)]) assert.ok(id >= from && id <= to, id)
  }
  const others = Array.from({ length: 1000 }, () => notificationIdOf(newId(at), randomUUID()))
  assert.ok(others.filter((id) => id >= from && id <= to).length < 20)
})

test('the messages of a job lie in its range, whatever their targets, and those of other jobs do not', () => {
  const jobs = Array.from({ length: 200 }, (_, step) =>
    jobIdOf(eventId, notificationIdOf(eventId, 'a-subscriber'), step),
  )
  const [job = '', ...others] = jobs
  const { from, to } = idsOfMessages(eventId, job)
  for (const target of ['', 'token', 'x'.repeat(5000), '😀', ...others]) {
    const id = messageIdOf(eventId, job, target)
    assert.ok(id >= from && id <= to, target)
  }
  for (const other of others) {
    const id = messageIdOf(eventId, other, '')
    assert.ok(id < from || id > to, other)
  }
})

test('more events than are remembered make the same ids still', () => {
  const before = notificationIdOf(eventId, 'a-subscriber')
  for (let count = 0; count < 10_001; count += 1) idsOfEvent(newId(at))
  assert.equal(notificationIdOf(eventId, 'a-subscriber'), before)
})

test('the first id of a time is the smallest one of that time', () => {
  const first = firstIdAt(at)
  assert.deepEqual(timestampOfId(first), at)
  assert.ok(first < eventId && first < idsOfEvent(eventId).from)
  assert.ok(first > newId(new Date(at.getTime() - 1)))
  assert.deepEqual(timestampOfId(firstIdAt(new Date(0))), new Date(0))
})
