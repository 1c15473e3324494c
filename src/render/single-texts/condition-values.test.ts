// The values of conditions: what all of a job may cost together, and that they are parsed once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopeWith } from '../../../test/support/render-scene.ts'
import { RenderError } from '../../domain/workflows/rendering.ts'
import { engines } from '../engine.ts'
import { stepsMax } from '../limits.ts'
import { createRenderer } from '../renderer.ts'

/** Takes two steps a turn, and is never the same text. */
const loop = (turns: number, name: string): string => `{% for i in (1..${turns}) %}{{ i }}{% endfor %}${name}`
/** All that the values of a job may take together, and too little for a second one. */
const nearlyAll = (name: string): string => loop(stepsMax / 25, name)

const tooLong = (error: unknown): boolean =>
  error instanceof RenderError &&
  /all conditions of a step and of its integrations may take 3000 steps/.test(error.message)

test('all values of a job share one budget, in whichever evaluation and by whichever renderer', () => {
  const renderer = createRenderer()
  const scope = scopeWith({})
  assert.match(renderer.values(scope)(nearlyAll('a')), /a$/)
  for (const by of [renderer, renderer.small ?? renderer]) {
    assert.throws(() => by.values(scope)(nearlyAll('b')), tooLong)
    assert.equal(by.values(scope)('as it is'), 'as it is')
  }
  assert.match(renderer.values(scopeWith({}))(nearlyAll('b')), /b$/)
})

test('a costly value takes nothing from short ones, and a broken one says each time what is wrong with it', () => {
  const { values } = createRenderer()
  const scope = scopeWith({ wanted: 'gold' })
  const broken = `{{ a | nothing }}${' '.repeat(2_000)}`
  for (let count = 0; count < 40; count += 1) {
    assert.throws(() => values(scope)(broken), /unknown filter/)
    assert.throws(() => values(scope)(loop(stepsMax, 'a')), tooLong)
    assert.equal(values(scope)(`{{ payload.wanted | upcase }}${count}`), `GOLD${count}`)
  }
})

test('what was rendered for a job may be rendered again, whatever other jobs come in between', () => {
  const { values } = createRenderer()
  const [one, other] = [scopeWith({ a: 1 }), scopeWith({ a: 2 })]
  const text = `{{ payload.a }} ${nearlyAll('')}`
  for (const [scope, start] of [
    [one, /^1 /],
    [one, /^1 /],
    [other, /^2 /],
    [one, /^1 /],
    [other, /^2 /],
  ] as const) {
    assert.match(values(scope)(text), start)
  }
})

const loops = (inner: string): string =>
  `{% for i in (1..200) %}{% for j in (1..200) %}${inner}{% endfor %}{% endfor %}`

test('what exceeds the budget fails each time, and is over at once after the first', () => {
  const { values } = createRenderer()
  let reads = 0
  const counting = {
    get n() {
      reads += 1
      return 'n'
    },
  }
  const scope = scopeWith({ counting })
  for (let count = 0; count < 100; count += 1) {
    assert.throws(() => values(scope)(`${loops('{{ payload.counting.n }}')}${count}`), tooLong)
  }
  assert.ok(reads > 100 && reads <= 3_000, `${reads} reads`)
})

const idle = (number: number): string => `{% if false %}${'{{ a }}'.repeat(140)}{% endif %}${number}`

test('parsing is paid for as well: many long values that do next to nothing are too much', () => {
  const { values } = createRenderer()
  const scope = scopeWith({})
  let rendered = 0
  assert.throws(() => {
    for (; rendered < 2_000; rendered += 1) values(scope)(idle(rendered))
  }, tooLong)
  assert.ok(rendered >= 20 && rendered <= 24, `${rendered} were rendered`)
})

test('a value is parsed once for many jobs', (t) => {
  const { values } = createRenderer()
  const parse = t.mock.method(engines.plain, 'parse')
  for (let count = 0; count < 10; count += 1) {
    const scope = scopeWith({ count })
    assert.equal(values(scope)('{{ payload.count }}'), String(count))
    assert.equal(values(scope)('{{ payload.count }}!'), `${count}!`)
  }
  assert.equal(parse.mock.callCount(), 2)
})

test('a mistake in a value is reported as such', () => {
  const { values } = createRenderer()
  assert.throws(() => values(scopeWith({}))('{{ a | nothing }}'), /unknown filter/)
})
