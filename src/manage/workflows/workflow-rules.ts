// What a workflow must be before it is stored: every error in it, found at once and reported by its path.
import { isDeepStrictEqual } from 'node:util'
import { skipMistakes } from '../../domain/conditions/skip-mistakes.ts'
import { customTexts } from '../../domain/delivery/custom-call.ts'
import { nearest } from '../../domain/nearest.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { conflict, invalid, notFound } from '../../domain/problem.ts'
import { settingsOf } from '../../domain/workflows/step-settings.ts'
import type {
  CustomMetadata,
  NotificationStep,
  RunnableStepType,
  StepVariant,
} from '../../domain/workflows/workflow.ts'
import { runnableStepTypes } from '../../domain/workflows/workflow.ts'
import { templateMistakes } from '../../render/check.ts'
import { workflowCodesMax } from '../../render/limits.ts'
import {
  payloadSchemaBytesMax,
  payloadSchemaParts,
  payloadSchemaPartsMax,
} from '../../render/payload/payload-schema.ts'
import { schemaVerdict } from '../../render/payload/schema-verdicts.ts'
import { stepOf } from '../../steps/registry.ts'
import type { StoredDefinition } from '../../store/workflows/workflows.ts'
import { foreignSettings, replyMistakes, templateContradictions } from './workflow-part-rules.ts'
import type { ArrangedStep, Mistake } from './workflow-steps.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** An environment holds no more than this, so that a list by tags may look at each. */
export const workflowsMax = 10_000
/** Read for every event: a run needs all of it. */
const definitionBytesMax = 512 * 1024
const dataBytesMax = 64 * 1024
/** A workflow can be invalid in a thousand places; the first few errors are enough to fix it. */
const mistakesMax = 100

export const unknownWorkflow = (id: string) => notFound(`Workflow ${id} was not found`)
export const identifierTaken = (identifier: string) => conflict(`Workflow with identifier ${identifier} already exists`)

export function refuseMistakes(mistakes: readonly Mistake[]): void {
  if (mistakes.length === 0) return
  // Without a prototype: a member may be called `constructor`.
  const errors: FieldErrors = Object.create(null)
  for (const { path, message } of mistakes.slice(0, mistakesMax)) {
    const entry = errors[path] ?? { messages: [] }
    errors[path] = entry
    entry.messages.push(`${path} ${message}`)
  }
  throw invalid(errors)
}

/**
 * Errors in what is given apart from the steps, and in the size of the whole. What was stored before is not checked
 * again.
 */
export function settingsMistakes(
  given: { name?: string; payloadSchema?: JsonObject | null; data?: JsonObject | null },
  definition: StoredDefinition,
  before: Pick<StoredDefinition, 'payloadSchema'>,
): Mistake[] {
  const isKnown = isDeepStrictEqual(given.payloadSchema, before.payloadSchema)
  return [
    ...(given.name?.trim() === '' ? [{ path: 'name', message: 'must not be blank' }] : []),
    ...(given.payloadSchema && !isKnown ? payloadSchemaMistakes(given.payloadSchema) : []),
    ...sizeMistakes('data', given.data ?? {}, dataBytesMax),
    ...sizeMistakes('steps', definition, definitionBytesMax, 'the whole workflow'),
  ]
}

/** What engines without a bound on their time have, and ours has not. */
const slowPattern =
  'must be a pattern that can be matched in linear time: without lookahead, lookbehind and backreferences, and with at most 1000 repetitions'

function payloadSchemaMistakes(schema: JsonObject): Mistake[] {
  const tooLarge = sizeMistakes('payloadSchema', schema, payloadSchemaBytesMax)
  if (tooLarge.length > 0) return tooLarge
  if (payloadSchemaParts(schema) > payloadSchemaPartsMax) {
    return [{ path: 'payloadSchema', message: `must be smaller: it may hold at most ${payloadSchemaPartsMax} schemas` }]
  }
  const compiled = schemaVerdict(schema)
  if (compiled.ok) {
    return compiled.slowPatterns.map((path) => ({ path: `payloadSchema.${path}`, message: slowPattern }))
  }
  return [
    { path: compiled.path === '' ? 'payloadSchema' : `payloadSchema.${compiled.path}`, message: compiled.message },
  ]
}

function sizeMistakes(path: string, value: unknown, bytesMax: number, what = 'it'): Mistake[] {
  if (value === undefined || Buffer.byteLength(JSON.stringify(value)) <= bytesMax) return []
  return [{ path, message: `must be smaller: ${what} may have at most ${bytesMax} bytes` }]
}

export function stepMistakes(steps: readonly ArrangedStep[]): Mistake[] {
  const codes = steps.reduce((sum, { step }) => sum + (JSON.stringify(step).match(/\{[{%]/g)?.length ?? 0), 0)
  if (codes > workflowCodesMax) {
    const message = `must hold fewer outputs and tags: at most ${workflowCodesMax} in all templates together`
    return [{ path: 'steps', message }]
  }
  return steps.flatMap(({ step, place }) => {
    const path = `steps.${place}`
    const typeMistake = typeMistakeOf(step.template.type)
    if (typeMistake !== undefined) return [{ path: `${path}.template.type`, message: typeMistake }]
    const type = step.template.type as RunnableStepType
    return [
      ...partMistakes(type, step, path),
      ...replyMistakes(step, path),
      ...step.variants.flatMap((variant, index) => variantMistakes(type, variant, `${path}.variants.${index}`)),
    ]
  })
}

function typeMistakeOf(type: string): string | undefined {
  if (runnableStepTypes.some((known) => known === type)) return undefined
  if (type === 'http_request') return 'is not a known step type; use a custom step to call your own service'
  return `is not a known step type; did you mean ${nearest(type, runnableStepTypes)}?`
}

function variantMistakes(type: RunnableStepType, variant: StepVariant, path: string): Mistake[] {
  if (settingsOf(type) !== undefined) {
    return [{ path, message: `must be omitted: a ${type} step has no content` }]
  }
  if (variant.template.type !== type) {
    return [{ path: `${path}.template.type`, message: `must be ${type}, like that of its step` }]
  }
  const neverChosen = {
    path: `${path}.filters`,
    message: 'must have a condition: without one the variant is never used',
  }
  return [
    ...(variant.filters.length === 0 ? [neverChosen] : []),
    ...partMistakes(type, { ...variant, variants: [] }, path),
    ...replyMistakes(variant, path),
  ]
}

/** Of a step without its variants, or of a variant. */
function partMistakes(type: RunnableStepType, part: NotificationStep, path: string): Mistake[] {
  const found = [...stepOf(type).mistakes(part), ...templateMistakes(part.template)]
  if (type === 'custom' && found.length === 0) found.push(...callMistakes(part.metadata as CustomMetadata))
  // For settings of an unknown kind it is impossible to say which fields belong to it.
  const isKnownKind = found.every((mistake) => mistake.path !== 'metadata.type')
  return [
    ...found.map((mistake) => ({ path: `${path}.${dotted(mistake.path)}`, message: mistake.message })),
    ...templateContradictions(part.template, `${path}.template`),
    ...(isKnownKind && settingsOf(type) !== undefined ? foreignSettings(type, part, path) : []),
    ...(part.metadata !== undefined && settingsOf(type) === undefined
      ? [{ path: `${path}.metadata`, message: `must be omitted: a step of the type ${type} has no settings` }]
      : []),
    ...sizeMistakes(`${path}.template.data`, part.template.data, dataBytesMax),
    ...(part.skip === undefined ? [] : skipMistakes(part.skip, `${path}.skip`)),
  ]
}

/** The texts of a call are templates too. */
const callMistakes = (metadata: CustomMetadata): Mistake[] =>
  customTexts(metadata).flatMap(({ path, text }) =>
    templateMistakes({ type: 'in_app', subject: text }).map(({ message }) => ({ path, message })),
  )

/** Everywhere else a place in a list is a part of the path like any other. */
const dotted = (path: string): string => path.replaceAll(/\[(\d+)\]/g, '.$1')
