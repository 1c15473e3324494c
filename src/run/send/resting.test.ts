// Who sends while an integration must rest.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlots } from '../../deliver/slots.ts'
import type { Integration } from '../../domain/integration.ts'
import { unpaused } from './look-again.ts'

const now = new Date('2024-02-29T10:00:00.000Z')
const inMs = (ms: number): Date => new Date(now.getTime() + ms)
const integrationOf = (_id: string, capture = false): Integration =>
  ({ _id, configurations: { capture } }) as unknown as Integration
const other = integrationOf('other')
const choose = (): Integration => other

test('another sends for one that must rest for long, and nobody for one that rests a moment', () => {
  const slots = createSlots()
  const first = integrationOf('first')
  assert.equal(unpaused(slots, choose, first, [], now), first)
  slots.pauseUntil('first', inMs(60_000))
  assert.equal(unpaused(slots, choose, first, [], now), first)
  slots.pauseUntil('first', inMs(600_000))
  assert.equal(unpaused(slots, choose, first, [], now), other)
})

test('nobody sends for one that captures: what it is to keep would go out', () => {
  const slots = createSlots()
  slots.pauseUntil('first', inMs(600_000))
  const first = integrationOf('first', true)
  assert.equal(unpaused(slots, choose, first, [], now), first)
})
