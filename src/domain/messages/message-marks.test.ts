// What can be done with a message: the older body's words, buttons, and how far it can be put off.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markOf, snoozeMistake, withAction } from './message-marks.ts'

test('the older body is read as one mark', () => {
  assert.equal(markOf({ read: true }), 'read')
  assert.equal(markOf({ read: true, seen: true }), 'read')
  assert.equal(markOf({ seen: true }), 'seen')
  assert.equal(markOf({ seen: true, read: false }), 'unread')
  assert.equal(markOf({ read: false }), 'unread')
  assert.equal(markOf({ seen: false }), 'unseen')
  assert.equal(markOf({ seen: false, read: false }), 'unseen')
})

test('a body that says nothing, or that something was read unseen, is no mark', () => {
  assert.equal(markOf({}), undefined)
  assert.equal(markOf({ read: true, seen: false }), undefined)
})

const cta = {
  type: 'redirect',
  data: { url: '/orders' },
  action: { status: 'pending', buttons: [{ type: 'primary', content: 'Accept' }] },
} as const

test('a button that was answered is the result of the action, and the rest stays', () => {
  assert.deepEqual(withAction(cta, { type: 'primary', status: 'done', payload: { answer: 42 } }), {
    ...cta,
    action: { ...cta.action, status: 'done', result: { type: 'primary', payload: { answer: 42 } } },
  })
})

test('a button that is not there cannot be answered', () => {
  assert.equal(withAction(cta, { type: 'secondary', status: 'done' }), undefined)
  assert.equal(withAction({}, { type: 'primary', status: 'done' }), undefined)
})

test('a message is put off to a time ahead, no further than a year', () => {
  const now = new Date(0)
  const dayMs = 24 * 60 * 60 * 1000
  assert.equal(snoozeMistake(new Date(1), now), undefined)
  assert.equal(snoozeMistake(new Date(365 * dayMs), now), undefined)
  assert.match(snoozeMistake(new Date(365 * dayMs + 1), now) ?? '', /365 days/)
  assert.match(snoozeMistake(now, now) ?? '', /future/)
  assert.match(snoozeMistake(new Date(Number.NaN), now) ?? '', /ISO 8601/)
})
