// Variants of a step: other words for those whom a condition fits. The first that fits is used.
import { Button, IconButton, TextField, Toggle } from '../../ui/controls.tsx'
import type { EarlierStep } from './condition-parts.ts'
import { Conditions } from './conditions.tsx'
import type { DraftStep, Json } from './draft.ts'
import { newKey } from './draft.ts'
import { EmailForm } from './email-form.tsx'
import type { StepFormProps } from './step-fields.tsx'
import { TextForm } from './text-form.tsx'

interface Variant {
  /** Kept while it is edited, and not saved; a draft of an earlier version of this page has none. */
  readonly key?: string
  readonly name?: string
  readonly active?: boolean
  readonly template: DraftStep['template']
  readonly filters?: readonly Json[]
}

export function Variants(props: StepFormProps & { earlier: readonly EarlierStep[] }) {
  const { step, onChange } = props
  const variants = (step.rest.variants ?? []) as readonly Variant[]
  const put = (next: readonly Variant[]) => onChange({ ...step, rest: { ...step.rest, variants: next } })
  const add = () => {
    const { type, ...template } = step.template
    put([
      ...variants,
      {
        key: newKey(),
        name: `Variant ${variants.length + 1}`,
        active: true,
        template: { type, ...template },
        filters: [
          {
            isNegated: false,
            type: 'GROUP',
            value: 'AND',
            children: [{ on: 'payload', field: '', operator: 'EQUAL', value: '' }],
          },
        ],
      },
    ])
  }
  return (
    <section aria-label="Variants" className="flex flex-col gap-2 border-t border-line pt-4">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-medium">Variants</h3>
        <Button icon="plus" onClick={add}>
          Variant
        </Button>
      </div>
      {variants.length === 0 && <p className="text-ink-2">Other words for some people, such as those of one plan.</p>}
      {variants.map((variant, index) => (
        <OneVariant
          key={variant.key ?? index}
          {...props}
          variant={variant}
          index={index}
          onVariant={(next) => put(next === undefined ? variants.toSpliced(index, 1) : variants.with(index, next))}
        />
      ))}
    </section>
  )
}

function OneVariant({
  variant,
  index,
  onVariant,
  ...props
}: StepFormProps & {
  earlier: readonly EarlierStep[]
  variant: Variant
  index: number
  onVariant: (next: Variant | undefined) => void
}) {
  const name = variant.name ?? `Variant ${index + 1}`
  const prefix = `variants.${index}.`
  // The forms of a step serve its variants too: they see one as a step with its template.
  const inner: StepFormProps = {
    ...props,
    step: { ...props.step, template: variant.template },
    errors: Object.fromEntries(
      Object.entries(props.errors).map(([field, error]) => [field.replace(prefix, ''), error]),
    ),
    onChange: ({ template }) => onVariant({ ...variant, template }),
  }
  return (
    <details className="rounded-md border border-line" open={index === 0}>
      <summary className="flex cursor-pointer items-center gap-2 px-3 py-2 font-medium">
        <span className="min-w-0 flex-1 truncate">{name}</span>
        <IconButton
          name="trash"
          label={`Remove ${name}`}
          onClick={(event) => {
            event.preventDefault()
            onVariant(undefined)
          }}
        />
      </summary>
      <div className="flex flex-col gap-4 border-t border-line p-3">
        <div className="flex flex-wrap items-end gap-4">
          <div className="min-w-40 flex-1">
            <TextField
              label="Name of the variant"
              value={variant.name ?? ''}
              maxLength={255}
              onText={(next) => onVariant({ ...variant, name: next })}
            />
          </div>
          <Toggle
            label="On"
            checked={variant.active !== false}
            onChange={(active) => onVariant({ ...variant, active })}
          />
        </div>
        {variant.template.type === 'email' ? <EmailForm {...inner} /> : <TextForm {...inner} />}
        <Conditions
          title={`Conditions of ${name}`}
          filters={variant.filters ?? []}
          earlier={props.earlier}
          onChange={(filters) => onVariant({ ...variant, filters })}
        />
      </div>
    </details>
  )
}
