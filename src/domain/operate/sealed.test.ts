// Sealed values: what opens them, what does not, and that no two share a key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SealForm } from './sealed.ts'
import { createSealer, formOf, UnsealError } from './sealed.ts'

const [keyA, keyB] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const forms: readonly SealForm[] = [1, 2]

function sealerIn(form: SealForm, ...keys: [Buffer, ...Buffer[]]) {
  const sealer = createSealer(keys)
  sealer.sealIn(form)
  return sealer
}

const sealedIn = (form: SealForm, key = keyA): Buffer =>
  sealerIn(form, key).seal('environment', 'channel-credentials', 'row', 'hush')

for (const form of forms) {
  test(`form ${form} opens for its environment and purpose, whatever form the sealer seals in`, () => {
    const sealed = sealedIn(form)
    assert.equal(formOf(sealed), form)
    for (const other of forms) {
      const sealer = sealerIn(other, keyB, keyA)
      assert.equal(sealer.open('environment', 'channel-credentials', 'row', sealed), 'hush')
      assert.throws(() => sealer.open('another', 'channel-credentials', 'row', sealed), UnsealError)
      assert.throws(() => sealer.open('environment', 'address-key', 'row', sealed), UnsealError)
    }
    assert.throws(() => createSealer([keyB]).open('environment', 'channel-credentials', 'row', sealed), UnsealError)
  })

  test(`form ${form}: a value that was changed anywhere does not open`, () => {
    const sealed = sealedIn(form)
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      assert.throws(() => createSealer([keyA]).open('environment', 'channel-credentials', 'row', changed), UnsealError)
    }
    assert.throws(
      () => createSealer([keyA]).open('environment', 'channel-credentials', 'row', sealed.subarray(0, 30)),
      UnsealError,
    )
  })
}

test('the second form opens for its row alone; the first says nothing of rows', () => {
  const sealer = createSealer([keyA])
  assert.throws(() => sealer.open('environment', 'channel-credentials', 'another', sealedIn(2)), UnsealError)
  assert.equal(sealer.open('environment', 'channel-credentials', 'another', sealedIn(1)), 'hush')
})

test('a value of the second form is no value of the first under the same key', () => {
  const sealed = sealedIn(2)
  const asFirst = Buffer.concat([Buffer.of(1), sealed.subarray(1)])
  assert.throws(() => createSealer([keyA]).open('environment', 'channel-credentials', 'row', asFirst), UnsealError)
})

test('values that are alike look different, each under 128 random bits', () => {
  const salts = new Set(Array.from({ length: 1_000 }, () => sealedIn(2).subarray(5, 21).toString('hex')))
  assert.equal(salts.size, 1_000)
})

test('a value that was sealed before opens forever', () => {
  const kept = '0188608f5d8b19002c7a7eca501d901ff5e392b16adcbd365d690dd774909b3ceb7e9dc9b8'
  assert.equal(createSealer([keyA]).open('environment', 'channel-credentials', 'row', Buffer.from(kept, 'hex')), 'hush')
  const second = '0288608f5d4330ee157120710b1b5c10648996e01c79ecf45b435f3baeaa32b1a22bbba5d27f6f8ab2'
  assert.equal(
    createSealer([keyA]).open('environment', 'channel-credentials', 'row', Buffer.from(second, 'hex')),
    'hush',
  )
})
