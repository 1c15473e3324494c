// Rendering in threads: what comes of it is what comes of rendering here; what stalls fails its template, and nothing else.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { freshKey, sceneNow, scopeWith } from '../../test/support/render-scene.ts'
import type { Renderer, TemplateScope } from '../domain/workflows/rendering.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import { translations, translationsOf } from '../domain/workflows/translation.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import type { ThreadFailureKind, Threads } from '../world/threads.ts'
import { createThreads, ThreadFailure } from '../world/threads.ts'
import { decideElsewhere, elsewhereOnly, NoThread } from './elsewhere.ts'
import { createRenderer } from './renderer.ts'

/** Compiled, as this test is by `npm test`: threads cannot run sources. */
const entry = new URL('./render-thread.js', import.meta.url)
const threads = createThreads({ entry, size: 1 })
after(() => threads.close())

const renderer = createRenderer(() => sceneNow)
const now = () => sceneNow
let asked = 0
const counting: Threads = {
  ...threads,
  run: (message) => {
    asked += 1
    return threads.run(message)
  },
}
const failing = (kind: ThreadFailureKind): Threads => ({
  ...threads,
  run: () => Promise.reject(new ThreadFailure(kind, 'no')),
})

const mail = (content: string): StepTemplate => ({
  type: 'email',
  subject: 'For {{ subscriber.firstName }}',
  contentType: 'customHtml',
  content,
})
const bell = (content: string): StepTemplate => ({ type: 'in_app', content })

function scope(): TemplateScope {
  const texts = new Map([['hello', 'Hallo, {name}!']])
  return {
    ...scopeWith({ items: [1, 2, 3], note: '<b>&' }),
    [translations]: translationsOf([{ locale: 'en', texts }]),
    // Signed when it is first asked for, as in a run.
    unsubscribe: {
      get url() {
        return 'https://example.com/stop'
      },
    },
  }
}

const fieldsOf = (...texts: string[]) => texts.map((text, index) => ({ path: `field.${index}`, text }))

const works: Readonly<Record<string, (renderer: Renderer) => unknown>> = {
  email: (by) =>
    by.email(
      freshKey(),
      mail('<style>p{color:red}</style><p>{{ payload.note }}</p>{{ "hello" | t: name: "Ann" }} {{ unsubscribe.url }}'),
      scope(),
    ),
  'in-app': (by) =>
    by.inApp(freshKey(), bell('{% for i in payload.items %}{{ i }}{% endfor %} {{ "now" | date: "%Y" }}'), scope()),
  sms: (by) => by.text(freshKey(), { type: 'sms', content: '{{ payload.note }}' }, scope()),
  'a value': (by) => by.value('{{ payload.items | join: "-" }}', scope()),
  fields: (by) => by.fields(freshKey(), fieldsOf('a{{ payload.items.size }}', 'b'), scope()),
  'values of conditions': (by) => ['a{{ payload.items.size }}', 'b'].map(by.values(scope())),
  'several of them': (by) => [
    by.value('{{ payload.note }}', scope()),
    by.inApp(freshKey(), bell('{{ payload.note }}'), scope()),
  ],
}

for (const [what, work] of Object.entries(works)) {
  test(`${what}: rendered elsewhere it is what it is here`, async () => {
    const here = work(renderer)
    asked = 0
    const there = await decideElsewhere({ threads: counting, renderer, first: elsewhereOnly, now, decide: work })
    assert.deepEqual(there, here)
    assert.ok(asked > 0)
  })
}

test('a mistake of a template is reported as it is here', async () => {
  const work = (by: Renderer) => by.inApp(freshKey(), bell('{{ payload.note | nothing }}'), scope())
  const here = await Promise.resolve()
    .then(() => work(renderer))
    .catch((error: unknown) => error)
  const there = await decideElsewhere({ threads, renderer, first: elsewhereOnly, now, decide: work }).catch(
    (error: unknown) => error,
  )
  assert.ok(there instanceof RenderError && here instanceof RenderError)
  assert.deepEqual([there.field, there.message], [here.field, here.message])
})

const expensive = '{% for i in (1..5000) %}{{ i }}{% endfor %}'

test('with a small budget what costs little is rendered here, and what costs much elsewhere, to the same end', async () => {
  const { small } = renderer
  assert.ok(small !== undefined)
  for (const [content, threadsAsked] of [
    ['{{ payload.note }}', 0],
    [expensive, 1],
  ] as const) {
    asked = 0
    const work = (by: Renderer) => by.inApp(freshKey(), bell(content), scope())
    assert.deepEqual(
      await decideElsewhere({ threads: counting, renderer, first: small, now, decide: work }),
      work(renderer),
    )
    assert.equal(asked, threadsAsked)
  }
})

test('what exceeds the whole budget fails elsewhere as it does here', async () => {
  const work = (by: Renderer) =>
    by.inApp(
      freshKey(),
      bell('{% for i in (1..1000) %}{% for j in (1..1000) %}{{ i }}{% endfor %}{% endfor %}'),
      scope(),
    )
  await assert.rejects(decideElsewhere({ threads, renderer, first: elsewhereOnly, now, decide: work }), RenderError)
})

test('a rendering that stalls or ends its thread fails its template; one that no thread can do is done here', async () => {
  const work = (by: Renderer) => by.inApp(freshKey(), bell('x'), scope())
  const by = (kind: ThreadFailureKind) =>
    decideElsewhere({ threads: failing(kind), renderer, first: elsewhereOnly, now, decide: work })
  await assert.rejects(by('late'), RenderError)
  await assert.rejects(by('broken'), RenderError)
  assert.deepEqual(await by('unavailable'), work(renderer))
})

test('what no thread has time for is not rendered here: a request is to be repeated', async () => {
  const { small } = renderer
  assert.ok(small !== undefined)
  for (const first of [elsewhereOnly, small]) {
    let decisions = 0
    const work = (by: Renderer) => {
      decisions += 1
      return by.inApp(freshKey(), bell(expensive), scope())
    }
    const asked = decideElsewhere({ threads: failing('busy'), renderer, first, now, decide: work })
    const error = await asked.catch((thrown: unknown) => thrown)
    assert.ok(error instanceof NoThread, String(error))
    assert.deepEqual([error.status, error.headers, decisions], [503, { 'retry-after': '5' }, 1])
  }
})

test('single texts have a small budget too, and those of one message share it', async () => {
  const { small } = renderer
  assert.ok(small !== undefined)
  const loop = '{% for i in (1..600) %}{{ i }}{% endfor %}'
  for (const [work, threadsAsked] of [
    [(by: Renderer) => by.value(loop, scope()), 0],
    [(by: Renderer) => by.value(expensive, scope()), 1],
    [(by: Renderer) => by.fields(freshKey(), fieldsOf(loop, 'b'), scope()), 0],
    [(by: Renderer) => by.fields(freshKey(), fieldsOf(loop, loop, loop, loop), scope()), 1],
  ] as const) {
    asked = 0
    assert.deepEqual(
      await decideElsewhere<unknown>({ threads: counting, renderer, first: small, now, decide: work }),
      work(renderer),
    )
    assert.equal(asked, threadsAsked)
  }
  const tooMuch = fieldsOf(...Array.from({ length: 20 }, () => expensive))
  const work = (by: Renderer) => by.fields(freshKey(), tooMuch, scope())
  await assert.rejects(
    decideElsewhere({ threads, renderer, first: small, now, decide: work }),
    (error) => error instanceof RenderError && error.field.startsWith('field.') && /steps/.test(error.message),
  )
})

test('a scope that costs more to copy than to render is not copied', async () => {
  const large = scopeWith({ rows: Array.from({ length: 120_000 }, (_, at) => at) })
  asked = 0
  const work = (by: Renderer) => by.inApp(freshKey(), bell('{{ payload.rows.size }}'), large)
  let hadTurn = false
  setImmediate(() => {
    hadTurn = true
  })
  const there = await decideElsewhere({ threads: counting, renderer, first: elsewhereOnly, now, decide: work })
  assert.ok(hadTurn, 'it has a turn of its own')
  assert.deepEqual(there, work(renderer))
  assert.equal(asked, 0)
})

test('without threads everything is rendered here', async () => {
  const work = (by: Renderer) => by.inApp(freshKey(), bell(expensive), scope())
  assert.deepEqual(
    await decideElsewhere({ threads: undefined, renderer, first: elsewhereOnly, now, decide: work }),
    work(renderer),
  )
})
