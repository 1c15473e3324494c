// What the forms of all steps share.
import { createContext, useContext } from 'react'
import type { EarlierStep } from './condition-parts.ts'
import type { DraftStep } from './draft-step.ts'
import { violationOf } from './schema.ts'
import type { FormField } from './step-plan.ts'
import { valueAt } from './step-values.ts'

export interface StepFormProps {
  readonly step: DraftStep
  /** As it was last saved; undefined when it never was. */
  readonly saved: DraftStep | undefined
  readonly place: number
  readonly earlier: readonly EarlierStep[]
  readonly errors: Readonly<Record<string, string>>
  readonly mayChange: boolean
  onChange: (step: DraftStep) => void
  /** Whether what is written in a field of this name can be read; for each name a function that stays the same. */
  validityOf: (name: string) => (isValid: boolean) => void
}

export interface FieldProps extends StepFormProps {
  readonly field: FormField
}

type Errors = Pick<StepFormProps, 'errors' | 'place'>

/** The server's own sentence for a field, however it writes the place of the step; without the path that it begins with. */
export const errorAt = ({ errors, place }: Errors, path: string): string | undefined =>
  [`steps.${place}.${path}`, `steps[${place}].${path}`].flatMap((name) => sentenceOf(name, errors[name]))[0]

/** The first for a field or for anything that it holds. */
export function errorWithin(props: Errors, path: string): string | undefined {
  const starts = [`steps.${props.place}.${path}.`, `steps[${props.place}].${path}.`]
  const inner = Object.keys(props.errors).find((name) => starts.some((start) => name.startsWith(start)))
  return errorAt(props, path) ?? (inner === undefined ? undefined : sentenceOf(inner, props.errors[inner])[0])
}

function sentenceOf(name: string, message: string | undefined): string[] {
  if (message === undefined) return []
  const words = message.replaceAll(`${name} `, '')
  return [words.charAt(0).toUpperCase() + words.slice(1)]
}

/** What the service said of it, or else what its schema says. */
export function faultOf(props: FieldProps): string | undefined {
  const { field, step } = props
  const path = field.path.join('.')
  const value = valueAt(step, field.path)
  const isMissing = field.isRequired && value === undefined && isBegun(props)
  return errorWithin(props, path) ?? violationOf(field.schema, value) ?? (isMissing ? 'Is required' : undefined)
}

/** Of an object that is left out, nothing is missing; nor of content that is still to be written. */
const isBegun = ({ field: { path }, step }: FieldProps): boolean =>
  path.length > 2 && valueAt(step, path.slice(0, -1)) !== undefined

export const Variables = () => (
  <>
    Liquid: <code>{'{{ subscriber.firstName }}'}</code>, <code>{'{{ payload.order.id }}'}</code>,{' '}
    <code>{'{% if … %}'}</code>
  </>
)

/** What completion offers: what every template has, and what the sample payload holds. */
export const VariablesContext = createContext<readonly string[]>([])
export const useVariables = (): readonly string[] => useContext(VariablesContext)
