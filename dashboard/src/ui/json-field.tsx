// A JSON object as text, folded away until it is needed; what cannot be read is said and reported, and changes nothing.
import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { Icon } from './icons.tsx'
import { TemplateField } from './template-field.tsx'

type Json = Record<string, unknown>

export function JsonField({
  label,
  hint,
  error: refusal,
  value,
  onValue,
  onValid,
  open = false,
  rows = 8,
}: {
  label: string
  hint?: ReactNode
  /** What is wrong with an object that can be read. */
  error?: string | undefined
  value: Json
  onValue: (value: Json) => void
  /** Whether the text can be read, so that nothing else is saved in its place; a function that stays the same. */
  onValid?: ((isValid: boolean) => void) | undefined
  open?: boolean
  rows?: number
}) {
  const written = JSON.stringify(value, undefined, 2)
  const [text, setText] = useState<string>()
  const [error, setError] = useState<string>()
  const [opened, setOpened] = useState(false)
  const isValid = error === undefined
  useEffect(() => {
    onValid?.(isValid)
    // With the field its text is gone.
    return () => onValid?.(true)
  }, [isValid, onValid])
  const change = (next: string) => {
    setText(next)
    try {
      const parsed: unknown = JSON.parse(next === '' ? '{}' : next)
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
        throw new Error('An object in braces is needed')
      setError(undefined)
      onValue(parsed as Json)
    } catch (fault) {
      setError((fault as Error).message)
    }
  }
  const field = (
    // biome-ignore lint/a11y/noStaticElementInteractions: what was written is put in order once its field is left
    <div onBlur={() => error === undefined && setText(undefined)}>
      <TemplateField
        language="json"
        label={label}
        hint={hint}
        error={error ?? refusal}
        rows={rows}
        value={text ?? written}
        onText={change}
      />
    </div>
  )
  if (open) return field
  return (
    <details
      className="group"
      open={opened || refusal !== undefined}
      onToggle={(event) => setOpened(event.currentTarget.open)}
    >
      <summary className="inline-flex cursor-pointer list-none items-center gap-1 text-xs text-ink-2 hover:text-ink">
        <Icon name="right" size={10} className="transition-transform group-open:rotate-90" />
        {label}
      </summary>
      <div className="mt-2">{field}</div>
    </details>
  )
}
