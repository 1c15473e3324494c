// The subscribers and topics of a run: the same names in every environment.

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

export const subscriberIds: readonly string[] = Array.from({ length: general }, (_, index) => `s${index}`)
export const gathererIds: readonly string[] = Array.from({ length: gatherers }, (_, index) => `g${index}`)

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

export const emailOf = (subscriberId: string): string => `${subscriberId}@soak.example`

/** A number that is well formed: the British range for fiction has a thousand of them. */
export function phoneOf(subscriberId: string): string {
  const number = Number(subscriberId.slice(1)) + (subscriberId.startsWith('g') ? general : 0)
  return `+447700900${String(number % 1000).padStart(3, '0')}`
}
