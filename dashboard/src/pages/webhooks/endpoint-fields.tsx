// The form of an endpoint: where, which events, of which workflows.
import type { Schemas } from '../../api.ts'
import { ApiError, answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { Choice, IconButton, TextField, Ticks } from '../../ui/controls.tsx'
import { Loading } from '../../ui/page.tsx'
import { identifierOf, useWorkflowName, WorkflowPicker } from '../workflows/workflow-picker.tsx'

export type EndpointInput = Required<Omit<Schemas['CreateWebhookEndpoint'], 'concurrency'>> & { concurrency: number }
type EventType = EndpointInput['eventTypes'][number]

export const emptyEndpoint: EndpointInput = { url: '', description: '', eventTypes: [], workflows: [], concurrency: 10 }
/** Of the service. */
const concurrencyMax = 50

export function EndpointFields({
  fields,
  error,
  onChange,
}: {
  fields: EndpointInput
  error: Error | null
  onChange: (fields: EndpointInput) => void
}) {
  const set = (members: Partial<EndpointInput>) => onChange({ ...fields, ...members })
  const types = useAsk(['webhook-event-types'], () => answerOf(client.GET('/v1/webhook-endpoints/event-types')))
  const errors = error instanceof ApiError ? error.fields : {}
  const eventTypes = types.data?.filter(({ type }) => type !== 'webhook.test') ?? []
  return (
    <>
      <TextField
        label="URL"
        type="url"
        placeholder="https://api.example.com/posthorn"
        hint="Receives POST requests. Answer 2xx within 15 seconds to accept one."
        error={errors.url}
        value={fields.url}
        maxLength={2048}
        autoFocus
        onText={(url) => set({ url })}
      />
      <TextField
        label="Name"
        placeholder="Order service"
        error={errors.description}
        value={fields.description}
        maxLength={1000}
        onText={(description) => set({ description })}
      />
      <Some
        label="Events"
        all="All events"
        some="Only some"
        chosen={fields.eventTypes}
        options={eventTypes.map(({ type, description }) => [type, type, description] as const)}
        isLoading={types.data === undefined}
        onChange={(chosen) => set({ eventTypes: chosen as EventType[] })}
      />
      <SomeWorkflows chosen={fields.workflows} onChange={(chosen) => set({ workflows: chosen })} />
      <TextField
        label="Requests at a time"
        type="number"
        min={1}
        max={concurrencyMax}
        error={errors.concurrency}
        value={String(fields.concurrency)}
        onText={(text) => set({ concurrency: Number(text) })}
        className="max-w-32"
      />
    </>
  )
}

/** Everything, or what is ticked. An empty list means everything to the service. */
function Some({
  label,
  all,
  some,
  chosen,
  options,
  isLoading,
  onChange,
}: {
  label: string
  all: string
  some: string
  chosen: readonly string[]
  options: readonly (readonly [value: string, shown: string, hint?: string])[]
  isLoading: boolean
  onChange: (chosen: string[]) => void
}) {
  const first = options[0]?.[0]
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="text-sm font-medium">{label}</span>
        <Choice
          label={label}
          value={chosen.length === 0 ? 'all' : 'some'}
          options={[
            ['all', all],
            ['some', some],
          ]}
          onChange={(mode) =>
            onChange(mode === 'all' || first === undefined ? [] : chosen.length > 0 ? [...chosen] : [first])
          }
        />
      </div>
      {isLoading && <Loading rows={2} />}
      {chosen.length > 0 && <Ticks label={label} options={options} chosen={chosen} onChange={onChange} />}
    </div>
  )
}

/** All of them, or those that were chosen; an empty list means all to the service. */
function SomeWorkflows({ chosen, onChange }: { chosen: readonly string[]; onChange: (chosen: string[]) => void }) {
  return (
    <div className="flex flex-col gap-2">
      <span className="text-sm font-medium">Workflows</span>
      {chosen.length > 0 && (
        <ul className="rounded-md border border-line">
          {chosen.map((one) => (
            <Chosen key={one} workflow={one} onRemove={() => onChange(chosen.filter((other) => other !== one))} />
          ))}
        </ul>
      )}
      <WorkflowPicker
        label={chosen.length === 0 ? 'Workflows' : 'Another workflow'}
        value={undefined}
        all={chosen.length === 0 ? 'All workflows' : 'Add another'}
        onPick={(one) => one !== undefined && onChange([...new Set([...chosen, identifierOf(one)])])}
      />
    </div>
  )
}

function Chosen({ workflow, onRemove }: { workflow: string; onRemove: () => void }) {
  const name = useWorkflowName(workflow) ?? workflow
  return (
    <li className="flex items-center gap-2 border-b border-line py-1 pr-1 pl-3 last:border-0">
      <span className="min-w-0 flex-1 truncate">{name}</span>
      <IconButton name="cross" label={`Without ${name}`} onClick={onRemove} />
    </li>
  )
}
