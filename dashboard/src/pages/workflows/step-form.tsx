// The form of a step, made of its schema: what it says, how long it waits, when it applies.
import { useCallback, useRef } from 'react'
import { Toggle } from '../../ui/controls.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { JsonField } from '../../ui/json-field.tsx'
import { MainFields, MoreFields } from './form-sections.tsx'
import { SchemaFields } from './schema-form.tsx'
import type { StepFormProps } from './step-fields.tsx'
import { planOf } from './step-plan.ts'
import { stepSchema } from './step-schemas.ts'
import { Variants } from './variants.tsx'

/** Several fields with text of their own in one form: what is written can be read once all of it can. */
function useValidity(onValid: (isValid: boolean) => void): StepFormProps['validityOf'] {
  const wrong = useRef(new Set<string>())
  const reporters = useRef(new Map<string, (isValid: boolean) => void>())
  return useCallback(
    (name) => {
      const found = reporters.current.get(name)
      if (found !== undefined) return found
      const report = (isValid: boolean) => {
        if (isValid) wrong.current.delete(name)
        else wrong.current.add(name)
        onValid(wrong.current.size === 0)
      }
      reporters.current.set(name, report)
      return report
    },
    [onValid],
  )
}

export function StepForm({
  onValid,
  ...given
}: Omit<StepFormProps, 'validityOf'> & { onValid: (isValid: boolean) => void }) {
  const props = { ...given, validityOf: useValidity(onValid) }
  const { step, mayChange, onChange } = props
  const { type } = step.template
  const fields = planOf(stepSchema, step)
  return (
    <>
      <header className="flex min-h-11 items-center gap-2 border-b border-line px-4">
        <Icon name={iconOfStep(type)} className="text-ink-2" />
        <h2 className="flex-1 font-semibold">{nameOfStep(type)}</h2>
        <Toggle
          label="On"
          checked={step.active}
          disabled={!mayChange}
          onChange={(active) => onChange({ ...step, active })}
        />
      </header>
      <fieldset disabled={!mayChange} className="flex flex-col gap-4 p-4">
        <MainFields {...props} fields={fields} />
        {type === 'digest' && (
          <p className="text-xs text-ink-3">
            Steps after it see <code>{'{{ step.total_count }}'}</code> and{' '}
            <code>{'{% for event in step.events %}'}</code>.
          </p>
        )}
        <MoreFields {...props} fields={fields} />
        {step.metadata !== undefined && (
          <JsonField
            label="All settings, as JSON"
            value={step.metadata}
            onValue={(metadata) => onChange({ ...step, metadata })}
            onValid={props.validityOf('metadata')}
          />
        )}
        {fields
          .filter(({ section }) => section === 'last')
          .map((field) =>
            field.control === 'variants' ? (
              <Variants key="variants" {...props} />
            ) : (
              <SchemaFields key={field.path.join('.')} {...props} fields={[field]} />
            ),
          )}
      </fieldset>
    </>
  )
}
