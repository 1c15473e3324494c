// A notification as the call that would trigger it again.
import type { Schemas } from '../../api.ts'
import { basePath } from '../../api.ts'

export const serviceUrl = `${location.origin}${basePath.replace(/\/$/, '')}`

/** Safe within single quotes of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

export function curlOf(detail: Schemas['ActivityDetail']): string {
  const body = {
    name: detail.template.triggers[0]?.identifier ?? detail.template.name,
    to: detail.subscriber?.subscriberId ?? detail.to,
    payload: detail.payload,
  }
  return `curl ${serviceUrl}/v1/events/trigger \\\n  -H "Authorization: ApiKey $POSTHORN_KEY" \\\n  --json ${quoted(JSON.stringify(body, undefined, 2))}`
}
