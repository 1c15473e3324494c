// Ids that exist: names the set-up made, and what answers brought. A request with none of them gets no further than "not found".
import type { Random } from '../test/support/random.ts'

export interface Known {
  idFor(random: Random, name: string): string
  learn(path: string, body: unknown): void
}

/** Of the ids learned for each resource the latest are tried. */
const learnedMax = 40

const given: Readonly<Record<string, readonly string[]>> = {
  subscriber: ['ada', 'grace', 'alan'],
  topic: ['release-notes', 'incidents'],
  workflow: ['plain', 'mail', 'loops', 'waits', 'checked', 'asks'],
  tenant: ['acme', 'globex'],
  layout: ['frame'],
  provider: ['fcm', 'slack', 'twilio', 'sendgrid', 'nodemailer', 'apns'],
  step: ['bell', 'mail-it'],
  context: ['order', 'account'],
  address: ['nobody@example.com'],
  version: ['1', '2'],
  resource: ['workflow', 'layout'],
  locale: ['en', 'fr', 'de-DE'],
}

/** Which resource a parameter, or a path, is about. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/variable/i, 'variable'],
  [/deliver/i, 'delivery'],
  [/endpoint/i, 'endpoint'],
  [/stream/i, 'stream'],
  [/^version$/i, 'version'],
  [/^resourceType$/, 'resource'],
  [/^resourceId$/, 'workflow'],
  [/^locale$|translations/, 'locale'],
  [/environment|application/i, 'application'],
  [/override/i, 'override'],
  [/outbox/i, 'outbox'],
  [/retract|erase|redrive|buried|erasure/i, 'task'],
  [/inbox|^mine$/i, 'mine'],
  [/notifications\/(feed|un)/i, 'message'],
  [/address/i, 'address'],
  [/subscriber|actor|^to$/i, 'subscriber'],
  [/topic/i, 'topic'],
  [/workflow|templates?$|^name$/i, 'workflow'],
  [/tenant|identifier/i, 'tenant'],
  [/layout/i, 'layout'],
  [/provider/i, 'provider'],
  [/step/i, 'step'],
  [/integration/i, 'integration'],
  [/message/i, 'message'],
  [/notification(?!-groups)/i, 'notification'],
  [/transaction|event/i, 'event'],
  [/notification-groups|group/i, 'group'],
  [/feed/i, 'feed'],
  [/context/i, 'context'],
]

const kindOf = (name: string): string | undefined => kinds.find(([pattern]) => pattern.test(name))?.[1]

export function createKnown(): Known {
  const learned = new Map<string, string[]>()
  const all = (): string[] => [...learned.values()].flat()
  const idFor = (random: Random, name: string): string => {
    const kind = kindOf(name)
    const fitting = kind === undefined ? [] : [...(given[kind] ?? []), ...(learned.get(kind) ?? [])]
    if (fitting.length > 0 && random.chance(0.9)) return random.oneOf(fitting)
    const any = [...Object.values(given).flat(), ...all()]
    return random.oneOf(any)
  }
  const add = (kind: string, id: string): void => {
    const ids = learned.get(kind) ?? []
    if (ids.includes(id)) return
    ids.push(id)
    if (ids.length > learnedMax) ids.splice(0, 1)
    learned.set(kind, ids)
  }
  return {
    idFor,
    learn: (path, body) => {
      // The key we call with must not be revoked, nor are keys of interest as ids.
      if (path.includes('api-keys')) return
      // What it is about stands last: /v1/subscribers/ada/notifications/feed.
      const about = path.split('?')[0] ?? ''
      const kind =
        kindOf(
          /inbox|outbox|feed$|unseen$|unread$|retract|erase|redrive|deliver|stream/.test(about)
            ? about
            : (about.split('/')[2] ?? ''),
        ) ?? 'other'
      for (const id of idsIn(body)) add(kind, id)
    },
  }
}

const idNames = ['_id', 'id', 'transactionId', 'workflowId', 'identifier', 'key', 'locale', 'next', 'previous']
const idsPerAnswer = 4

function idsIn(body: unknown): string[] {
  const data = (body as { data?: unknown })?.data
  const items = [body, data, ...(Array.isArray(body) ? body : []), ...(Array.isArray(data) ? data : [])]
  return items
    .slice(0, idsPerAnswer)
    .flatMap((item) => idNames.map((name) => (item as Record<string, unknown> | null | undefined)?.[name]))
    .filter((id): id is string => typeof id === 'string' && id !== '' && id.length < 300)
}
