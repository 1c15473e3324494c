// The form of an endpoint: where, which events, of which workflows.
import type { Schemas } from '../../api.ts'
import { ApiError, answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { Choice, TextField, Ticks } from '../../ui/controls.tsx'
import { Loading } from '../../ui/page.tsx'

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
  const workflows = useAsk(['workflows', 'names'], () =>
    answerOf(client.GET('/v1/workflows', { params: { query: { limit: 100 } } })),
  )
  const errors = error instanceof ApiError ? error.fields : {}
  const eventTypes = types.data?.filter(({ type }) => type !== 'webhook.test') ?? []
  const known = workflows.data?.data.map((one) => [one.triggers[0]?.identifier ?? one._id, one.name] as const) ?? []
  const missing = fields.workflows.filter((one) => !known.some(([identifier]) => identifier === one))
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
      <Some
        label="Workflows"
        all="All workflows"
        some="Only some"
        chosen={fields.workflows}
        options={[...known, ...missing.map((one) => [one, one] as const)]}
        isLoading={workflows.data === undefined}
        onChange={(chosen) => set({ workflows: chosen })}
      />
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
