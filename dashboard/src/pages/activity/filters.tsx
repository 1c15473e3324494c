// The filters of the activity, as chips that can be removed; all of them stand in the address.
import { useState } from 'react'
import { FilterChip } from '../../ui/chip.tsx'
import { Button } from '../../ui/controls.tsx'
import { Icon, nameOfStep } from '../../ui/icons.tsx'
import { exactTime } from '../../ui/time.tsx'
import { useProviderName } from '../integrations/provider-names.ts'
import { useWorkflowName, WorkflowPicker } from '../workflows/workflow-picker.tsx'
import { MoreFilters } from './more-filters.tsx'
import type { ActivitySearch } from './search.ts'

type Severity = 'high' | 'medium' | 'low' | 'none'
type Channel = 'email' | 'sms' | 'push' | 'chat' | 'in_app' | 'digest' | 'delay' | 'throttle' | 'custom'
const stepTypes: readonly Channel[] = [
  'email',
  'in_app',
  'sms',
  'push',
  'chat',
  'digest',
  'delay',
  'throttle',
  'custom',
]
/** A code as words: noIntegration, no integration. */
export const reasonWords = (code: string): string =>
  code.replaceAll('_', ' ').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

export function queryOf(search: ActivitySearch) {
  const { subscriber, workflow, channel, transactionId, topic, email, severity, context, after, before } = search
  const { failed, failedProvider, failedReason } = search
  return {
    ...(subscriber === undefined ? {} : { search: subscriber }),
    ...(workflow === undefined ? {} : { templates: [workflow] }),
    ...(channel === undefined ? {} : { channels: [channel as Channel] }),
    ...(transactionId === undefined ? {} : { transactionId: [transactionId] }),
    ...(topic === undefined ? {} : { topicKey: topic }),
    ...(email === undefined ? {} : { emails: [email] }),
    ...(severity === undefined ? {} : { severity: [severity as Severity] }),
    ...(context === undefined ? {} : { contextKeys: context.split(',').map((one) => one.trim()) }),
    ...(failed === undefined ? {} : { failed: [failed as Channel | 'any'] }),
    ...(failedProvider === undefined ? {} : { failedProviders: [failedProvider] }),
    ...(failedReason === undefined ? {} : { failedReasons: [failedReason] }),
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
  }
}

const hourMs = 3_600_000
const ranges = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const

/** How long ago, as the list of times has it; none of them for another time. */
const rangeOf = (after: string | undefined): string =>
  after === undefined
    ? ''
    : (ranges.find(([hours]) => Math.abs(Date.now() - Date.parse(after) - Number(hours) * hourMs) < 60_000)?.[0] ?? '')

export function Filters({ search, onChange }: { search: ActivitySearch; onChange: (next: ActivitySearch) => void }) {
  const workflowName = useWorkflowName(search.workflow)
  const providerName = useProviderName()
  const [person, setPerson] = useState('')
  const [asking, setAsking] = useState(false)
  const set = (name: string, value: string) => {
    const { [name]: _before, ...rest } = search
    onChange(value === '' ? rest : { ...rest, [name]: value })
  }
  const chips = Object.entries(search).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const words: Record<string, string> = {
    subscriber: 'Person',
    workflow: 'Workflow',
    channel: 'Channel',
    transactionId: 'Transaction',
    topic: 'Topic',
    email: 'E-mail',
    severity: 'Severity',
    context: 'Context',
    failed: 'Failed',
    failedProvider: 'Failed at',
    failedReason: 'Because of',
    after: 'Since',
    before: 'Until',
  }
  const shown = (name: string, value: string): string => {
    if (name === 'workflow') return workflowName ?? value
    if (name === 'after' || name === 'before') return exactTime(value)
    if (name === 'failedReason') return reasonWords(value)
    if (name === 'failedProvider') return providerName(value)
    if (name === 'failed') return value === 'any' ? 'any step' : nameOfStep(value)
    return name === 'channel' ? nameOfStep(value) : value
  }
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <form
          className="relative max-sm:w-full"
          onSubmit={(event) => {
            event.preventDefault()
            set('subscriber', person.trim())
            setPerson('')
          }}
        >
          <Icon name="search" size={14} className="absolute top-2.5 left-2.5 text-ink-3" />
          <input
            aria-label="Person: e-mail or subscriber id"
            placeholder="E-mail or subscriber id"
            value={person}
            onChange={(event) => setPerson(event.target.value)}
            className="field pl-8 sm:w-60"
          />
        </form>
        <WorkflowPicker
          label="Workflow"
          value={search.workflow}
          all="All workflows"
          className="w-56 max-sm:w-full"
          onPick={(workflow) => set('workflow', workflow?._id ?? '')}
        />
        <select
          aria-label="Channel"
          value={search.channel ?? ''}
          onChange={(event) => set('channel', event.target.value)}
          className="field max-w-40 max-sm:max-w-none max-sm:flex-1 max-sm:basis-[45%]"
        >
          <option value="">All channels</option>
          {stepTypes.map((type) => (
            <option key={type} value={type}>
              {nameOfStep(type)}
            </option>
          ))}
        </select>
        <select
          aria-label="Result"
          value={search.failed ?? ''}
          onChange={(event) => set('failed', event.target.value)}
          className="field max-w-40 max-sm:max-w-none max-sm:flex-1 max-sm:basis-[45%]"
        >
          <option value="">All results</option>
          <option value="any">Failed</option>
          {search.failed !== undefined && search.failed !== 'any' && (
            <option value={search.failed}>{nameOfStep(search.failed)} failed</option>
          )}
        </select>
        <select
          aria-label="Time"
          value={rangeOf(search.after)}
          onChange={(event) =>
            set(
              'after',
              event.target.value === '' ? '' : new Date(Date.now() - Number(event.target.value) * hourMs).toISOString(),
            )
          }
          className="field max-w-40 max-sm:max-w-none max-sm:flex-1 max-sm:basis-[45%]"
        >
          {ranges.map(([value, shown]) => (
            <option key={value} value={value}>
              {value === '' && search.after !== undefined && rangeOf(search.after) === '' ? 'Since a time' : shown}
            </option>
          ))}
        </select>
        <Button look="quiet" icon="filter" onClick={() => setAsking(true)}>
          More filters
        </Button>
      </div>
      {asking && (
        <MoreFilters
          search={search}
          onApply={(next) => {
            setAsking(false)
            onChange(next)
          }}
          onClose={() => setAsking(false)}
        />
      )}
      {chips.length > 0 && (
        <div className="flex flex-wrap items-center gap-1.5">
          {chips.map(([name, value]) => (
            <FilterChip
              key={name}
              name={words[name] ?? name}
              value={shown(name, value)}
              onRemove={() => set(name, '')}
            />
          ))}
          <Button look="quiet" onClick={() => onChange({})}>
            Clear
          </Button>
        </div>
      )}
    </div>
  )
}
