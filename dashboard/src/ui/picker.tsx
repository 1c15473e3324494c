// Chooses one of any number: the service is asked for those that fit what is typed.
import { Command } from 'cmdk'
import { useEffect, useRef, useState } from 'react'
import { Icon } from './icons.tsx'
import { Loading } from './page.tsx'

export interface Pickable {
  readonly id: string
  readonly name: string
  readonly hint?: string | undefined
}

interface Found<Item> {
  readonly items: readonly Item[]
  readonly hasMore: boolean
}

interface PickerProps<Item extends Pickable> {
  readonly label: string
  /** The name of the chosen one, or what stands in its place. */
  readonly shown: string
  readonly isChosen: boolean
  /** What it is called to choose none; without it one must be chosen. */
  readonly all?: string | undefined
  readonly placeholder: string
  readonly none: string
  readonly className?: string
  /** A hook: the newest, or those that fit the text. */
  readonly useFound: (text: string) => Found<Item> | undefined
  readonly onPick: (item: Item | undefined) => void
}

export function Picker<Item extends Pickable>({ className = '', ...props }: PickerProps<Item>) {
  const { label, shown, isChosen, all, onPick } = props
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const pick = (item: Item | undefined) => {
    setOpen(false)
    button.current?.focus()
    onPick(item)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it closes when the focus leaves it, or by Escape
    <div
      className={`relative ${className}`}
      onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && setOpen(false)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return
        event.preventDefault()
        event.stopPropagation()
        setOpen(false)
        button.current?.focus()
      }}
    >
      <button
        ref={button}
        type="button"
        aria-label={`${label}: ${shown}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="field flex items-center gap-2 text-left"
      >
        <span className={`min-w-0 flex-1 truncate ${!isChosen && all === undefined ? 'text-ink-3' : ''}`}>{shown}</span>
        <Icon name="down" size={10} className="text-ink-2" />
      </button>
      {isOpen && <Choices {...props} onPick={pick} />}
    </div>
  )
}

function Choices<Item extends Pickable>({ label, all, placeholder, none, useFound, onPick }: PickerProps<Item>) {
  const [text, setText] = useState('')
  const found = useFound(text)
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => {
    panel.current?.querySelector('input')?.focus()
    // In a dialog the list may lie below what is seen of it.
    panel.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const entry = 'cursor-pointer rounded px-2 py-1.5 data-[selected=true]:bg-bg-3'
  return (
    <div ref={panel} className="card absolute top-full left-0 z-20 mt-1 w-full min-w-64 overflow-hidden shadow-lg">
      <Command label={label} shouldFilter={false} loop>
        <div className="flex items-center gap-2 border-b border-line px-3">
          <Icon name="search" size={14} className="text-ink-3" />
          <Command.Input
            value={text}
            onValueChange={setText}
            placeholder={placeholder}
            className="h-9 min-w-0 flex-1 bg-transparent outline-none placeholder:text-ink-3"
          />
        </div>
        <Command.List className="max-h-64 overflow-y-auto p-1">
          {found === undefined && <Loading rows={3} />}
          {found !== undefined && <Command.Empty className="px-2 py-3 text-ink-2">{none}</Command.Empty>}
          {all !== undefined && text === '' && (
            <Command.Item value="all" onSelect={() => onPick(undefined)} className={entry}>
              {all}
            </Command.Item>
          )}
          {found?.items.map((one) => (
            <Command.Item key={one.id} value={one.id} onSelect={() => onPick(one)} className={entry}>
              <span className="block truncate">{one.name}</span>
              {one.hint !== undefined && <span className="block truncate text-xs text-ink-3">{one.hint}</span>}
            </Command.Item>
          ))}
        </Command.List>
        {found?.hasMore === true && (
          <p className="border-t border-line px-3 py-1.5 text-xs text-ink-3">
            There are more: type a part of the name.
          </p>
        )}
      </Command>
    </div>
  )
}
