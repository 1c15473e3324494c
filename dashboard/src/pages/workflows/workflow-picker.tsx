// Chooses one of any number of workflows: the service is asked for those that fit what is typed.
import { Command } from 'cmdk'
import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { Icon } from '../../ui/icons.tsx'
import { Loading } from '../../ui/page.tsx'

type Workflow = Schemas['Workflow']
/** As many as are read at a glance; typing narrows them down. */
const shownMax = 20

export const identifierOf = (workflow: Workflow): string => workflow.triggers[0]?.identifier ?? workflow._id

/** The newest, or those with a name or an identifier like what was typed. */
export const useWorkflows = (text: string, { enabled = true }: { enabled?: boolean } = {}) => {
  const query = text.trim()
  return useAsk(
    ['workflows', 'found', query],
    () =>
      answerOf(
        client.GET('/v1/workflows', {
          params: { query: { limit: shownMax, ...(query === '' ? {} : { query }) } },
        }),
      ),
    { keeps: true, enabled },
  )
}

/** Of one workflow, by its id or its identifier; what was deleted has none. */
export function useWorkflowName(id: string | undefined): string | undefined {
  const found = useAsk(
    ['workflows', 'name', id],
    () =>
      answerOf(client.GET('/v1/workflows/{workflowId}', { params: { path: { workflowId: id ?? '' } } })).then(
        ({ name }) => name,
        () => id ?? '',
      ),
    { enabled: id !== undefined },
  )
  return found.data ?? id
}

export function WorkflowPicker({
  label,
  value,
  all,
  className = '',
  onPick,
}: {
  label: string
  /** The id or the identifier of the chosen one. */
  value: string | undefined
  /** What it is called to choose none; without it one must be chosen. */
  all?: string
  className?: string
  onPick: (workflow: Workflow | undefined) => void
}) {
  const [isOpen, setOpen] = useState(false)
  const name = useWorkflowName(value)
  const shown = name ?? all ?? 'Choose a workflow'
  const button = useRef<HTMLButtonElement>(null)
  const pick = (workflow: Workflow | undefined) => {
    setOpen(false)
    button.current?.focus()
    onPick(workflow)
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
        <span className={`min-w-0 flex-1 truncate ${value === undefined && all === undefined ? 'text-ink-3' : ''}`}>
          {shown}
        </span>
        <Icon name="down" size={10} className="text-ink-2" />
      </button>
      {isOpen && <Choices label={label} all={all} onPick={pick} />}
    </div>
  )
}

function Choices({
  label,
  all,
  onPick,
}: {
  label: string
  all: string | undefined
  onPick: (workflow: Workflow | undefined) => void
}) {
  const [text, setText] = useState('')
  const found = useWorkflows(text)
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
            placeholder="Search by name"
            className="h-9 min-w-0 flex-1 bg-transparent outline-none placeholder:text-ink-3"
          />
        </div>
        <Command.List className="max-h-64 overflow-y-auto p-1">
          {found.data === undefined && <Loading rows={3} />}
          {found.data !== undefined && (
            <Command.Empty className="px-2 py-3 text-ink-2">No workflow has this name.</Command.Empty>
          )}
          {all !== undefined && text === '' && (
            <Command.Item value="all" onSelect={() => onPick(undefined)} className={entry}>
              {all}
            </Command.Item>
          )}
          {found.data?.data.map((one) => (
            <Command.Item key={one._id} value={one._id} onSelect={() => onPick(one)} className={entry}>
              <span className="block truncate">{one.name}</span>
            </Command.Item>
          ))}
        </Command.List>
        {found.data?.hasMore === true && (
          <p className="border-t border-line px-3 py-1.5 text-xs text-ink-3">
            There are more: type a part of the name.
          </p>
        )}
      </Command>
    </div>
  )
}
