// Words that plain English does without: each with what to write instead.
import type { Breach, Sources } from './sources.ts'
import { breachesOf } from './sources.ts'

/** As whole words, or as a part of a name in camel case. */
export const bannedWords: Readonly<Record<string, string>> = {
  told: 'notified, reported or returned',
  mend: 'fix',
  mended: 'fixed',
  mending: 'recovery',
  born: 'created',
  birth: 'creation',
  wish: 'request, override or deferred decision',
  wishes: 'requests or overrides',
  wished: 'requested',
  orphan: 'ownerless',
  orphans: 'ownerless rows',
  deadly: 'over-claimed',
  innocent: 'other',
  seat: 'slot',
  seats: 'slots',
  seating: 'batch plan',
  tired: 'timed out',
  stranger: 'new subscriber, or unknown caller',
  strangers: 'new subscribers, or unknown callers',
  nobody: 'no one, or what is missing',
  somebody: 'a subscriber, a person or another process',
  everybody: 'all subscribers, or everyone',
  anybody: 'anyone',
  anew: 'again',
  moment: 'time or timestamp',
  moments: 'times or timestamps',
  'called off': 'cancelled',
  'by hand': 'manually',
}

export interface Exemption {
  /** How the path begins. */
  readonly path: string
  /** Left out: every word. */
  readonly word?: string
  readonly reason: string
}

export function oddWords(sources: Sources, exemptions: readonly Exemption[]): Breach[] {
  const words = Object.keys(bannedWords)
  const initial = words.map((word) => `[${word[0]?.toUpperCase()}${word[0]}]${word.slice(1)}`)
  const pattern = new RegExp(`(?<![a-z])(?:${initial.join('|')})(?![a-z])`, 'g')
  return [...sources].flatMap(([file, text]) => {
    const exempt = exemptions.filter(({ path }) => file.startsWith(path)).map(({ word }) => word)
    if (exempt.includes(undefined)) return []
    return breachesOf(file, text, pattern, (match) => match[0].toLowerCase())
      .filter(({ what }) => !exempt.includes(what))
      .map((breach) => ({ ...breach, what: `says "${breach.what}": write ${bannedWords[breach.what]}` }))
  })
}
