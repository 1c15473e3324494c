// The name of an endpoint and its state, as an icon and a word.
import type { Schemas } from '../../api.ts'
import { Badge } from '../../ui/status.tsx'

type Endpoint = Schemas['WebhookEndpoint']

/** What its owner calls it; else where it is. */
export function nameOfEndpoint({ description, url }: Pick<Endpoint, 'description' | 'url'>): string {
  if (description !== '') return description
  return URL.canParse(url) ? new URL(url).host : url
}

export function EndpointState({ of: { state } }: { of: Pick<Endpoint, 'state'> }) {
  if (state === 'disabled')
    return (
      <Badge tone="grey" icon="ban">
        Disabled
      </Badge>
    )
  if (state === 'failing')
    return (
      <Badge tone="red" icon="warning">
        Failing
      </Badge>
    )
  return (
    <Badge tone="green" icon="check">
      Active
    </Badge>
  )
}
