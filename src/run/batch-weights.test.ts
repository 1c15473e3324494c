// Jobs with long messages are decided a few at a time, all others together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job } from '../domain/delivery/job.ts'
import { createBatchWeights } from './batch-weights.ts'
import type { Send } from './decide/suppressed.ts'

const jobsOf = (versionId: string, count: number): Job[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${versionId}-${index}`, versionId }) as Job)
const mail = (letters: number) => ({ envelope: { html: 'x'.repeat(letters / 2), text: 'x'.repeat(letters / 2) } })
const sendOf = (versionId: string, ...messages: object[]): Send =>
  ({ facts: { job: { versionId } }, decision: { messages } }) as unknown as Send
const sizesOf = (pieces: readonly (readonly Job[])[]): number[] => pieces.map(({ length }) => length)

test('what is not known, or short, is decided together', () => {
  const weights = createBatchWeights()
  assert.deepEqual(weights.piecesOf([]), [])
  assert.deepEqual(sizesOf(weights.piecesOf(jobsOf('unknown', 100))), [100])
  weights.note([sendOf('short', mail(10_000))])
  assert.deepEqual(sizesOf(weights.piecesOf(jobsOf('short', 100))), [100])
})

test('long messages are decided in pieces of a megabyte, in their order, and none is left out', () => {
  const weights = createBatchWeights()
  weights.note([sendOf('long', mail(100_000)), sendOf('long', mail(110_000)), sendOf('short', mail(100))])
  const jobs = jobsOf('long', 25)
  const pieces = weights.piecesOf(jobs)
  assert.deepEqual(sizesOf(pieces), [9, 9, 7])
  assert.deepEqual(pieces.flat(), jobs)
  assert.deepEqual(sizesOf(weights.piecesOf([...jobsOf('long', 9), ...jobsOf('short', 90)])), [99])
})

test('all messages of a job count, and one of more than a megabyte goes alone', () => {
  const weights = createBatchWeights()
  weights.note([sendOf('huge', mail(2_000_000)), sendOf('twice', mail(300_000), mail(300_000))])
  assert.deepEqual(sizesOf(weights.piecesOf(jobsOf('huge', 3))), [1, 1, 1])
  assert.deepEqual(sizesOf(weights.piecesOf(jobsOf('twice', 3))), [1, 1, 1])
})

test('the last batch counts: what has become short is decided together again', () => {
  const weights = createBatchWeights()
  weights.note([sendOf('changing', mail(600_000))])
  assert.equal(weights.piecesOf(jobsOf('changing', 4)).length, 4)
  weights.note([sendOf('changing', mail(1_000))])
  assert.equal(weights.piecesOf(jobsOf('changing', 4)).length, 1)
})

test('messages that are not e-mails count too, and those without an envelope do not', () => {
  const weights = createBatchWeights()
  weights.note([sendOf('chat', { envelope: { content: 'x'.repeat(600_000) } }), sendOf('none', {})])
  assert.deepEqual(sizesOf(weights.piecesOf(jobsOf('chat', 2))), [1, 1])
  assert.deepEqual(sizesOf(weights.piecesOf(jobsOf('none', 2))), [2])
})
