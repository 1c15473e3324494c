// Messages of one job never share an id.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageIdOf } from '../../domain/derived-id.ts'
import type { MessageDraft } from '../../domain/messages/message.ts'
import { withDistinctTargets } from './distinct-targets.ts'

const job = { eventId: '0197f3a0-0000-7000-8000-0000000000a1', id: '0197f3a0-0000-70a1-8000-0000000000b2' }
const drafts = (count: number): MessageDraft[] =>
  Array.from({ length: count }, (_, index) => ({ target: `token-${index}`, channel: 'push', content: '' }))
const idsOf = (all: readonly MessageDraft[]): string[] =>
  all.map(({ target }) => messageIdOf(job.eventId, job.id, target))

test('targets whose ids are the same are distinguished, the same way each time', () => {
  const many = drafts(20_000)
  assert.ok(new Set(idsOf(many)).size < many.length, 'none of these collide: the test proves nothing')
  const apart = withDistinctTargets(job, many)
  assert.equal(new Set(idsOf(apart)).size, many.length)
  assert.deepEqual(withDistinctTargets(job, many), apart)
})

test('targets that differ are left as they are', () => {
  const few = drafts(3)
  assert.deepEqual(withDistinctTargets(job, few), few)
})
