// Bodies in pieces: put together as they were sent, in no more memory than their bytes, and not for ever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BodyPieces, piecesUnpaidMax } from './body-pieces.ts'

const arrived = (sizes: readonly number[]) => {
  const pieces = new BodyPieces()
  const sent = sizes.map((size, at) => Buffer.alloc(size, at % 251))
  for (const piece of sent) pieces.add(piece)
  return { pieces, whole: Buffer.concat(sent) }
}

const alike = (count: number, size: number): number[] => Array.from({ length: count }, () => size)

test('whatever their sizes, they are put together in their order', () => {
  const cases = [[], [0], [1], [5, 0, 5], [70_000], [1, 70_000, 1], [4_095, 4_096, 4_097, 1, 1, 65_536, 3]]
  // Numbers that look random, and are the same in every run.
  const mixed = Array.from({ length: 3_000 }, (_, at) => (at * 7_919) % (at % 7 === 0 ? 9_000 : 300))
  for (const sizes of [...cases, mixed]) {
    const { pieces, whole } = arrived(sizes)
    assert.equal(pieces.bytes, whole.length)
    assert.ok(pieces.joined().equals(whole), `${sizes.slice(0, 8)}`)
  }
})

test('a body in one piece is not copied', () => {
  const piece = Buffer.from('{}')
  const pieces = new BodyPieces()
  pieces.add(piece)
  assert.equal(pieces.joined(), piece)
})

test('pieces of one byte take as much as their bytes', () => {
  const { pieces, whole } = arrived(alike(200_000, 1))
  assert.ok(pieces.held < 20, `${pieces.held} buffers`)
  assert.ok(pieces.joined().equals(whole))
})

test('words sent one by one are accepted, and so are many pieces of some size; endless small ones are not', () => {
  assert.equal(arrived(alike(50_000, 1)).pieces.areTooMany, false)
  assert.equal(arrived(alike(200_000, 64)).pieces.areTooMany, false)
  assert.equal(arrived(alike(52_000, 1)).pieces.areTooMany, true)
})

test('single bytes are paid for by what they cost, and pieces of a usual size by their bytes alone', () => {
  assert.equal(arrived(alike(10_000, 1)).pieces.chargedBytes, 10_000 * 65)
  assert.equal(arrived(alike(700, 1_448)).pieces.chargedBytes, 700 * 1_448)
  assert.equal(arrived([70_000]).pieces.chargedBytes, 70_000)
})

test('where no one pays, fewer are free', () => {
  const pieces = new BodyPieces(piecesUnpaidMax)
  const add = (count: number): void => {
    for (let at = 0; at < count; at += 1) pieces.add(Buffer.from('x'))
  }
  add(piecesUnpaidMax)
  assert.equal(pieces.areTooMany, false)
  add(200)
  assert.equal(pieces.areTooMany, true)
})
