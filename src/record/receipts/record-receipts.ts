// One transaction for what a provider reported: messages, the details of their jobs, and suppressed addresses.

import type { Db, Tx } from '../../db/sql.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import { ownIdOf } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { News } from '../../domain/webhooks/webhook-event.ts'
import type { Receipt } from '../../providers/inbound/receipt.ts'
import { appendDetails } from '../../store/jobs/append.ts'
import { openAddresses } from '../../store/messages/addresses.ts'
import type { ReportedMessage } from '../../store/messages/receipts.ts'
import { lockReported, writeReported } from '../../store/messages/receipts.ts'
import type { DeadToken } from '../../store/people/subscriber-channels.ts'
import { removeDeviceTokens } from '../../store/people/subscriber-channels.ts'
import { suppress } from '../../store/people/suppressions.ts'
import { reportNews } from '../../store/webhooks/webhook-news.ts'
import type { World } from '../../world/world.ts'

import type { ReceiptEffect } from './receipt-effects.ts'
import { isFor, receiptEffect } from './receipt-effects.ts'

export interface ReportedReceipt {
  readonly messageId: string
  readonly receipt: Receipt
}

export interface RecordedReceipts {
  /** What was reported about messages, new or not. */
  readonly matched: readonly ReportedReceipt[]
  /** Of messages that are still on their way, or not known by this id yet. */
  readonly early: readonly Receipt[]
}

export interface Report {
  readonly integration: Integration
  readonly receipts: readonly Receipt[]
  /** Whether a device reported as unregistered is believed to be. */
  readonly prunes?: boolean
  /** Whether early reports will not be checked again: then they are recorded as far as possible. */
  readonly isLast?: boolean
}

/** `after` has its place in the transaction, with what was early. */
export async function recordReceipts(
  db: Db,
  world: World,
  environment: Environment,
  report: Report,
  after: (tx: Tx, early: readonly Receipt[]) => Promise<void>,
): Promise<RecordedReceipts> {
  const { news, ...recorded } = await db.transaction(async (tx) => {
    const now = world.now()
    const { integration, receipts, prunes = false, isLast = false } = report
    const messages = await lockReported(tx, environment, { integrationId: integration._id, ...idsIn(receipts) })
    const find = finderOf(messages)
    const pairs = receipts.map((receipt) => ({ receipt, message: find(receipt) }))
    const isSettled = ({ message }: (typeof pairs)[number]): boolean =>
      message !== undefined && ((message.state === 'done' && message.isOver) || isLast)
    const settled = pairs.filter(isSettled) as { receipt: Receipt; message: ReportedMessage }[]
    const early = pairs.filter((pair) => !isSettled(pair)).map(({ receipt }) => receipt)
    const effects = [...grouped(settled, ({ message }) => message.id).values()].map((all) => {
      const message = all[0]?.message as ReportedMessage
      const reports = all.map(({ receipt }) => receipt)
      return { message, effect: receiptEffect(message, reports, integration, now) }
    })
    await write(tx, world, environment, integration, effects, prunes)
    await after(tx, early)
    const matched = settled.map(({ receipt, message }) => ({ messageId: message.id, receipt }))
    return { matched, early, news: effects.flatMap(({ effect }) => effect.news) }
  })
  for (const { status } of news) world.meter.countReceipt(report.integration.providerId, status)
  return recorded
}

function deviceOf(world: World, environment: Environment, message: ReportedMessage): string | undefined {
  const { target } = openAddresses(world.sealer, environment, message)?.envelope ?? message
  return typeof target === 'string' ? target : undefined
}

async function write(
  tx: Tx,
  world: World,
  environment: Environment,
  { _id: integrationId, providerId }: Integration,
  effects: readonly { message: ReportedMessage; effect: ReceiptEffect }[],
  prunes: boolean,
): Promise<void> {
  const now = world.now()
  const dead = effects.flatMap(({ message, effect }): DeadToken[] => {
    const isGone = prunes && effect.news.some((receipt) => receipt.deadToken === true)
    const token = isGone ? deviceOf(world, environment, message) : undefined
    return token === undefined ? [] : [{ subscriberId: message.subscriberId, providerId, integrationId, token }]
  })
  if (dead.length > 0) await removeDeviceTokens(tx, world.sealer, environment, dead, now)
  await writeReported(
    tx,
    environment,
    effects.flatMap(({ effect }) => effect.change ?? []),
    now,
  )
  await appendDetails(
    tx,
    environment,
    effects.map(({ message, effect }) => ({ jobId: message.jobId, details: effect.details })),
  )
  await suppress(tx, environment, once(effects.flatMap(({ effect }) => effect.suppressions)), now)
  const reported = effects.filter(({ message }) => message.isReported === true)
  await reportNews(
    tx,
    environment,
    reported.flatMap(({ message, effect }) => effect.reports.map((report) => newsOf(world, message, effect, report))),
    { newId: () => world.newId(now), now },
  )
}

/** The provider's own time is part of the event; its place among others is that of the report. */
function newsOf(
  world: World,
  message: ReportedMessage,
  { change }: ReceiptEffect,
  { type, at, words }: ReceiptEffect['reports'][number],
): News {
  const { id, subscriberId, channel } = message
  const shared = { id: world.newId(world.now()), type, subscriberId, at }
  if (type === 'subscriber.unsubscribed') {
    return { ...shared, subjectId: subscriberId, facts: { workflow: null, channel, source: 'provider' } }
  }
  const error = type === 'message.delivered' ? null : { code: change?.error?.errorId ?? 'receipt', text: words }
  return { ...shared, subjectId: id, facts: { status: type === 'message.delivered' ? 'sent' : 'error', error } }
}

function idsIn(receipts: readonly Receipt[]): { ids: string[]; providerMessageIds: string[] } {
  return {
    ids: receipts.flatMap(({ messageId }) =>
      messageId !== undefined && isUuid(messageId) ? [ownIdOf(messageId)] : [],
    ),
    providerMessageIds: receipts.flatMap(({ providerMessageId }) => providerMessageId ?? []),
  }
}

/**
 * Our id is more reliable than theirs: a vendor's id may be that of a whole batch, in which case the address identifies
 * the message.
 */
function finderOf(messages: readonly ReportedMessage[]): (receipt: Receipt) => ReportedMessage | undefined {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const byProviderId = grouped(messages, (message) => message.providerMessageId ?? '')
  return ({ messageId = '', providerMessageId = '', address }) => {
    const own = byId.get(ownIdOf(messageId.toLowerCase()))
    if (own !== undefined || providerMessageId === '') return own
    const candidates = byProviderId.get(providerMessageId) ?? []
    return candidates.length < 2
      ? candidates[0]
      : candidates.find((one) => address !== undefined && isFor(one, address))
  }
}

/** One statement cannot write the same address twice; of two reasons the one that holds for more is kept. */
function once<Entry extends { channel: string; address: string; reason: string }>(entries: readonly Entry[]): Entry[] {
  const byAddress = new Map<string, Entry>()
  for (const entry of entries) {
    const name = `${entry.channel} ${entry.address}`
    const known = byAddress.get(name)
    if (known === undefined || known.reason === 'opted_out') byAddress.set(name, entry)
  }
  return [...byAddress.values()]
}
