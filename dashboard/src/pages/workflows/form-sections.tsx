// The fields of a step in their sections: what most people set, and what few need.
import { Folded } from '../../ui/folded.tsx'
import type { DraftStep } from './draft-step.ts'
import { SchemaFields } from './schema-form.tsx'
import type { StepFormProps } from './step-fields.tsx'
import { errorWithin } from './step-fields.tsx'
import type { FormField } from './step-plan.ts'
import { valueAt } from './step-values.ts'

type Fields = StepFormProps & { readonly fields: readonly FormField[] }

export const MainFields = ({ fields, ...props }: Fields) => (
  <SchemaFields {...props} fields={fields.filter(({ section }) => section === 'main')} />
)

export function MoreFields({ fields, ...props }: Fields) {
  const more = fields.filter(({ section }) => section === 'more')
  if (more.length === 0) return null
  const isWrong = more.some(({ path }) => errorWithin(props, path.join('.')) !== undefined)
  const given = more.filter(({ path }) => isGiven(props.step, valueAt(props.step, path))).length
  return (
    <Folded label={given === 0 ? 'More settings' : `More settings, ${given} in use`} isOpen={isWrong}>
      {() => <SchemaFields {...props} fields={more} />}
    </Folded>
  )
}

/** What a step has without anyone having set it says nothing: false, an empty list, its own id. */
function isGiven(step: DraftStep, value: unknown): boolean {
  if (value === step._id) return false
  if (value === undefined || value === null || value === false || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}
