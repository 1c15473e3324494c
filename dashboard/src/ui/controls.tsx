// What can be pressed and filled in: buttons, fields, switches, tabs.

import * as RadixSwitch from '@radix-ui/react-switch'
import { Link, useLocation } from '@tanstack/react-router'
import type { ButtonHTMLAttributes, InputHTMLAttributes, KeyboardEvent, ReactNode, SelectHTMLAttributes } from 'react'
import { useEffect, useId, useRef } from 'react'
import type { IconName } from './icons.tsx'
import { Icon } from './icons.tsx'

const looks = {
  primary: 'bg-accent text-on-accent hover:bg-accent-2 border-transparent',
  plain: 'bg-bg text-ink border-line-2 hover:bg-bg-3',
  quiet: 'bg-transparent text-ink-2 border-transparent hover:bg-bg-3 hover:text-ink',
  danger: 'bg-bg text-red border-line-2 hover:bg-red-bg',
} as const
export type Look = keyof typeof looks

export const buttonClass = (look: Look, extra = '') =>
  `inline-flex items-center justify-center gap-1.5 h-8 px-3 rounded-md border text-sm font-medium whitespace-nowrap transition-colors duration-100 disabled:opacity-50 ${looks[look]} ${extra}`

export function Button({
  look = 'plain',
  icon,
  busy = false,
  children,
  className = '',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look; icon?: IconName; busy?: boolean }) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || busy}
      aria-busy={busy || undefined}
      className={buttonClass(look, className)}
    >
      {icon !== undefined && <Icon name={busy ? 'clock' : icon} size={14} />}
      {children}
    </button>
  )
}

export function IconButton({
  name,
  label,
  className = '',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { name: IconName; label: string }) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={`inline-flex size-8 items-center justify-center rounded-md text-ink-2 hover:bg-bg-3 hover:text-ink disabled:opacity-40 ${className}`}
    >
      <Icon name={name} />
    </button>
  )
}

export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string
  hint?: ReactNode
  error?: string | undefined
  children: (ids: {
    id: string
    'aria-describedby': string | undefined
    'aria-invalid': boolean | undefined
  }) => ReactNode
}) {
  const id = useId()
  const shown = error ?? hint
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium text-ink">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': shown === undefined ? undefined : `${id}-hint`,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {shown !== undefined && (
        <p id={`${id}-hint`} className={`text-xs ${error === undefined ? 'text-ink-3' : 'text-red'}`}>
          {shown}
        </p>
      )}
    </div>
  )
}

type InputProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & {
  label: string
  hint?: ReactNode
  error?: string | undefined
  onText: (text: string) => void
}

export function TextField({ label, hint, error, onText, className = '', ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <input {...ids} {...rest} className={`field ${className}`} onChange={(event) => onText(event.target.value)} />
      )}
    </Field>
  )
}

export function TextArea({
  label,
  hint,
  error,
  value,
  rows = 4,
  mono = false,
  onText,
  placeholder,
}: {
  label: string
  hint?: ReactNode
  error?: string | undefined
  value: string
  rows?: number
  mono?: boolean
  onText: (text: string) => void
  placeholder?: string
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <textarea
          {...ids}
          value={value}
          rows={rows}
          placeholder={placeholder}
          spellCheck={!mono}
          className={`field ${mono ? 'font-mono text-xs' : ''}`}
          onChange={(event) => onText(event.target.value)}
        />
      )}
    </Field>
  )
}

export function SelectField({
  label,
  hint,
  error,
  options,
  onText,
  ...rest
}: Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> & {
  label: string
  hint?: ReactNode
  error?: string | undefined
  options: readonly (readonly [value: string, shown: string])[]
  onText: (text: string) => void
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <select {...ids} {...rest} className="field" onChange={(event) => onText(event.target.value)}>
          {options.map(([value, shown]) => (
            <option key={value} value={value}>
              {shown}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function Toggle({
  label,
  hint,
  checked,
  disabled,
  onChange,
}: {
  label: string
  hint?: ReactNode
  checked: boolean
  disabled?: boolean
  onChange: (on: boolean) => void
}) {
  const id = useId()
  return (
    <div className="flex items-start gap-3">
      <RadixSwitch.Root
        id={id}
        checked={checked}
        disabled={disabled}
        onCheckedChange={onChange}
        className="relative mt-0.5 h-[18px] w-8 shrink-0 rounded-full bg-line-2 transition-colors data-[state=checked]:bg-accent disabled:opacity-50"
      >
        <RadixSwitch.Thumb className="block size-3.5 translate-x-0.5 rounded-full bg-white transition-transform data-[state=checked]:translate-x-4 dark:data-[state=checked]:bg-on-accent" />
      </RadixSwitch.Root>
      <label htmlFor={id} className="text-sm">
        {label}
        {hint !== undefined && <span className="block text-xs text-ink-3">{hint}</span>}
      </label>
    </div>
  )
}

/** On a narrow screen the chosen one may lie beyond the edge: it is moved into sight, and the page is not. */
function useChosenInSight<Box extends HTMLElement>(chosen: string) {
  const box = useRef<Box>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again when another one is chosen
  useEffect(() => {
    const parent = box.current
    const one = parent?.querySelector<HTMLElement>('[data-status=active], [aria-checked=true]')
    if (parent == null || one == null) return
    const [left, right] = [one.offsetLeft - parent.offsetLeft, one.offsetLeft - parent.offsetLeft + one.offsetWidth]
    if (left < parent.scrollLeft) parent.scrollLeft = left
    else if (right > parent.scrollLeft + parent.clientWidth) parent.scrollLeft = right - parent.clientWidth
  }, [chosen])
  return box
}

/** Pages side by side that are one page: each has an address of its own. */
export function LinkTabs({
  label,
  tabs,
}: {
  label: string
  tabs: readonly {
    to: string
    text: string
    /** Where the address alone does not say it: pages below it may be others' as well. */
    isActive?: boolean
  }[]
}) {
  const box = useChosenInSight<HTMLElement>(`${tabs.map(({ to }) => to).join(' ')} ${useLocation().pathname}`)
  return (
    <nav ref={box} aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(({ to, text, isActive }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true, includeSearch: false }}
          {...(isActive === true ? { 'data-status': 'active', 'aria-current': 'page' } : {})}
          className="-mb-px border-b-2 border-transparent px-3 py-2 text-sm whitespace-nowrap text-ink-2 hover:text-ink data-[status=active]:border-accent data-[status=active]:font-medium data-[status=active]:text-ink"
        >
          {text}
        </Link>
      ))}
    </nav>
  )
}

/** One of a few, where the choice changes what is shown beside it. */
export function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string
  value: Value
  options: readonly (readonly [value: Value, shown: string])[]
  onChange: (value: Value) => void
}) {
  const at = options.findIndex(([one]) => one === value)
  const box = useChosenInSight<HTMLDivElement>(value)
  const step = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const place = (Math.max(0, at) + by + options.length) % options.length
    const next = options[place]
    if (next !== undefined) onChange(next[0])
    event.currentTarget.querySelectorAll<HTMLElement>('[role=radio]')[place]?.focus()
  }
  return (
    <div
      ref={box}
      role="radiogroup"
      aria-label={label}
      onKeyDown={step}
      className="inline-flex max-w-full self-start overflow-x-auto rounded-md border border-line bg-bg-2 p-0.5"
    >
      {options.map(([one, shown], place) => (
        // biome-ignore lint/a11y/useSemanticElements: a button looks and behaves the same everywhere; its role says the rest
        <button
          key={one}
          type="button"
          role="radio"
          aria-checked={one === value}
          // One stop for the whole group; the arrows move within it.
          tabIndex={place === Math.max(0, at) ? 0 : -1}
          onClick={() => onChange(one)}
          className={`rounded px-2.5 py-1 text-xs whitespace-nowrap ${one === value ? 'bg-bg font-medium text-ink shadow-sm dark:bg-bg-3' : 'text-ink-2 hover:text-ink'}`}
        >
          {shown}
        </button>
      ))}
    </div>
  )
}

/** Several of many, each with what it means. */
export function Ticks({
  label,
  options,
  chosen,
  onChange,
}: {
  label: string
  options: readonly (readonly [value: string, shown: string, hint?: string])[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}) {
  return (
    <fieldset className="max-h-56 overflow-y-auto rounded-md border border-line">
      <legend className="sr-only">{label}</legend>
      {options.map(([value, shown, hint]) => (
        <label
          key={value}
          className="flex items-start gap-2.5 border-b border-line px-3 py-2 last:border-0 hover:bg-bg-2"
        >
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
            }
            className="mt-0.5 size-4 shrink-0 accent-(--accent)"
          />
          <span className="min-w-0">
            {shown}
            {hint !== undefined && <span className="block text-xs text-ink-3">{hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}
