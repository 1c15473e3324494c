// Passwords: what is stored, what opens, and which are refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, isOldHash, isPassword, passwordCost, passwordMistake } from './password.ts'

/** Quick, for tests. */
const cheap = { rounds: 1_024, blockSize: 8, repeats: 1 }
const words = 'correct horse battery staple'

test('a password opens its own hash and no other; two hashes of one password differ', async () => {
  const [one, two] = [await hashPassword(words, cheap), await hashPassword(words, cheap)]
  assert.notEqual(one, two)
  assert.equal(await isPassword(words, one), true)
  assert.equal(await isPassword(words, two), true)
  assert.equal(await isPassword(`${words} `, one), false)
  assert.ok(!one.includes(words))
})

test('the cost is stored with the hash, so that hashes of another cost still open', async () => {
  const hash = await hashPassword(words, cheap)
  assert.match(hash, /^scrypt\$1024\$8\$1\$[\w-]{22}\$[\w-]{43}$/)
  assert.equal(isOldHash(hash), true)
  assert.equal(isOldHash(hash.replace('1024$8$1', Object.values(passwordCost).join('$'))), false)
  await assert.rejects(isPassword(words, 'md5$x'), /unknown form/)
})

test('where there is no hash, the work is done all the same and the answer is no', async () => {
  const startedAt = process.cpuUsage()
  assert.equal(await isPassword(words, undefined), false)
  const { user } = process.cpuUsage(startedAt)
  assert.ok(user > 20_000, `${user} µs: nothing was hashed`)
})

test('the same characters, composed differently, are the same password', async () => {
  const hash = await hashPassword('Zürich am Morgen'.normalize('NFD'), cheap)
  assert.equal(await isPassword('Zürich am Morgen'.normalize('NFC'), hash), true)
})

test('short, long, monotonous passwords and the address itself are refused', () => {
  const email = 'ada@example.com'
  assert.equal(passwordMistake(words, email), undefined)
  for (const bad of ['short', 'x'.repeat(201), 'abababababab', 'My Ada@Example.com!']) {
    assert.ok(passwordMistake(bad, email) !== undefined, bad)
  }
})
