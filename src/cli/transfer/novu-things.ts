// From what a Novu service answers to what Posthorn takes; what cannot be carried over is named with the reason.
import type { Credentials } from '../../domain/delivery/integration.ts'
import { channels } from '../../domain/delivery/integration.ts'
import { channelProviderIds } from '../../domain/people/channel-settings.ts'
import { openCredentials } from '../../providers/form.ts'
import { providerOf } from '../../providers/registry.ts'
import type { Left } from './report.ts'
import type { Choices } from './sink-people.ts'
import type { GivenSubscription } from './sink-subscriptions.ts'
import type { Thing } from './target.ts'
import { only, subscriberMembers } from './target.ts'

/** What can be written, and what is lost of it. */
export interface Carried<Value> {
  readonly value?: Value
  readonly left: readonly Left[]
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const thingOf = (value: unknown): Thing =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Thing) : {}
const listOf = (value: unknown): readonly Thing[] => (Array.isArray(value) ? value.map(thingOf) : [])

/** Only members that are there and say something. */
function given(members: Thing): Thing {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))
}

export function integrationOf(source: Thing): Carried<Thing> {
  const { providerId, channel, name, identifier, conditions } = source
  if (/^novu(-|$)/.test(textOf(providerId)) || channel === 'in_app') {
    // The service's own: every environment of Posthorn has these.
    return { left: [] }
  }
  const form = providerOf(textOf(providerId))?.form ?? {}
  const open = openCredentials(form, given(thingOf(source['credentials'])) as Credentials)
  const value = given({ providerId, channel, name, identifier, conditions: nonEmpty(conditions) })
  return { value: { ...value, ...(Object.keys(open).length === 0 ? {} : { credentials: open }) }, left: [] }
}

const nonEmpty = (value: unknown): unknown => (Array.isArray(value) && value.length > 0 ? value : undefined)

/** Of API v1 the content, of v2 the HTML of its control values. */
export function layoutOf(source: Thing): Carried<Thing> {
  const identifier = textOf(source['layoutId']) || textOf(source['identifier'])
  const email = thingOf(thingOf(thingOf(source['controls'])['values'])['email'])
  const content = textOf(source['content']) || textOf(email['body'])
  const named = { kind: 'layout', id: identifier }
  if (content === '' || isBlockDocument(content)) {
    const reason =
      content === ''
        ? 'It has no content.'
        : 'It was made in the block editor, whose documents cannot be read: save it as HTML.'
    return { left: [{ ...named, reason }] }
  }
  const { name, description, isDefault } = source
  const slotted = content.replace(/\{\{\s*content\s*\}\}/g, '{{{body}}}')
  return { value: given({ identifier, name: name ?? identifier, description, content: slotted, isDefault }), left: [] }
}

/** The editor's documents are JSON. */
const isBlockDocument = (content: string): boolean => /^\s*\{\s*"type"\s*:\s*"doc"/.test(content)

export interface Names {
  /** Layouts and feeds by the ids of the source. */
  readonly layouts: ReadonlyMap<string, string>
  readonly feeds: ReadonlyMap<string, string>
}

const stepMembers = ['name', 'uuid', 'active', 'shouldStopOnFail', 'metadata', 'replyCallback']
const templateMembers = [
  'type',
  'content',
  'contentType',
  'subject',
  'preheader',
  'senderName',
  'title',
  'cta',
  'actor',
  'variables',
]

/** As POST /v1/configuration takes it. */
export function workflowV1Of(source: Thing, names: Names): Carried<Thing> {
  const workflowId = textOf(listOf(source['triggers'])[0]?.['identifier'])
  const { name, description, tags, active, critical, preferenceSettings, data } = source
  if (workflowId === '') {
    const reason = `${textOf(name) || 'It'} has no trigger, and so no identifier to be called by.`
    return { left: [{ kind: 'workflow', id: textOf(source['_id']), reason }] }
  }
  const left: Left[] = []
  const stepOf = (step: Thing): Thing => {
    for (const reason of goneIn(step, names)) left.push({ kind: 'workflow', id: workflowId, reason })
    return stepV1Of(step, names)
  }
  const steps = listOf(source['steps']).map((step) => {
    const variants = listOf(step['variants']).map(stepOf)
    return { ...stepOf(step), ...(variants.length === 0 ? {} : { variants }) }
  })
  const value = given({ workflowId, name, description, tags, active, critical, preferenceSettings, data, steps })
  return { value, left }
}

/** What a step names by an id that the service does not list: it was deleted there. */
function goneIn(step: Thing, { layouts, feeds }: Names): string[] {
  const template = thingOf(step['template'])
  const [layout, feed] = [layoutIn(template), feedIn(template)]
  return [
    ...(layout === '' || layouts.has(layout) ? [] : [`layout ${layout}`]),
    ...(feed === '' || feeds.has(feed) ? [] : [`feed ${feed}`]),
  ].map((what) => `The step ${textOf(step['name'])} was imported without its ${what}, which is not there any more.`)
}

const layoutIn = (template: Thing): string => textOf(template['layoutId']) || textOf(template['_layoutId'])
const feedIn = (template: Thing): string => textOf(template['feedId']) || textOf(template['_feedId'])

/** The group that a workflow of v1 is in. */
export const groupOf = (source: Thing): string => textOf(thingOf(source['notificationGroup'])['name'])

function stepV1Of(step: Thing, { layouts, feeds }: Names): Thing {
  const template = thingOf(step['template'])
  const filters = listOf(step['filters']).filter((filter) => listOf(filter['children']).length > 0)
  return {
    ...only(step, stepMembers),
    ...(filters.length === 0
      ? {}
      : { filters: filters.map((filter) => only(filter, ['isNegated', 'type', 'value', 'children'])) }),
    template: given({
      ...only(template, templateMembers),
      layoutId: layouts.get(layoutIn(template)),
      feedId: feeds.get(feedIn(template)),
    }),
  }
}

/** As POST /v2/workflows takes it. */
export function workflowV2Of(source: Thing): Carried<Thing> {
  const workflowId = textOf(source['workflowId'])
  const named = { kind: 'workflow', id: workflowId }
  if (source['origin'] === 'external') {
    const reason = 'Its steps are defined in your code (framework, bridge): create it here with the same identifier.'
    return { left: [{ ...named, reason }] }
  }
  const left: Left[] = []
  const steps = listOf(source['steps']).map((step) => {
    const controlValues = { ...thingOf(thingOf(step['controls'])['values']), ...thingOf(step['controlValues']) }
    if (isBlockDocument(textOf(controlValues['body']))) {
      left.push({
        ...named,
        reason: `The step ${textOf(step['name'])} was made in the block editor, whose documents cannot be read: save it as HTML.`,
      })
    }
    return given({ stepId: step['stepId'], name: step['name'], type: step['type'], controlValues })
  })
  // Half a workflow would send half its messages.
  if (left.length > 0) return { left }
  const { name, description, tags, active, severity, payloadSchema, validatePayload, isTranslationEnabled } = source
  const preferences = preferencesOfWorkflow(thingOf(source['preferences']))
  const settings = { description, tags, active, severity, payloadSchema, validatePayload, isTranslationEnabled }
  return { value: { ...given({ workflowId, name, ...settings }), preferences, steps }, left }
}

/** The answer also has what the two come to. */
function preferencesOfWorkflow({ user, default: author, workflow }: Thing): Thing {
  const ofAuthor = workflow ?? author
  return { user: user ?? null, ...(ofAuthor === undefined || ofAuthor === null ? {} : { workflow: ofAuthor }) }
}

/** `integrations`: the identifiers that are here, by the ids of the source. Tokens of two apps must not be mixed. */
export function subscriberOf(source: Thing, integrations: ReadonlyMap<string, string>): Carried<Thing> {
  const members = stated(only(source, subscriberMembers))
  const all = listOf(source['channels']).flatMap(({ providerId, credentials, _integrationId }) => {
    const known = stated(thingOf(credentials))
    const integrationIdentifier = integrations.get(textOf(_integrationId))
    const named = integrationIdentifier === undefined ? {} : { integrationIdentifier }
    return Object.keys(known).length === 0 ? [] : [{ providerId: textOf(providerId), ...named, credentials: known }]
  })
  const own = all.filter(({ providerId }) => channelProviderIds.includes(providerId))
  const left = all.flatMap(({ providerId }) => {
    if (channelProviderIds.includes(providerId)) return []
    const reason = `Its channel ${providerId} was not imported: there is no such provider here.`
    return [{ kind: 'subscriber', id: textOf(source['subscriberId']), reason }]
  })
  return { value: own.length === 0 ? members : { ...members, channels: own }, left }
}

const stated = (members: Thing): Thing =>
  Object.fromEntries(Object.entries(given(members)).filter(([, value]) => value !== ''))

/** An identifier that the service generated is generated here as well. */
export function subscriptionOf(topicKey: string, source: Thing): Carried<GivenSubscription> {
  const subscriberId = textOf(thingOf(source['subscriber'])['subscriberId']) || textOf(source['subscriberId'])
  const identifier = textOf(source['identifier'])
  const named = { kind: 'subscription', id: `${topicKey} ${subscriberId || textOf(source['_id'])}` }
  if (subscriberId === '') return { left: [{ ...named, reason: 'Its subscriber is gone.' }] }
  if (Array.isArray(source['contextKeys']) && source['contextKeys'].length > 0) {
    return {
      left: [
        {
          ...named,
          reason: `It is limited to contexts (${source['contextKeys'].join(', ')}), which is not possible here.`,
        },
      ],
    }
  }
  const isGenerated = [`tk_${topicKey}:si_${subscriberId}`, `tk=${topicKey}:si=${subscriberId}`, ''].includes(
    identifier,
  )
  const name = textOf(source['name'])
  const preferences = subscriptionPreferencesIn(source)
  const value = {
    subscriberId,
    ...(isGenerated ? {} : { identifier }),
    ...(name === '' ? {} : { name }),
    ...(preferences.length === 0 ? {} : { preferences }),
  }
  return { value, left: [] }
}

/** Those of a subscription to a topic, by the identifiers of workflows. */
export const subscriptionPreferencesIn = (source: Thing): Thing[] =>
  listOf(source['preferences']).flatMap(({ workflow, enabled, condition }) => {
    const workflowId = textOf(thingOf(workflow)['identifier'])
    return workflowId === '' ? [] : [given({ workflowId, enabled, condition: condition ?? undefined })]
  })

/** What the subscriber chose, not what workflows say. */
export function choicesIn(source: Thing): Choices {
  const { enabled, channels: switches, schedule } = thingOf(source['global'])
  const off = channelSwitches(thingOf(switches), (value) => value === false)
  const hours = thingOf(schedule)
  const global = given({
    enabled: enabled === false ? false : undefined,
    channels: Object.keys(off).length === 0 ? undefined : off,
    schedule: hours['isEnabled'] === true ? hours : undefined,
  })
  const ofWorkflows = listOf(source['workflows']).flatMap(({ overrides, channels: own, workflow }) => {
    const chosen = new Set(
      listOf(overrides).flatMap(({ channel, source: by }) => (by === 'subscriber' ? [textOf(channel)] : [])),
    )
    const changed = channelSwitches(thingOf(own), (_, channel) => chosen.has(channel))
    const workflowId = textOf(thingOf(workflow)['identifier']) || textOf(thingOf(workflow)['slug'])
    return Object.keys(changed).length === 0 ? [] : [[workflowId, { channels: changed }] as const]
  })
  return {
    ...(Object.keys(global).length === 0 ? {} : { global }),
    ...(ofWorkflows.length === 0 ? {} : { workflows: Object.fromEntries(ofWorkflows) }),
  }
}

const channelSwitches = (own: Thing, isKept: (value: unknown, channel: string) => boolean): Thing =>
  Object.fromEntries(
    channels.flatMap((channel) =>
      typeof own[channel] === 'boolean' && isKept(own[channel], channel) ? [[channel, own[channel]]] : [],
    ),
  )
