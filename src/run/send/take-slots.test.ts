// Slots for the messages of one job.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeating } from '../../deliver/seats.ts'
import { createSlots } from '../../deliver/slots.ts'
import { notYetSent } from '../../domain/message.ts'
import type { Outgoing, OutgoingMessage } from './outgoing.ts'
import { lineOf, restOver, takeSlots, unpausedFirst } from './take-slots.ts'

const now = new Date('2024-02-29T10:00:00.000Z')
const inMs = (ms: number): Date => new Date(now.getTime() + ms)

/** A message a letter, each by the integration of that name. */
function outgoingOf(letters: string): Outgoing {
  const messages = [...letters].map(
    (_id, index) => ({ id: `${_id}${index}`, integration: { _id }, sending: notYetSent }) as unknown as OutgoingMessage,
  )
  return { messages, later: [] } as unknown as Outgoing
}

const names = (messages: readonly object[]): string[] => messages.map((one) => (one as OutgoingMessage).id)

test('as many messages begin as there are slots, each integration for itself; the rest is left for later', () => {
  const slots = createSlots({ perIntegrationMax: 2 })
  const started = takeSlots(slots, createSeating(slots), outgoingOf('aaabb'), now)
  assert.deepEqual(names(started.messages), ['a0', 'a1', 'b3', 'b4'])
  assert.deepEqual(names(started.later), ['a2'])
  assert.equal(slots.has('a'), false)
  assert.equal(takeSlots(slots, createSeating(slots), outgoingOf('ab'), now).messages.length, 0)
})

test('an integration that must rest is not asked, and the others do not wait for it', () => {
  const slots = createSlots()
  slots.pauseUntil('a', inMs(5_000))
  const outgoing = outgoingOf('ab')
  assert.deepEqual(names(takeSlots(slots, createSeating(slots), outgoing, now).messages), ['b1'])
  assert.equal(lineOf(unpausedFirst(slots, outgoing, now)), 'b')
  assert.deepEqual(restOver(slots, outgoing, now), now)
  assert.deepEqual(restOver(slots, outgoingOf('aa'), now), inMs(5_000))
})

test('an integration that captures asks nobody, so it need not rest', () => {
  const slots = createSlots()
  slots.pauseUntil('a', inMs(5_000))
  const outgoing = outgoingOf('a')
  const [message] = outgoing.messages as [OutgoingMessage]
  const integration = { ...message.integration, configurations: { capture: true } }
  const capturing = { ...outgoing, messages: [{ ...message, integration }] }
  assert.deepEqual(names(takeSlots(slots, createSeating(slots), outgoing, now).messages), [])
  assert.deepEqual(names(takeSlots(slots, createSeating(slots), capturing, now).messages), ['a0'])
})
