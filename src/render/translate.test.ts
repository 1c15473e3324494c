// The filter `t`: which text a subscriber gets, what is filled in, and that nothing filled in is markup.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshKey, renderError, sceneRenderer, scopeWith } from '../../test/support/render-scene.ts'
import { Turn } from '../domain/turn.ts'
import type { TemplateScope } from '../domain/workflows/rendering.ts'
import { flatTexts, translations, translationsOf } from '../domain/workflows/translation.ts'
import { textMistakes } from './translation-check.ts'

type Given = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Locales oldest first. */
function speaking(
  given: Given,
  locale: unknown = 'en',
  payload: Readonly<Record<string, unknown>> = {},
): TemplateScope {
  const locales = Object.entries(given).map(([name, texts]) => ({ locale: name, texts: flatTexts(texts).texts }))
  return { ...scopeWith(payload, { locale }), [translations]: translationsOf(locales) }
}

const plain = (text: string, scope: TemplateScope): string => sceneRenderer.value(text, scope)
const html = (content: string, scope: TemplateScope): string =>
  sceneRenderer.email(freshKey(), { type: 'email', subject: 's', content, layoutId: null }, scope).html

const words: Given = {
  fr: { hello: 'Bonjour', only: { french: 'Seulement' } },
  en: { hello: 'Hello', english: 'English', order: { shipped: '{name}, it is on its way' } },
  de: { hello: 'Hallo' },
  'de-AT': { hello: 'Servus' },
  'zh-Hant': { hello: '你好' },
}

test('a text is in the exact locale, else its language, else the default', () => {
  const hello = (locale: unknown): string => plain("{{ 'hello' | t }}", speaking(words, locale))
  assert.deepEqual(['de-AT', 'de_at', 'de-CH', 'de', 'zh-Hant-TW', 'pt-BR', null, 'no locale!'].map(hello), [
    'Servus',
    'Servus',
    'Hallo',
    'Hallo',
    '你好',
    'Hello',
    'Hello',
    'Hello',
  ])
})

test('a key that the locale lacks is looked for in the language and in the default, key by key', () => {
  assert.equal(plain("{{ 'english' | t }}", speaking(words, 'de-AT')), 'English')
  assert.equal(plain("{{ 'only.french' | t }}", speaking(words, 'fr-CA')), 'Seulement')
  assert.equal(plain("{{ 'only.french' | t }}", speaking(words, 'de')), 'only.french')
})

test('without English the oldest locale is the default', () => {
  assert.equal(plain("{{ 'a' | t }}", speaking({ nl: { a: 'een' }, de: { a: 'ein' } }, 'pt')), 'een')
})

test('a key that no one has prints itself, and so does every key without translations', () => {
  assert.equal(plain("{{ 'order.absent' | t }}", speaking(words)), 'order.absent')
  assert.equal(plain("{{ 'hello' | t }}{{ nothing | t }}", scopeWith()), 'hello')
  assert.equal(html('{{ key | t }}', speaking(words, 'en', { key: '<b>' })), '&lt;b&gt;')
})

test('a key may be a variable, and arguments and the template’s own variables are filled in', () => {
  const scope = speaking(words, 'en', { key: 'order.shipped', name: 'Payload' })
  assert.equal(plain('{{ key | t }}', scope), 'Payload, it is on its way')
  assert.equal(plain("{{ key | t: name: 'Argument' }}{{ name }}", scope), 'Argument, it is on its wayPayload')
  assert.equal(plain('{{ key | t: name: missing }}', scope), ', it is on its way')
})

test('texts may hold Liquid', () => {
  const given = { en: { n: '{{ count }} {{ count | pluralize: "item", "items" }}{% if count > 1 %}!{% endif %}' } }
  assert.equal(plain("{{ 'n' | t: count: 2 }}", speaking(given)), '2 items!')
  assert.equal(plain("{{ 'n' | t: count: 1 }}", speaking(given)), '1 item')
})

test('in HTML what is filled in is escaped once, and in plain text not at all', () => {
  const given = { en: { hi: '<b>{name}</b> {{ name }} &amp;' } }
  const scope = speaking(given, 'en', { name: '<script>&' })
  const escaped = '&lt;script&gt;&amp;'
  assert.equal(html("{{ 'hi' | t }}", scope), `<b>${escaped}</b> ${escaped} &amp;`)
  assert.equal(
    html("{% capture x %}{{ 'hi' | t: name: '<i>' }}{% endcapture %}{{ x }}", scope),
    '<b>&lt;i&gt;</b> &lt;i&gt; &amp;',
  )
  assert.equal(plain("{{ 'hi' | t }}", scope), '<b><script>&</b> <script>& &amp;')
  const subject = { type: 'email', subject: "{{ 'hi' | t }}", content: 'x', layoutId: null } as const
  assert.equal(sceneRenderer.email(freshKey(), subject, scope).subject, '<b><script>&</b> <script>& &amp;')
})

test('a payload cannot bring translations, nor reach them', () => {
  const scope = speaking(words, 'en', { translations: { hello: 'x' }, 'Symbol(translations)': 'y' })
  assert.equal(plain("{{ 'hello' | t }}", scope), 'Hello')
  assert.equal(plain('{{ payload | json }}', speaking(words)), '{}')
})

test('texts may hold each other to a depth, and never without end', () => {
  const given = { en: { a: "a{{ 'b' | t }}", b: "b{{ 'c' | t }}", c: 'c', loop: "{{ 'loop' | t }}" } }
  assert.equal(plain("{{ 'a' | t }}{{ 'a' | t }}", speaking(given)), 'abcabc')
  assert.match(renderError(() => plain("{{ 'loop' | t }}", speaking(given))).message, /include each other/)
  assert.equal(plain("{{ 'a' | t }}", speaking(given)), 'abc')
})

test('a text that never ends fails what prints it', () => {
  const given = { en: { a: '{% for i in (1..1000000) %}x{% endfor %}' } }
  assert.match(renderError(() => plain("{{ 'a' | t }}", speaking(given))).message, /does it loop forever/)
})

test('mistakes in texts are reported by key, and single braces that name nothing are none', async () => {
  const texts = flatTexts({ good: '{name} { x } {} {{ y }}', bad: { one: '{{ x', two: 'a {% nope %}' } }).texts
  assert.deepEqual(
    (await textMistakes(texts)).map(({ key }) => key),
    ['bad.one', 'bad.two'],
  )
})

test('many texts are looked through in turns', async () => {
  const texts = flatTexts(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`k${at}`, '{{ x }}']))).texts
  let clock = 0
  let turns = 0
  // A clock on which each look takes 7 ms: a turn has 20.
  const turn = new Turn(
    () => {
      clock += 7
      return clock
    },
    () => {
      turns += 1
    },
  )
  assert.deepEqual(await textMistakes(texts, turn), [])
  assert.ok(turns >= 10, `${turns}`)
})

test('a mail in the language of another says so: its texts are in none of the subscriber’s own', () => {
  const mail = (content: string, locale: unknown): string =>
    sceneRenderer.email(freshKey(), { type: 'email', subject: 's', content }, speaking(words, locale)).html
  const lang = (content: string, locale: unknown): string | undefined =>
    /<html lang="([^"]*)" dir="ltr">/.exec(mail(content, locale))?.[1]
  assert.equal(lang("{{ 'hello' | t }}", 'pt-BR'), 'en', 'there is no Portuguese')
  assert.equal(lang("{{ 'english' | t }}", 'fr'), 'en', 'French lacks this text')
  assert.equal(lang("{{ 'hello' | t }} {{ 'english' | t }}", 'fr'), 'fr', 'some of it is French')
  assert.equal(lang("{{ 'hello' | t }}", 'de-CH'), 'de-CH', 'German is theirs')
  assert.equal(lang('Olá', 'pt-BR'), 'pt-BR', 'what uses no translations is as its author wrote it')
})
