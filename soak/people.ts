// The subscribers, topics, tenants and suppressed addresses of a run: the same names in every environment.

export type EnvironmentLetter = 'd' | 'p'
export const environmentLetters: readonly EnvironmentLetter[] = ['d', 'p']
export const environmentNames: Readonly<Record<EnvironmentLetter, string>> = { d: 'Development', p: 'Production' }
export const apiKeys: Readonly<Record<EnvironmentLetter, string>> = {
  d: 'soak-key-of-development',
  p: 'soak-key-of-production',
}

const general = 600
/** Few, so that the windows of a digest gather several events. */
const gatherers = 8
/** Few, so that several events change the same person at the same time. */
const movers = 6

const named = (letter: string, count: number): string[] => Array.from({ length: count }, (_, index) => letter + index)

export const subscriberIds: readonly string[] = named('s', general)
export const gathererIds: readonly string[] = named('g', gatherers)
/** Every event that names one of them gives them a new e-mail address. */
export const moverIds: readonly string[] = named('m', movers)
export const isMover = (subscriberId: string): boolean => moverIds.includes(subscriberId)
export const knownIds: readonly string[] = [...subscriberIds, ...gathererIds, ...moverIds]

/** A subscriber of one event, who exists in no other place. An event has fewer than ten recipients. */
export const newSubscriberOf = (event: number, position: number): string => `n${event * 10 + position}`

const largeTopicSize = 500
const mailTopicSize = 40

/** Two large topics that overlap, and a small one whose members get e-mail. */
export const topics: Readonly<Record<string, readonly string[]>> = {
  'large-a': subscriberIds.slice(0, largeTopicSize),
  'large-b': subscriberIds.slice(general - largeTopicSize),
  mail: subscriberIds.slice(0, mailTopicSize),
}
export const largeTopics: readonly string[] = ['large-a', 'large-b']

export function membersOf(topic: string): readonly string[] {
  const members = topics[topic]
  if (members === undefined) throw new Error(`There is no topic ${topic}`)
  return members
}

export const tenantIds: readonly string[] = named('t', 4)
export const tenantNameOf = (identifier: string): string => `Tenant ${identifier}`

export const emailOf = (subscriberId: string): string => `${subscriberId}@soak.example`

/** Under a country code that no country has, so there are enough numbers for every subscriber to have their own. */
export function phoneOf(subscriberId: string): string {
  const kind = 'sgmn'.indexOf(subscriberId.charAt(0)) + 1
  return `+999${kind}${subscriberId.slice(1).padStart(9, '0')}`
}

/** Some members of each topic are among them, and one of those who get digests. */
const suppressedEvery = 12
const suppressedAt = 5
export const suppressedIds: readonly string[] = [...subscriberIds, ...gathererIds].filter(
  (id) => Number(id.slice(1)) % suppressedEvery === suppressedAt,
)
const suppressed = new Set(suppressedIds)

/** Only Development has a list: without one, a service may take another way. */
export const hasSuppressions = (environment: EnvironmentLetter): boolean => environment === 'd'

export const isSuppressed = (environment: EnvironmentLetter, subscriberId: string): boolean =>
  hasSuppressions(environment) && suppressed.has(subscriberId)
