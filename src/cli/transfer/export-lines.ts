// What an environment has, as JSON lines: configuration and people. Secrets are only in it if they are asked for.
import { hiddenSecret } from '../../domain/delivery/hidden-secrets.ts'
import type { Credentials } from '../../domain/delivery/integration.ts'
import { defaultIdentifier } from '../../domain/people/topic.ts'
import { callWithoutSecrets } from '../../domain/workflows/shown-secrets.ts'
import { openCredentials } from '../../providers/form.ts'
import { providerOf } from '../../providers/registry.ts'
import { exported } from '../workflows/remote-configuration.ts'
import { subscriptionPreferencesIn } from './novu-things.ts'
import type { Left } from './report.ts'
import { choicesOf, workflowNames } from './sink-people.ts'
import type { Target, Thing } from './target.ts'
import { allOf, cursorPages, numberedItems, only, subscriberMembers } from './target.ts'

/** The first line says what the file is. */
export const exportFormat = 'posthorn-export-1'

export type ExportKind =
  | 'setting'
  | 'variable'
  | 'integration'
  | 'feed'
  | 'layout'
  | 'translation'
  | 'workflow'
  | 'group'
  | 'tenant'
  | 'override'
  | 'context'
  | 'endpoint'
  | 'subscriber'
  | 'topic'
  | 'subscription'
  | 'suppression'

export interface ExportLine {
  readonly kind: ExportKind
  readonly value: Thing
}

export interface ExportOptions {
  readonly people: boolean
  readonly secrets: boolean
  /** What is not in the file. */
  left(items: readonly Left[]): Promise<void>
}

interface Carried {
  readonly value: Thing
  readonly left: readonly Left[]
}

const whole = (value: Thing): Carried => ({ value, left: [] })

/** In an order that does not depend on when things were created: two exports can be compared. */
export async function* exportLines(target: Target, options: ExportOptions): AsyncGenerator<ExportLine> {
  async function* lines(kind: ExportKind, all: AsyncIterable<Carried> | Iterable<Carried>): AsyncGenerator<ExportLine> {
    for await (const { value, left } of all) {
      await options.left(left)
      yield { kind, value }
    }
  }
  const { read } = target
  const integrations = (await read<Thing[]>('/v1/integrations')).filter(isOwn)
  yield* lines('setting', [
    whole({ configurations: (await read<Thing>('/v1/environments/me', { secrets: 'false' }))['configurations'] }),
  ])
  yield* lines('variable', (await read<Thing[]>('/v1/environment-variables')).map(variableLine))
  yield* lines(
    'integration',
    sorted(integrations, 'identifier').map((one) => integrationLine(one, options.secrets)),
  )
  const { feeds, layouts, translations, workflows } = await exported(target.client)
  yield* lines('feed', sorted(feeds.map(copied), 'identifier').map(whole))
  yield* lines('layout', sorted(layouts.map(copied), 'identifier').map(whole))
  yield* lines('translation', sorted(translations.map(copied), 'locale').map(whole))
  yield* lines(
    'workflow',
    sorted(workflows.map(copied), 'workflowId').map((one) => (options.secrets ? whole(one) : workflowLine(one))),
  )
  yield* lines('group', await groupLines(target))
  yield* lines(
    'tenant',
    (await collected(target, '/v1/tenants', 'identifier')).map((one) =>
      whole(only(one, ['identifier', 'name', 'data'])),
    ),
  )
  yield* lines('override', (await collected(target, '/v1/workflow-overrides', '_id')).map(overrideLine).sort(byText))
  yield* lines(
    'context',
    (await allOf(read, '/v2/contexts')).map((one) => whole(only(one, ['type', 'id', 'data']))),
  )
  yield* lines('endpoint', await endpointLines(target))
  if (!options.people) return
  yield* lines('subscriber', subscriberLines(target, new Set(integrations.map(({ identifier }) => identifier))))
  yield* topicLines(target, options)
  yield* lines('suppression', suppressionLines(target))
}

const copied = (one: object): Thing => ({ ...one })
const sorted = (all: readonly Thing[], name: string): Thing[] =>
  [...all].sort((one, other) => (String(one[name]) < String(other[name]) ? -1 : 1))
const byText = (one: Carried, other: Carried): number =>
  JSON.stringify(one.value) < JSON.stringify(other.value) ? -1 : 1

async function collected({ read }: Target, path: string, name: string): Promise<Thing[]> {
  const all: Thing[] = []
  for await (const one of numberedItems(read, path)) all.push(one)
  return sorted(all, name)
}

/** The built-in ones are in every environment. */
const isOwn = ({ providerId, channel }: Thing): boolean =>
  !/^(platform|novu)(-|$)/.test(String(providerId)) && channel !== 'in_app'

function variableLine({ key, isSecret, values }: Thing): Carried {
  if (isSecret !== true) return whole({ key, isSecret, value: (values as readonly Thing[])[0]?.['value'] })
  const reason = 'Its value is secret and is never shown; it is exported without.'
  return { value: { key, isSecret }, left: [{ kind: 'variable', id: String(key), reason }] }
}

/** Without its secrets it could not send, so whether it is active is not in the line either. */
function integrationLine(source: Thing, secrets: boolean): Carried {
  const { credentials = {}, configurations, active, primary } = source
  const { inboundWebhookSigningKey, ...open } = (configurations ?? {}) as Thing
  const named = { kind: 'integration', id: String(source['identifier']) }
  const value = only(source, ['providerId', 'channel', 'name', 'identifier'])
  const conditions = listed(source['conditions']).length > 0 ? { conditions: source['conditions'] } : {}
  const isShown = !JSON.stringify([credentials, inboundWebhookSigningKey]).includes(JSON.stringify(hiddenSecret))
  if (secrets && isShown) {
    const state = { active, ...(primary === true ? { primary } : {}) }
    return whole({ ...value, ...filled({ credentials, configurations }), ...conditions, ...state })
  }
  const shown = openCredentials(providerOf(String(source['providerId']))?.form ?? {}, credentials as Credentials)
  const hidden = Object.keys(credentials as Thing).filter((name) => !(name in shown))
  const names = [...hidden, ...(inboundWebhookSigningKey === undefined ? [] : ['inboundWebhookSigningKey'])]
  const why = secrets ? 'The service shows no secrets' : 'Secrets are not exported'
  const reason = `${why}: ${names.join(', ') || 'none'}; it is imported inactive.`
  return {
    value: { ...value, ...filled({ credentials: shown, configurations: open }), ...conditions },
    left: [{ ...named, reason }],
  }
}

const listed = (value: unknown): readonly Thing[] => (Array.isArray(value) ? value : [])
const filled = (members: Thing): Thing =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => Object.keys((value ?? {}) as Thing).length > 0))

/** Header values of custom steps, and the queries of addresses. */
function workflowLine(workflow: Thing): Carried {
  const steps = withoutSecrets(workflow['steps'])
  if (JSON.stringify(steps) === JSON.stringify(workflow['steps']) && !JSON.stringify(steps).includes('[redacted]'))
    return whole(workflow)
  const reason = 'Exported as a draft: header values of its custom steps, and queries of its URLs, are [redacted].'
  const left = [{ kind: 'workflow', id: String(workflow['workflowId']), reason }]
  return { value: { ...workflow, active: false, steps }, left }
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => {
    const isCall =
      (name === 'metadata' && member?.type === 'http') || (name === 'replyCallback' && member?.url !== undefined)
    return [name, isCall ? { ...member, ...callWithoutSecrets(member) } : withoutSecrets(member)]
  })
  const whole = Object.fromEntries(members)
  return whole.on === 'webhook' ? { ...whole, webhookUrl: callWithoutSecrets({ url: whole.webhookUrl }).url } : whole
}

/** Groups that are not the default one, with their workflows. */
async function groupLines({ read }: Target): Promise<Carried[]> {
  const groups = new Map<string, string[]>()
  for await (const { name } of numberedItems(read, '/v1/notification-groups')) {
    if (name !== 'General') groups.set(String(name), [])
  }
  if (groups.size === 0) return []
  for await (const { notificationGroup, triggers } of numberedItems(read, '/v1/workflows')) {
    const identifier = listed(triggers)[0]?.['identifier']
    groups.get(String((notificationGroup as Thing | undefined)?.['name']))?.push(String(identifier))
  }
  return [...groups].map(([name, workflows]) => whole({ name, workflows: workflows.sort() })).sort(byText)
}

const overrideLine = (one: Thing): Carried => {
  const { workflowIdentifier: workflowId, tenantIdentifier: tenantId } = one
  return whole({ workflowId, tenantId, ...only(one, ['active', 'preferenceSettings']) })
}

/** Only full keys see the path of a URL. */
async function endpointLines(target: Target): Promise<Carried[]> {
  const all = await allOf(target.read, '/v1/webhook-endpoints')
  if (all.length === 0) return []
  const names = await workflowNames(target)
  return all
    .map((one): Carried => {
      const workflows = (one['workflows'] as readonly string[]).map((id) => names.get(id) ?? id)
      const value = { ...only(one, ['url', 'description', 'eventTypes', 'concurrency']), workflows }
      const reason = 'Its signing secret is never exported: it gets a new one.'
      const left = [{ kind: 'endpoint', id: new URL(String(one['url'])).origin, reason }]
      return { value: { ...value, enabled: one['state'] !== 'disabled' }, left }
    })
    .sort(byText)
}

async function* subscriberLines(target: Target, integrations: ReadonlySet<unknown>): AsyncGenerator<Carried> {
  const names = await workflowNames(target)
  const now = new Date().toISOString()
  const query = { orderBy: 'subscriberId', preferences: 'true' }
  for await (const { data } of cursorPages(target.read, '/v2/subscribers', query)) {
    for (const one of data) {
      const { channels, left } = channelsOf(one, integrations)
      const chosen = choicesOf(withoutPast(one['preferences'] as Thing | undefined, now), names)
      const value = { ...only(one, subscriberMembers), ...(channels.length === 0 ? {} : { channels }) }
      yield { value: chosen === undefined ? value : { ...value, preferences: chosen }, left }
    }
  }
}

/** A time that is over disturbs no one, and could not be set again. */
function withoutPast(stored: Thing | undefined, now: string): Thing | undefined {
  const { doNotDisturbUntil, ...rest } = stored ?? {}
  if (stored === undefined || (typeof doNotDisturbUntil === 'string' && doNotDisturbUntil > now)) return stored
  return rest
}

/** Device tokens and chat addresses: only full keys see them. */
function channelsOf(source: Thing, integrations: ReadonlySet<unknown>): { channels: Thing[]; left: readonly Left[] } {
  const all = listed(source['channels'])
  const shown = all.filter(({ credentials }) => Object.keys((credentials ?? {}) as Thing).length > 0)
  const channels = shown.map(({ providerId, integrationIdentifier: identifier, credentials }) => ({
    providerId,
    ...(integrations.has(identifier) ? { integrationIdentifier: identifier } : {}),
    credentials,
  }))
  if (shown.length === all.length) return { channels, left: [] }
  const reason = 'Its channels are not exported: only keys with the scope full see them.'
  return { channels, left: [{ kind: 'subscriber', id: String(source['subscriberId']), reason }] }
}

async function* topicLines(target: Target, { left }: ExportOptions): AsyncGenerator<ExportLine> {
  for await (const { data: topics } of cursorPages(target.read, '/v2/topics', { orderBy: 'key' })) {
    for (const { key, name } of topics) {
      const topicKey = String(key)
      yield { kind: 'topic', value: { key, ...(name ? { name } : {}) } }
      for await (const { data } of cursorPages(
        target.read,
        `/v2/topics/${encodeURIComponent(topicKey)}/subscriptions`,
      )) {
        for (const one of data) {
          const { subscriberId } = (one['subscriber'] ?? {}) as { subscriberId?: string }
          if (subscriberId === undefined) {
            await left([{ kind: 'subscription', id: `${topicKey} ${one['_id']}`, reason: 'Its subscriber is gone.' }])
            continue
          }
          const isDefault = one['identifier'] === defaultIdentifier(topicKey, subscriberId)
          const preferences = subscriptionPreferencesIn(one)
          const value = {
            topicKey,
            subscriberId,
            ...(isDefault ? {} : { identifier: one['identifier'] }),
            ...only(one, ['name']),
            ...(preferences.length === 0 ? {} : { preferences }),
          }
          yield { kind: 'subscription', value }
        }
      }
    }
  }
}

async function* suppressionLines({ read }: Target): AsyncGenerator<Carried> {
  for await (const { data } of cursorPages(read, '/v1/suppressions')) {
    for (const one of data) yield whole(only(one, ['channel', 'address', 'reason', 'note']))
  }
}
