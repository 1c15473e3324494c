// Placing sends: a job that breaks costs no other its seat.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlots } from '../../deliver/slots.ts'
import type { SendDecision } from '../../domain/decision.ts'
import type { Environment } from '../../domain/environment.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { Facts } from '../decide/load-facts.ts'
import type { Pipeline } from '../pipeline.ts'
import { placeSends } from './place-sends.ts'
import type { Sender } from './sender.ts'

const id = '01890000-0000-7000-8000-000000000001'

test('where one job of a batch cannot be placed, no slot stays taken for the others', () => {
  const slots = createSlots({ perIntegrationMax: 1 })
  const pipeline = { slots, isAlive: () => true } as unknown as Pipeline
  const facts = { integrations: [{ _id: 'i', providerId: 'fcm', credentials: {} }] } as unknown as Facts
  const job = { id, eventId: id, notificationId: id, state: null }
  const placed = { job, step: { template: { type: 'push' } }, event: { payload: {}, attachments: 0 } }
  const draft = { target: 'device', integrationId: 'i', envelope: { target: 'device', content: 'Hi' } }
  const decision = (channel: string) => ({ messages: [{ ...draft, channel }], details: [] }) as unknown as SendDecision
  const sends = [
    { facts: placed as unknown as JobFacts, decision: decision('push') },
    // Its event lacks what choosing an integration asks for.
    { facts: placed as unknown as JobFacts, decision: decision('email') },
  ]
  const sender = { room: () => 1 } as unknown as Sender
  const place = (given: typeof sends) => placeSends(pipeline, sender, {} as Environment, facts, given, new Date())
  assert.throws(() => place(sends), TypeError)
  assert.equal(slots.has('i'), true)
  assert.equal(place(sends.slice(0, 1)).begun.length, 1)
  assert.equal(slots.has('i'), false)
})
