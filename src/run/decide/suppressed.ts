// Takes suppressed addresses out of what is about to be sent; a send of which nobody is left becomes a skip that says why.
import { messageFor } from '../../deliver/message-for.ts'
import { sendErrorOf } from '../../domain/delivery/after-outcome.ts'
import type { SendDecision } from '../../domain/delivery/decision.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { Fields } from '../../domain/merged.ts'
import type { Envelope, MessageDraft } from '../../domain/messages/message.ts'
import type { OutboundMessage } from '../../domain/messages/outbound-message.ts'
import type { NewSuppression, Suppression, SuppressionChannel } from '../../domain/people/suppression.ts'
import { comparedAddress, suppressionHolds, suppressionNoteLengthMax } from '../../domain/people/suppression.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import { findSuppressedOrHidden } from '../../store/people/suppressions.ts'
import type { Deciding } from '../pipeline.ts'
import type { Called } from '../send/outgoing.ts'
import { chooserOf } from '../send/outgoing.ts'
import type { JobFacts } from './job-facts.ts'
import { messageOf, nextOf } from './settle-decision.ts'

export interface Send {
  readonly facts: JobFacts
  readonly decision: SendDecision
}

export interface SendsLeft {
  readonly sends: readonly Send[]
  /** Those of which nobody is left. */
  readonly skipped: readonly Settlement[]
}

/** One statement for a batch, and none where nothing is sent by e-mail or SMS. */
export async function withoutSuppressed(
  deciding: Deciding,
  environment: Environment,
  sends: readonly Send[],
  now: Date,
): Promise<SendsLeft> {
  const found = await suppressedAmong(deciding, environment, sends)
  if (found.size === 0) return { sends, skipped: [] }
  const left: Send[] = []
  const skipped: Settlement[] = []
  for (const send of sends) {
    const judged = leavingOut(deciding, send, found, now)
    if ('status' in judged) skipped.push(judged)
    else left.push(judged)
  }
  return { sends: left, skipped }
}

/** Whom of all that these may go to the list holds. */
export async function suppressedAmong(
  { db, world }: Pick<Deciding, 'db' | 'world'>,
  environment: Environment,
  sends: readonly Send[],
): Promise<Found> {
  const asked = new Map<string, Listable>()
  for (const { decision } of sends) {
    for (const draft of decision.messages) for (const one of askedOf(draft)) asked.set(keyOf(one), one)
  }
  const listed = await findSuppressedOrHidden(db, world.sealer, environment, [...asked.values()])
  return new Map(listed.map((suppression) => [keyOf(suppression), suppression]))
}

/** An address as the list has it. */
interface Listable {
  readonly channel: SuppressionChannel
  readonly address: string
}

const keyOf = ({ channel, address }: { channel: string; address: string }): string => `${channel}/${address}`

/** Of a message: a list of e-mail addresses each, or the one number of an SMS. */
const addressMembers = ['to', 'cc', 'bcc'] as const

/** As they are compared. Chat and push have no list. */
function listable(channel: Channel, message: object): Listable[] {
  if (channel !== 'email' && channel !== 'sms') return []
  const addresses = addressMembers.flatMap((name) => ((message as Fields)[name] ?? []) as string | readonly string[])
  return addresses.map((address) => ({ channel, address: comparedAddress(channel, address) }))
}

/** Everybody a draft may go to, whichever provider sends it: each may have recipients of its own. */
function askedOf({ channel, envelope }: MessageDraft): Listable[] {
  if (envelope === undefined) return []
  const wishes = Object.values(envelope.forProviders ?? {}).map(({ message }) => message ?? {})
  return [envelope, ...wishes].flatMap((message) => listable(channel, message))
}

/** By channel and address. */
export type Found = ReadonlyMap<string, Suppression>

/** The send to those who are left, or the skip that it becomes. */
export function leavingOut(deciding: Deciding, { facts, decision }: Send, found: Found, now: Date): Send | Settlement {
  const isCritical = facts.version.definition.critical
  const left: MessageDraft[] = []
  const leftOut = new Map<string, Suppression>()
  for (const draft of decision.messages) {
    const out = new Map<string, Suppression>()
    for (const one of askedOf(draft)) {
      const suppression = found.get(keyOf(one))
      if (suppression !== undefined && suppressionHolds(suppression.reason, isCritical))
        out.set(keyOf(one), suppression)
    }
    const kept = out.size === 0 ? draft : withoutThose(draft, out, firstProvider(deciding, facts, draft), leftOut)
    if (kept !== undefined) left.push(kept)
  }
  const [first] = leftOut.values()
  const [shown] = decision.messages
  if (first === undefined || shown === undefined) return { facts, decision: { ...decision, messages: left } }
  const details = [...decision.details, detailOf([...leftOut.values()], left.length > 0, now)]
  if (left.length > 0) return { facts, decision: { ...decision, messages: left, details } }
  const { envelope: _unsent, ...message } = shown
  const error = sendErrorOf(shown.channel, `${first.address} is on the suppression list (${first.reason})`)
  const messages = [messageOf(facts, message, now, { state: 'done', status: 'warning', error })]
  return settles(facts.job, 'skipped', { details, messages, next: nextOf(facts) })
}

/** Who is asked to send it; empty where nobody can. */
function firstProvider(deciding: Deciding, facts: JobFacts, draft: MessageDraft): string {
  return chooserOf(deciding, facts, facts, draft)([])?.providerId ?? ''
}

/**
 * Undefined when the first provider would have nobody left to whom it is addressed. One that takes over and has nobody
 * left refuses it by itself. `leftOut` gets those the first one would have written to.
 */
function withoutThose(
  draft: MessageDraft,
  out: Found,
  providerId: string,
  leftOut: Map<string, Suppression>,
): MessageDraft | undefined {
  const { channel } = draft
  const before = draft.envelope as Envelope
  for (const one of listable(channel, asGiven(before, providerId))) {
    const suppression = out.get(keyOf(one))
    if (suppression !== undefined) leftOut.set(keyOf(one), suppression)
  }
  const wishes = Object.entries(before.forProviders ?? {}).map(([name, wish]) => {
    const { message } = wish
    return [name, message === undefined ? wish : { ...wish, message: onlyOthers(channel, message, out) }] as const
  })
  const envelope: Envelope = {
    ...onlyOthers(channel, before, out),
    ...(wishes.length === 0 ? {} : { forProviders: Object.fromEntries(wishes) }),
  }
  const { to } = asGiven(envelope, providerId) as unknown as { to: string | readonly string[] }
  const [recipient = ''] = [to].flat()
  if (recipient === '') return undefined
  return { ...draft, ...(channel === 'sms' ? { phone: recipient } : { email: recipient }), envelope }
}

/** The members of a message without the addresses that are out; a number that is out becomes empty. */
function onlyOthers<Members extends object>(channel: Channel, members: Members, out: Found): Members {
  const isOut = (address: string): boolean =>
    out.has(keyOf({ channel, address: comparedAddress(channel as SuppressionChannel, address) }))
  const changed = addressMembers.flatMap((name): [string, unknown][] => {
    const given = (members as Fields)[name] as string | readonly string[] | undefined
    if (given === undefined) return []
    if (typeof given === 'string') return [[name, isOut(given) ? '' : given]]
    return [[name, given.filter((address) => !isOut(address))]]
  })
  return { ...members, ...Object.fromEntries(changed) }
}

/** As far as addresses go: neither the id nor the payload says any. */
const asGiven = (envelope: Envelope, providerId: string): OutboundMessage =>
  messageFor({ id: '', envelope, providerId, payload: {} })

/**
 * Whom a provider refuses to write to because they opted out, as that provider was given it; only where there is one
 * recipient, for of several nobody says which.
 */
export function optedOut({ message, asked, outcome }: Pick<Called, 'message' | 'asked' | 'outcome'>): NewSuppression[] {
  if (outcome.kind !== 'refused' || outcome.reason !== 'opted-out') return []
  const addresses = listable(message.channel, asGiven(message.envelope, asked.providerId))
  if (addresses.length !== 1) return []
  const note = outcome.detail.slice(0, suppressionNoteLengthMax).toWellFormed()
  return addresses.map((one) => ({ ...one, reason: 'opted_out', source: 'provider', note }))
}

const someLeftOut = 'Some recipients were left out: their addresses are on the suppression list'

/** One address as its members, several as a list. */
function detailOf(out: readonly Suppression[], isSent: boolean, now: Date): StoredDetail {
  const told = out.map(({ address, reason, createdAt }) => ({ address, reason, since: createdAt }))
  const raw = told.length === 1 ? told[0] : { addresses: told }
  return detail(now, 'suppressed', isSent ? { words: someLeftOut, raw } : { raw })
}
