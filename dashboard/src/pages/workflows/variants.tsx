// Variants of a step: other words for those whom a condition fits. The first that fits is used.
import { Button, IconButton, TextField, Toggle } from '../../ui/controls.tsx'
import { Conditions } from './conditions.tsx'
import type { DraftStep, Json } from './draft.ts'
import { newKey } from './draft.ts'
import { MainFields, MoreFields } from './form-sections.tsx'
import type { StepFormProps } from './step-fields.tsx'
import { errorAt } from './step-fields.tsx'
import { planOf } from './step-plan.ts'
import { stepSchema } from './step-schemas.ts'

/** Of a variant: its name and its switch stand above, its conditions below; no other step asks for it by an id. */
const elsewhere = ['name', 'filters', 'variants', 'uuid']

interface Variant {
  /** Kept while it is edited, and not saved; a draft of an earlier version of this page has none. */
  readonly key?: string
  readonly name?: string
  readonly active?: boolean
  readonly template: DraftStep['template']
  readonly filters?: readonly Json[]
  /** What a step has as well. */
  readonly [member: string]: unknown
}

export function Variants(props: StepFormProps) {
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
  variant: Variant
  index: number
  onVariant: (next: Variant | undefined) => void
}) {
  const name = variant.name ?? `Variant ${index + 1}`
  const prefix = `variants.${index}.`
  // The forms of a step serve its variants too: they see one as a step.
  const asStep = ({
    template,
    filters = [],
    key: _key,
    name: _name,
    active: _active,
    ...rest
  }: Variant): DraftStep => ({ key: props.step.key, name, active: true, template, filters, rest })
  const savedVariants = (props.saved?.rest.variants ?? []) as readonly Variant[]
  const saved = savedVariants.find(({ _id }) => _id !== undefined && _id === variant._id)
  const step = asStep(variant)
  const inner: StepFormProps = {
    ...props,
    step,
    saved: saved && asStep(saved),
    errors: Object.fromEntries(
      Object.entries(props.errors).flatMap(([field, error]) =>
        field.includes(prefix) ? [[field.replace(prefix, ''), error.replaceAll(prefix, '')]] : [],
      ),
    ),
    validityOf: (field) => props.validityOf(`${prefix}${field}`),
    onChange: ({ template: content, rest: others }) => {
      const own = Object.fromEntries(Object.keys(step.rest).map((member) => [member, undefined]))
      onVariant({ ...variant, ...own, ...others, template: content })
    },
  }
  const fields = planOf(stepSchema, inner.step).filter(({ path }) => !elsewhere.includes(path[0] ?? ''))
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
        <MainFields {...inner} fields={fields} />
        <MoreFields {...inner} fields={fields} />
        <Conditions
          title={`Conditions of ${name}`}
          filters={step.filters}
          earlier={props.earlier}
          errorOf={(at) => errorAt(inner, `filters.${at}`)}
          onChange={(next) => onVariant({ ...variant, filters: next })}
        />
      </div>
    </details>
  )
}
