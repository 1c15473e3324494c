// Translations over the API: what is kept, and what is refused when it is saved.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { refusals } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const put = (locale: string, texts: unknown, more: object = {}) =>
  app.call('PUT', `/v1/translations/${locale}`, { body: { texts }, ...more })
const locales = async (): Promise<string[]> =>
  (await app.call('GET', '/v1/translations')).body.map((one: Json) => one.locale)

test('the texts of a locale are replaced as a whole, read as they were given, and deleted', async () => {
  const made = await put('de', { order: { shipped: 'Unterwegs, {name}' }, 'cart.empty': 'Leer' })
  assert.equal(made.status, 200, made.text)
  assert.deepEqual((await app.call('GET', '/v1/translations/de')).body, made.body)
  const again = await put('de', { order: { shipped: 'Auf dem Weg' } })
  assert.deepEqual(again.body.texts, { order: { shipped: 'Auf dem Weg' } })
  assert.equal(again.body.createdAt, made.body.createdAt)
  assert.notEqual(again.body.updatedAt, made.body.updatedAt)
  assert.deepEqual(await locales(), ['de'])
  assert.equal((await app.call('DELETE', '/v1/translations/de')).status, 204)
  assert.equal((await app.call('DELETE', '/v1/translations/de')).status, 404)
  assert.equal((await app.call('GET', '/v1/translations/de')).status, 404)
})

test('a locale has one form, however it is written', async () => {
  assert.equal((await put('PT_br', { a: 'b' })).body.locale, 'pt-BR')
  assert.equal((await app.call('GET', '/v1/translations/pt-BR')).status, 200)
  assert.equal((await app.call('DELETE', '/v1/translations/pt_BR')).status, 204)
  for (const locale of ['x', 'deutsch-', '12', 'en-US-u-ca-buddhist-extremely']) {
    const reply = await put(locale, { a: 'b' })
    assert.ok('locale' in refusals(reply), locale)
  }
})

test('texts that cannot be printed are refused by key and line', async () => {
  const refusal = async (texts: unknown) => refusals(await put('fr', texts))
  assert.match((await refusal({ a: { b: 'x\n{{ y | nope }}' } }))['texts.a.b'] ?? '', /line 2, column 1/)
  assert.match((await refusal({ a: 5 }))['texts.a'] ?? '', /must be a string or an object of strings/)
  assert.match((await refusal({ a: ['x'] }))['texts.a'] ?? '', /must be a string or an object of strings/)
  assert.match((await refusal({ a: null }))['texts.a'] ?? '', /must be a string or an object of strings/)
  assert.match((await refusal({ a: { b: 'x' }, 'a.b': 'y' }))['texts.a.b'] ?? '', /given twice/)
  assert.match((await refusal({ a: 'x'.repeat(10_001) }))['texts.a'] ?? '', /longer than 10000/)
  const deep = Array.from({ length: 12 }).reduce<object>((inner) => ({ a: inner }), { a: 'x' })
  assert.match(Object.values(await refusal(deep))[0] ?? '', /nested more than 10 levels deep/)
  const many = Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`k${index}`, 'x']))
  assert.match((await refusal(many))['texts'] ?? '', /5001 texts; at most 5000/)
  assert.ok('texts' in (await refusal('x')))
  assert.deepEqual(await locales(), [])
})

test('another environment sees and touches nothing', async () => {
  const key = app.productionKey
  await put('it', { a: 'mia' })
  assert.equal((await app.call('GET', '/v1/translations/it', { key })).status, 404)
  assert.equal((await app.call('DELETE', '/v1/translations/it', { key })).status, 404)
  await put('it', { a: 'tua' }, { key })
  assert.deepEqual((await app.call('GET', '/v1/translations/it')).body.texts, { a: 'mia' })
})

test('the texts of all locales are bounded together, and what is over is refused and not kept', async () => {
  const key = app.productionKey
  const atLength = (length: number): Json => {
    const texts = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`k${index + 10}`, 'x'.repeat(9_997)]))
    return { ...texts, last: 'x'.repeat(length - 900_004) }
  }
  assert.equal((await app.call('DELETE', '/v1/translations/it', { key })).status, 204)
  for (const letter of 'abcdefghijk') {
    assert.equal((await put(`a${letter}`, atLength(909_000), { key })).status, 200, letter)
  }
  const errors = refusals(await put('zu', { a: 'x'.repeat(1_000) }, { key }))
  assert.match(errors['texts'] ?? '', /10000001 characters including keys; at most 10000000/)
  assert.equal((await app.call('GET', '/v1/translations/zu', { key })).status, 404)
  assert.equal((await put('zu', { a: 'x'.repeat(999) }, { key })).status, 200, 'up to the bound')
  assert.equal((await put('zu', { a: 'x'.repeat(999) })).status, 200, 'another environment has its own')
  assert.equal((await put('aa', { a: 'x' }, { key })).status, 200, 'what is replaced does not count')
})

test('a key counts as long as it is with all that it is nested in', async () => {
  const key = app.productionKey
  const names = Array.from({ length: 5_000 }, (_, index) => [String(index), ''])
  const nested = { ['p'.repeat(294)]: Object.fromEntries(names) }
  for (const locale of ['ab', 'ac', 'ad', 'ae', 'af', 'ag', 'ah', 'ai', 'aj', 'ak']) {
    assert.equal((await app.call('DELETE', `/v1/translations/${locale}`, { key })).status, 204)
  }
  const replies = []
  for (const letter of 'abcdefg') replies.push((await put(`b${letter}`, nested, { key })).status)
  assert.deepEqual(replies, [200, 200, 200, 200, 200, 200, 422])
})
