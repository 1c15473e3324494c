// Removes suppressed addresses from what is about to be sent; a send without recipients becomes a skip that says why.
import type { Db } from '../../db/sql.ts'
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
import { mapInTurns } from '../../domain/turn.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import { findSuppressedOrHidden } from '../../store/people/suppressions.ts'
import type { World } from '../../world/world.ts'
import type { Called, ChoosingParts } from '../send/outgoing.ts'
import { chooserOf } from '../send/outgoing.ts'
import type { JobFacts } from './job-facts.ts'
import { messageOf, nextOf } from './settle-decision.ts'

export interface SuppressionParts extends ChoosingParts {
  readonly db: Db
  readonly world: Pick<World, 'sealer'>
}

export interface Send {
  readonly facts: JobFacts
  readonly decision: SendDecision
}

export interface SendsLeft {
  readonly sends: readonly Send[]
  /** Those without any recipient left. */
  readonly skipped: readonly Settlement[]
}

/** One statement for a batch, and none if nothing is sent by e-mail or SMS. */
export async function withoutSuppressed(
  parts: SuppressionParts,
  environment: Environment,
  sends: readonly Send[],
  now: Date,
): Promise<SendsLeft> {
  const found = await suppressedAmong(parts, environment, sends)
  if (found.size === 0) return { sends, skipped: [] }
  const left: Send[] = []
  const skipped: Settlement[] = []
  for (const judged of await mapInTurns(sends, (send) => leavingOut(parts, send, found, now))) {
    if ('status' in judged) skipped.push(judged)
    else left.push(judged)
  }
  return { sends: left, skipped }
}

/** Whom of all that these may go to the list holds. */
export async function suppressedAmong(
  { db, world }: Pick<SuppressionParts, 'db' | 'world'>,
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

/** All recipients of a draft, whichever provider sends it: each may have its own recipients. */
function askedOf({ channel, envelope }: MessageDraft): Listable[] {
  if (envelope === undefined) return []
  const overrides = Object.values(envelope.forProviders ?? {}).map(({ message }) => message ?? {})
  return [envelope, ...overrides].flatMap((message) => listable(channel, message))
}

/** By channel and address. */
export type Found = ReadonlyMap<string, Suppression>

/** The send to those who are left, or the skip that it becomes. */
export function leavingOut(
  parts: ChoosingParts,
  { facts, decision }: Send,
  found: Found,
  now: Date,
): Send | Settlement {
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
    const kept = out.size === 0 ? draft : withoutThose(draft, out, firstProvider(parts, facts, draft), leftOut)
    if (kept !== undefined) left.push(kept)
  }
  const [first] = leftOut.values()
  const [shown] = decision.messages
  if (first === undefined || shown === undefined) return { facts, decision: { ...decision, messages: left } }
  const details = [...decision.details, detailOf([...leftOut.values()], left.length > 0, now)]
  if (left.length > 0) return { facts, decision: { ...decision, messages: left, details } }
  const { envelope: _unsent, ...message } = shown
  const isListed = `is on the suppression list (${first.reason})`
  const error = {
    ...sendErrorOf(shown.channel, `${first.address} ${isListed}`),
    textWithoutAddress: `The address ${isListed}`,
  }
  const messages = [messageOf(facts, message, now, { state: 'done', status: 'warning', error })]
  return settles(facts.job, 'skipped', { details, messages, next: nextOf(facts) })
}

/** The providers that may send it; empty if there are none. */
function firstProvider(parts: ChoosingParts, facts: JobFacts, draft: MessageDraft): string {
  return chooserOf(parts, facts, facts, draft)([])?.providerId ?? ''
}

/**
 * Undefined if the first provider would have no recipient left. One that takes over and has no recipient left refuses
 * it itself. `leftOut` receives those whom the first one would have written to.
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
  const overrides = Object.entries(before.forProviders ?? {}).map(([name, override]) => {
    const { message } = override
    return [
      name,
      message === undefined ? override : { ...override, message: onlyOthers(channel, message, out) },
    ] as const
  })
  const envelope: Envelope = {
    ...onlyOthers(channel, before, out),
    ...(overrides.length === 0 ? {} : { forProviders: Object.fromEntries(overrides) }),
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

/** As far as addresses are concerned: neither the id nor the payload contains any. */
const asGiven = (envelope: Envelope, providerId: string): OutboundMessage =>
  messageFor({ id: '', envelope, providerId, payload: {} })

/**
 * Who a provider refuses to write to because they opted out, as given to that provider; only if there is one recipient,
 * because for several it is unknown which one is meant.
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
  const entries = out.map(({ address, reason, createdAt }) => ({ address, reason, since: createdAt }))
  const raw = entries.length === 1 ? entries[0] : { addresses: entries }
  return detail(now, 'suppressed', isSent ? { words: someLeftOut, raw } : { raw })
}
