// What is asked of the database for layouts and translations: nothing where no job needs them, nor where their stamp is the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepInput, stepWith } from '../../../test/support/render-scene.ts'
import type { Sql, Statement } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { StepTemplate, WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { ConfigurationStamps } from '../../store/operate/configuration-stamps.ts'
import { createCache, createWordings } from './layouts.ts'

const environment = { id: 'environment-1', organizationId: 'organization-1' } as Environment

const asked: string[] = []
let stamp = 'one'
let layoutContent = '{{body}}'

const rowsOf = ({ text }: Statement): object[] => {
  const table = /from (layouts|translations|environment_variables)/.exec(text)?.[1] ?? '?'
  asked.push(table)
  const at = new Date(0)
  if (table === 'environment_variables') {
    const variable = { id: 'v1', is_secret: false, sealed: Buffer.from('https://acme.example'), created_at: at }
    return [
      { ...variable, key: 'SHOP', updated_at: at },
      { ...variable, key: 'TOKEN', is_secret: true, updated_at: at },
    ]
  }
  if (table === 'translations') return [{ locale: 'en', texts: { a: 'A' }, created_at: at, updated_at: at }]
  const row = { id: 'l1', identifier: 'acme', name: 'Acme', description: '', created_by: 'k', created_at: at }
  return [{ ...row, content: layoutContent, is_default: true, updated_at: at }]
}
/** Leaves everything as it is. */
const sealer = { open: (_environment, _purpose, _record, sealed) => sealed.toString() } as Sealer
const db: Sql = {
  rows: async <Row>(statement: Statement) => rowsOf(statement) as Row[],
  row: async <Row>(statement: Statement) => rowsOf(statement)[0] as Row,
  run: () => assert.fail('nothing is written'),
}

const stampsOf = (stamp: string): ConfigurationStamps => ({
  integrations: '',
  layouts: stamp,
  translations: stamp,
  variables: stamp,
  captures: false,
  hasSuppressions: false,
  hasWebhooks: false,
})

async function wording(wordings: ReturnType<typeof createWordings>, template: StepTemplate, more: object = {}) {
  asked.length = 0
  const stamps = stampsOf(stamp)
  const { job, version } = stepInput(template)
  const definition = { ...version.definition, steps: [stepWith(template)], ...more }
  const versions = new Map<string, WorkflowVersion>([[version.id, { ...version, definition }]])
  const found = await wordings.for(db, environment, [job], versions, stamps)
  return { found, asked: [...asked] }
}

const inApp: StepTemplate = { type: 'in_app', content: 'Hello {{ name | upcase }}' }
const email: StepTemplate = { type: 'email', subject: 's', content: 'x' }

test('a batch without e-mails and without translated templates asks for nothing', async () => {
  const { found, asked } = await wording(createWordings(sealer), inApp)
  assert.deepEqual([found, asked], [{ layouts: undefined, translations: undefined, variables: undefined }, []])
})

test('e-mails ask for the layouts, once a stamp', async () => {
  const wordings = createWordings(sealer)
  assert.deepEqual((await wording(wordings, email)).asked, ['layouts'])
  const again = await wording(wordings, email)
  assert.deepEqual([again.asked, again.found.layouts?.standard?.identifier], [[], 'acme'])
  assert.equal(again.found.translations, undefined)
  stamp = 'two'
  assert.deepEqual((await wording(wordings, email)).asked, ['layouts'])
})

test('translations are asked for where a template or a layout uses the filter, or the workflow says so', async () => {
  const translated = { ...inApp, content: "{{ 'a' |\n t }}" }
  const { found, asked } = await wording(createWordings(sealer), translated)
  assert.deepEqual(asked, ['translations'])
  assert.equal(found.translations?.text('a', 'fr'), 'A')
  assert.equal((await wording(createWordings(sealer), inApp, { isTranslationEnabled: true })).asked.length, 1)
  layoutContent = "{{body}}{{ 'a' | t }}"
  assert.deepEqual((await wording(createWordings(sealer), email)).asked, ['layouts', 'translations'])
})

test('variables are asked for where a template or a layout names one, once a stamp, and never without a stamp', async () => {
  const wordings = createWordings(sealer)
  const naming = { ...inApp, content: '{{ env.SHOP }}' }
  const { found, asked } = await wording(wordings, naming)
  assert.deepEqual(asked, ['environment_variables'])
  assert.deepEqual(found.variables?.open, { SHOP: 'https://acme.example' })
  assert.deepEqual(Object.keys(found.variables?.secret ?? {}), ['TOKEN'])
  assert.deepEqual((await wording(wordings, naming)).asked, [])
  layoutContent = '{{body}}{{ env.SHOP }}'
  assert.deepEqual((await wording(createWordings(sealer), email)).asked, ['layouts', 'environment_variables'])
  stamp = ''
  assert.deepEqual((await wording(createWordings(sealer), naming)).asked, [])
})

/** Environments of one letter each, cached within a hundred characters; each read is reported by its letter. */
function keptScene(lengths: Readonly<Record<string, number>>) {
  const reads: string[] = []
  const stamps: Record<string, string> = {}
  const cached = createCache(async (_, { id }) => {
    reads.push(id)
    return { length: lengths[id] ?? 0 }
  }, 100)
  const ask = async (ids: string): Promise<string> => {
    reads.length = 0
    for (const id of ids) await cached(db, { ...environment, id }, stamps[id] ?? 'first')
    return reads.join('')
  }
  return { ask, stamps }
}

test('what fits together is read once, up to the very bound', async () => {
  const { ask } = keptScene({ a: 50, b: 50 })
  assert.equal(await ask('abababab'), 'ab')
})

test('what is larger than all room there is, is not kept and pushes nothing out', async () => {
  const { ask } = keptScene({ a: 50, b: 50, c: 101 })
  assert.equal(await ask('abccab'), 'abcc')
})

test('what was not asked for the longest makes room, and the rest stays', async () => {
  const { ask } = keptScene({ a: 40, b: 40, c: 40 })
  assert.equal(await ask('abac'), 'abc')
  assert.equal(await ask('ac'), '')
  assert.equal(await ask('b'), 'b')
})

test('what is read again takes the place of what it was', async () => {
  const { ask, stamps } = keptScene({ a: 60, b: 40 })
  await ask('ab')
  for (const stamp of ['second', 'third', 'fourth']) {
    stamps['a'] = stamp
    assert.equal(await ask('aab'), 'a')
  }
})
