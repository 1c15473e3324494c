// The forms of steps, made of their schemas: every setting is in them, and what a schema refuses is said at its field.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Control } from '../../dashboard/src/pages/workflows/presentation.ts'
import type { Schema } from '../../dashboard/src/pages/workflows/schema.ts'
import { violationOf, violationsOf } from '../../dashboard/src/pages/workflows/schema.ts'
import type { FormField } from '../../dashboard/src/pages/workflows/step-plan.ts'
import { planOf } from '../../dashboard/src/pages/workflows/step-plan.ts'
import { stepSchema } from '../../dashboard/src/pages/workflows/step-schemas.ts'
import {
  settingsForKind,
  settingsForUnit,
  valueAt,
  withValue,
} from '../../dashboard/src/pages/workflows/step-values.ts'
import { unfinishedOf } from '../../dashboard/src/pages/workflows/unfinished.ts'
import { delayMistakes } from '../../src/domain/time/timing-mistakes.ts'
import { contentOf, settingsOf, settingsOfKinds } from '../../src/domain/workflows/step-settings.ts'
import type { RunnableStepType } from '../../src/domain/workflows/workflow.ts'
import { runnableStepTypes, timeUnits } from '../../src/domain/workflows/workflow.ts'

const part = (name: string): Schema => stepSchema.properties?.[name] ?? assert.fail(name)
const settings = part('metadata')

/** What a field sets, and what its unit, its members and the rows of its list set. */
const pathsOf = (fields: readonly FormField[]): string[] =>
  fields.flatMap(({ path, unit, fields: members, fieldsOfRow }) => {
    if (members !== undefined) return pathsOf(members)
    if (fieldsOfRow !== undefined) return pathsOf(fieldsOfRow(0))
    return [path.join('.'), ...(unit === undefined ? [] : [unit.path.join('.')])]
  })

/** Every form that a step of a type can have: some settings are shown for a kind, a unit or a choice only. */
function formsOf(schema: Schema, type: RunnableStepType): FormField[][] {
  const kinds = Object.keys(settingsOfKinds[type] ?? {})
  if (kinds.length === 0) return [planOf(schema, { template: { type } })]
  return kinds.flatMap((kind) =>
    timeUnits.flatMap((unit) =>
      ['each', 'on'].map((monthlyType) =>
        planOf(schema, { template: { type }, metadata: { type: kind, unit, timed: { monthlyType } } }),
      ),
    ),
  )
}

/** All that can be set below a schema: texts, numbers, lists of values; of a list of objects, what one has. */
function leavesOf(schema: Schema, path: string): string[] {
  const inner = schema.properties ?? schema.items?.properties
  if (inner === undefined || schema.items?.title === 'EmailBlock' || schema.items?.title === 'StepFilter') return [path]
  const at = schema.properties === undefined ? `${path}.0` : path
  return Object.entries(inner).flatMap(([name, member]) => leavesOf(member, `${at}.${name}`))
}

/** Not settings: the ids of steps, and the parts that have tests of their own below. */
const noSettings = ['_id', '_parentId', 'active', 'template', 'metadata']
/** Chosen when a step is added; set with the content; other names of a member that is there. */
const noFields = ['type', 'contentType', '_layoutId', '_feedId']

for (const type of runnableStepTypes) {
  test(`every setting that a step of the type ${type} can have is in its form`, () => {
    const content = new Set<string>(contentOf[type] ?? [])
    const own = new Set(settingsOf(type) ?? [])
    if (Object.keys(settingsOfKinds[type] ?? {}).length < 2) own.delete('type')
    const ofAll = Object.keys(stepSchema.properties ?? {}).filter((name) => !noSettings.includes(name))
    const ofSome = { variants: contentOf[type] !== undefined, replyCallback: type === 'email' }
    const wanted = [
      ...ofAll
        .filter((name) => ofSome[name as keyof typeof ofSome] !== false)
        .flatMap((name) => leavesOf(part(name), name)),
      ...[...content]
        .filter((name) => !noFields.includes(name))
        .flatMap((name) => leavesOf(part('template').properties?.[name] ?? assert.fail(name), `template.${name}`)),
      ...[...own].flatMap((name) => leavesOf(settings.properties?.[name] ?? assert.fail(name), `metadata.${name}`)),
    ]
    const found = new Set(formsOf(stepSchema, type).flatMap(pathsOf))
    assert.deepEqual([...found].sort(), [...new Set(wanted)].sort())
  })
}

test('every member of the schemas belongs to a type of step', () => {
  const listed = new Set<string>([...Object.values(contentOf).flat(), ...noFields])
  assert.deepEqual(
    Object.keys(part('template').properties ?? {}).filter((name) => !listed.has(name)),
    [],
  )
  const known = new Set(runnableStepTypes.flatMap((type) => [...(settingsOf(type) ?? [])]))
  assert.deepEqual(
    Object.keys(settings.properties ?? {}).filter((name) => !known.has(name)),
    [],
  )
})

const shapes: readonly (readonly [Schema, Control])[] = [
  [{ type: 'string', maxLength: 5, description: 'Digest: what it is called.' }, 'words'],
  [{ type: 'string', contentMediaType: 'text/x-liquid' }, 'template'],
  [{ type: ['string', 'null'], enum: ['a', 'b'] }, 'choice'],
  [{ type: 'boolean' }, 'switch'],
  [{ type: 'integer', minimum: 2 }, 'number'],
  [{ type: 'array', items: { type: 'string' } }, 'list'],
  [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, 'ticks'],
  [{ type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }, 'rows'],
  [{ type: 'array', items: { title: 'StepFilter', type: 'object' } }, 'conditions'],
  [{ type: 'object', properties: { a: { type: 'string' } } }, 'group'],
  [{ type: 'object', patternProperties: { '^.*$': { type: 'string' } } }, 'pairs'],
  [{ type: 'object', additionalProperties: true }, 'json'],
  [{}, 'value'],
]

/** The schema of steps with one member more, in the step itself or in one of its parts. */
const withMember = (where: 'step' | 'template' | 'metadata', member: Schema): Schema => {
  const added = (schema: Schema): Schema => ({ ...schema, properties: { ...schema.properties, quietHours: member } })
  if (where === 'step') return added(stepSchema)
  return { ...stepSchema, properties: { ...stepSchema.properties, [where]: added(part(where)) } }
}

for (const [member, control] of shapes) {
  test(`a member that is added to a schema appears in the form, as ${control}`, () => {
    for (const type of runnableStepTypes) {
      for (const where of ['step', 'template', 'metadata'] as const) {
        if (where === 'metadata' && settingsOf(type) === undefined) continue
        const isThere = (fields: readonly FormField[]): boolean =>
          fields.some(
            ({ path, label, control: found }) =>
              path.at(-1) === 'quietHours' && label === 'Quiet hours' && found === control,
          )
        const forms = formsOf(withMember(where, member), type)
        assert.ok(forms.every(isThere), `${type} ${where}`)
        assert.ok(!formsOf(stepSchema, type).some(isThere))
      }
    }
  })
}

test('a member that one type and one kind list is in no other form', () => {
  const schema = withMember('metadata', { type: 'string' })
  const own = { ...settings['x-steps'], delay: { ...settingsOfKinds.delay, timed: ['quietHours'] } }
  const listed: Schema = {
    ...schema,
    properties: { ...schema.properties, metadata: { ...schema.properties?.['metadata'], 'x-steps': own } },
  }
  const has = (type: string, kind: string): boolean =>
    planOf(listed, { template: { type }, metadata: { type: kind } }).some(({ path }) => path.at(-1) === 'quietHours')
  assert.deepEqual([has('delay', 'timed'), has('delay', 'regular'), has('digest', 'timed')], [true, false, false])
})

test('a description is the help of a field, without the types of steps that it begins with', () => {
  const plan = planOf(withMember('metadata', shapes[0]?.[0] ?? {}), { template: { type: 'digest' }, metadata: {} })
  assert.equal(plan.find(({ path }) => path.at(-1) === 'quietHours')?.hint, 'What it is called.')
})

test('what a schema refuses is said in a sentence, and what it takes is not', () => {
  const said = (schema: Schema, value: unknown): string => violationOf(schema, value) ?? ''
  assert.match(said({ type: 'string', maxLength: 3 }, 'four'), /at most 3 characters, and has 4/)
  // As the service counts them: by character.
  assert.equal(said({ type: 'string', maxLength: 3 }, '👋👋👋'), '')
  assert.match(said({ type: 'string', minLength: 1 }, ''), /required/)
  assert.match(said({ type: 'string', pattern: '^\\P{Cc}+$' }, 'a\u0007'), /not allowed/)
  assert.match(said({ type: 'string', enum: ['a', 'b'] }, 'c'), /one of a, b/)
  assert.match(said({ type: 'string', format: 'web-address' }, 'example.com'), /web address/)
  assert.match(said({ type: 'integer', minimum: 1, maximum: 60_000 }, 0), /1 or more/)
  assert.match(said({ type: 'integer', minimum: 1, maximum: 60_000 }, 60_001), /at most 60,000/)
  assert.match(said({ type: 'integer' }, 1.5), /whole number/)
  assert.match(said({ type: 'array', maxItems: 1 }, [1, 2]), /at most 1, and are 2/)
  assert.match(said({ type: 'object', maxProperties: 1 }, { a: 1, b: 2 }), /at most 1, and are 2/)
  assert.match(said({ type: 'string' }, null), /required/)
  assert.equal(said({ type: ['string', 'null'] }, null), '')
  assert.equal(said({ type: 'integer', minimum: 1, maximum: 60_000 }, 60_000), '')
  assert.equal(said({}, { anything: true }), '')
})

test('what is wrong anywhere in a step is found with its path', () => {
  const step = {
    name: 'x'.repeat(300),
    template: { type: 'email', from: { name: 'Acme' }, cta: { action: { buttons: [{ type: 'primary' }] } } },
    metadata: { type: 'http', timeoutMs: 0 },
    filters: [{ isNegated: false, type: 'GROUP', value: 'AND', children: [{ on: 'payload', field: '', value: '' }] }],
  }
  assert.deepEqual(
    violationsOf(stepSchema, step).map(({ path }) => path),
    [
      'name',
      'template.from.email',
      'template.cta.action.buttons.0.content',
      'metadata.timeoutMs',
      'filters.0.children.0.field',
    ],
  )
  assert.deepEqual(violationsOf(stepSchema, { template: { type: 'in_app', layoutId: null } }), [])
})

const draft = (template: object = {}, metadata?: Record<string, unknown>) => ({
  key: 'a',
  name: 'Step',
  active: true,
  template: { type: 'email', ...template },
  ...(metadata === undefined ? {} : { metadata }),
  filters: [],
  rest: { uuid: 'own' },
})

test('a value is read and written by its path; nothing is the same as left out', () => {
  const from = withValue(draft(), ['template', 'from', 'email'], 'a@example.com')
  assert.equal(valueAt(from, ['template', 'from', 'email']), 'a@example.com')
  assert.deepEqual(withValue(from, ['template', 'from', 'email'], ''), draft())
  const replies = withValue(draft(), ['replyCallback', 'active'], false)
  assert.deepEqual(replies.rest, { uuid: 'own', replyCallback: { active: false } })
  assert.deepEqual(withValue(replies, ['replyCallback', 'active'], undefined), draft())
  const buttons = draft({ cta: { action: { buttons: [{ type: 'primary' }, { type: 'secondary' }] } } })
  const named = withValue(buttons, ['template', 'cta', 'action', 'buttons', '1', 'content'], 'Go')
  assert.deepEqual(valueAt(named, ['template', 'cta', 'action', 'buttons']), [
    { type: 'primary' },
    { type: 'secondary', content: 'Go' },
  ])
})

test('another kind keeps what it has as well, drops what it has not, and begins with what it needs', () => {
  const timed = settingsForKind(settings, 'digest', 'timed', {
    ...{ type: 'backoff', amount: 5, unit: 'minutes', backoffAmount: 2, backoffUnit: 'hours', digestKey: 'a' },
  })
  assert.deepEqual(timed, { type: 'timed', amount: 1, unit: 'days', digestKey: 'a', timed: { atTime: '09:00' } })
  assert.deepEqual(settingsForKind(settings, 'delay', 'regular', { type: 'dynamic', dynamicKey: 'a' }), {
    ...{ type: 'regular', amount: 1, unit: 'hours' },
  })
  assert.deepEqual(settingsForKind(settings, 'delay', 'scheduled', { ...timed, extendToSchedule: true }), {
    ...{ type: 'scheduled', extendToSchedule: true },
  })
})

test('with another unit, the days that belong to the one before are gone', () => {
  const weekly = { type: 'timed', unit: 'weeks', timed: { atTime: '09:00', weekDays: ['monday'] } }
  assert.deepEqual(settingsForUnit(weekly, 'months'), { type: 'timed', unit: 'months', timed: { atTime: '09:00' } })
  assert.deepEqual(settingsForUnit(weekly, 'weeks'), weekly)
})

test('a kind that was just chosen is unfinished until it has what the service would ask for', () => {
  const missing = (metadata: Record<string, unknown>) =>
    unfinishedOf(stepSchema, [{ name: 'Wait', template: { type: 'delay' }, metadata }])
  assert.deepEqual(missing({ type: 'dynamic' }), ['Wait: fill in Dynamic key'])
  assert.deepEqual(missing({ type: 'scheduled', delayPath: ' ' }), ['Wait: fill in Delay path'])
  const months = { type: 'timed', amount: 1, unit: 'months' }
  assert.deepEqual(missing({ ...months, timed: { atTime: '09:00', monthlyType: 'on', ordinal: 'last' } }), [
    'Wait: fill in Ordinal value',
  ])
  assert.deepEqual(missing({ ...months, timed: { atTime: '09:00', monthDays: [] } }), ['Wait: fill in Month days'])
  const done = [
    { type: 'regular', amount: 1, unit: 'days' },
    { type: 'dynamic', dynamicKey: 'payload.reminder' },
    { type: 'timed', cron: '30 8 * * 1-5' },
    { type: 'timed', amount: 1, unit: 'weeks', timed: { atTime: '09:00', weekDays: ['monday'] } },
  ]
  for (const metadata of done) {
    assert.deepEqual(missing(metadata), [])
    assert.deepEqual(delayMistakes(metadata), [])
  }
})
