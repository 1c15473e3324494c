// What the forms of all steps share.
import { createContext, useContext } from 'react'
import type { DraftStep } from './draft.ts'

export interface StepFormProps {
  readonly step: DraftStep
  readonly place: number
  readonly errors: Readonly<Record<string, string>>
  readonly mayChange: boolean
  onChange: (step: DraftStep) => void
  /** Whether all that is written in the form can be read. */
  onValid?: (isValid: boolean) => void
}

/** The server's own sentence for a field, however it writes the place of the step. */
export const errorAt = ({ errors, place }: Pick<StepFormProps, 'errors' | 'place'>, path: string): string | undefined =>
  errors[`steps.${place}.${path}`] ?? errors[`steps[${place}].${path}`]

export const Variables = () => (
  <>
    Liquid: <code>{'{{ subscriber.firstName }}'}</code>, <code>{'{{ payload.order.id }}'}</code>,{' '}
    <code>{'{% if … %}'}</code>
  </>
)

/** What completion offers: what every template has, and what the sample payload holds. */
export const VariablesContext = createContext<readonly string[]>([])
export const useVariables = (): readonly string[] => useContext(VariablesContext)
