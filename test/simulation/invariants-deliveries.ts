// Messages at the providers: e-mail at least once and twice only where marked, SMS and chat at most once, none lost silently.

import { haveRetriesRunOut, isGivenUp } from './given-up.ts'
import type { Account, Channel, Ledger, ProviderCall, SimulatedEvent } from './ledger.ts'
import { isAcknowledged, waitBefore, wasCancelAsked } from './ledger.ts'
import type { Written, WrittenJob } from './written.ts'

/** How long after a cancel was acknowledged a call that was already begun may still start. */
const begunBeforeMs = 30_000
/** A provider whose answers stay unknown is asked again this often. */
const repeatsMax = 2

export function deliveryMistakes(ledger: Ledger, written: Written): string[] {
  return [...ofJobs(ledger, written), ...ofCalls(ledger)]
}

interface Delivery {
  readonly name: string
  readonly job: WrittenJob
  readonly channel: Channel
  readonly calls: readonly ProviderCall[]
  readonly messageStatus: string | null | undefined
  readonly ledger: Ledger
}

const channels: ReadonlySet<string> = new Set(['email', 'sms', 'chat'])

/** Every job of a channel that came to an end has what it promised. */
function ofJobs(ledger: Ledger, written: Written): string[] {
  return written.jobs.flatMap((job) => {
    // Of those that were merged, the job that continues for them reports.
    if (!channels.has(job.type) || job.status === 'merged') return []
    const channel = job.type as Channel
    const calls = ledger.calls.filter(
      (call) => call.channel === channel && call.to === job.to && call.numbers.includes(job.number),
    )
    const messages = written.messages.filter((one) => one.jobId === job.id)
    const name = `${channel} of event ${job.number} for ${job.to}`
    return ofDelivery({ name, job, channel, calls, messageStatus: messages[0]?.status, ledger })
  })
}

function ofDelivery(delivery: Delivery): string[] {
  const { name, job, channel, calls, ledger } = delivery
  const event = ledger.events.find((one) => one.number === job.number)
  const deliveries = calls.filter((call) => call.delivered)
  const mistakes = doubled(delivery, deliveries)
  const isOver = job.status === 'canceled' && event !== undefined && wasCancelAsked(event)
  if (isOver || (event !== undefined && !isAcknowledged(event) && calls.length === 0)) return mistakes
  if (deliveries.length > 0) {
    if (job.status === 'failed') mistakes.push(`${name} was delivered, but its job is failed`)
    return mistakes
  }
  if (job.status === 'failed' && isGivenUp(ledger, job)) return mistakes
  // Whether the throttle was right is asked elsewhere.
  if (calls.length === 0 && job.codes.includes('throttled')) return mistakes
  // A cancel may come between two tries.
  if (event !== undefined && wasCancelAsked(event) && job.status !== 'completed') return mistakes
  const isMarked = job.codes.includes('perhapsSent') || job.codes.includes('leftUnsure')
  if (channel === 'email') {
    const unknown = calls.filter((call) => call.learned === 'unknown').length
    const mayBeOver = haveRetriesRunOut(ledger, job) && calls.some((call) => wasUnknown(ledger, call))
    if (!isMarked || !(unknown > repeatsMax || mayBeOver))
      mistakes.push(`${name} was never delivered (${job.status}): ${reported(delivery)}`)
  } else if (!job.codes.includes('leftUnsure') || job.status !== 'skipped' || delivery.messageStatus !== 'warning') {
    mistakes.push(`${name} was lost without a mark (${job.status}, ${delivery.messageStatus}): ${reported(delivery)}`)
  } else if (!mayBeUnknown(delivery)) {
    mistakes.push(`${name} was given up though nothing about it was unknown: ${reported(delivery)}`)
  }
  return mistakes
}

/** A second delivery needs a first one whose outcome stayed unknown, and a mark. */
function doubled({ name, job, channel, calls, ledger }: Delivery, deliveries: readonly ProviderCall[]): string[] {
  if (deliveries.length < 2) return []
  const mistakes: string[] = []
  const account = ledger.accounts.find((one) => one.name === deliveries[0]?.account)
  if (channel !== 'email' && !mayRepeat(account)) mistakes.push(`${name} was delivered ${deliveries.length} times`)
  const marks = job.codes.filter((code) => code === 'perhapsSent' || code === 'leftUnsure').length
  if (marks < 1) mistakes.push(`${name} was delivered ${deliveries.length} times without a mark: ${job.codes}`)
  // In the order they were begun: one that was cut off before it left may leave after the call that repeats it.
  const begun = [...deliveries].sort((one, other) => one.begunAtMs - other.begunAtMs)
  for (const [place, call] of begun.slice(0, -1).entries()) {
    if (!wasUnknown(ledger, call)) mistakes.push(`${name} was delivered again (${place}) after a known answer`)
  }
  for (const call of calls) {
    const before = calls.find((one) => one !== call && overlaps(one, call) && !isCutOff(ledger, one))
    if (before !== undefined && before.node === call.node) mistakes.push(`${name} was called twice at a time`)
  }
  return mistakes
}

const mayRepeat = (account: Account | undefined): boolean =>
  account !== undefined && (account.isIdempotent || account.whenUnsure === 'retry')

const overlaps = (one: ProviderCall, other: ProviderCall): boolean =>
  one.startedAtMs < other.startedAtMs && (one.endedAtMs ?? Number.POSITIVE_INFINITY) > other.startedAtMs

/** Its answer came, and had still to be written for up to so long. */
const writingMs = 60_000

const isCutOff = (ledger: Ledger, call: ProviderCall): boolean =>
  ledger.interruptions.some(
    ({ node, fromMs, untilMs }) =>
      (node === call.node || node === 'all') &&
      untilMs >= call.begunAtMs &&
      fromMs <= (call.endedAtMs ?? Number.POSITIVE_INFINITY) + writingMs,
  )

const wasUnknown = (ledger: Ledger, call: ProviderCall): boolean =>
  call.learned === 'unknown' || call.learned === 'interrupted' || call.learned === 'pending' || isCutOff(ledger, call)

/** Between the mark and the call a death leaves no call behind. */
const mayBeUnknown = ({ calls, ledger }: Delivery): boolean =>
  ledger.interruptions.length > 0 || calls.some((call) => wasUnknown(ledger, call))

const reported = ({ job, calls }: Delivery): string =>
  `calls ${calls.map((call) => `${call.account}=${call.learned}`).join(' ') || 'none'}; details ${job.codes.join(' ')}`

/** What a provider was asked for is owed by an event that was tried, and not cancelled long before. */
function ofCalls(ledger: Ledger): string[] {
  return ledger.calls.flatMap((call) => {
    const name = `${call.channel} of ${call.numbers.map((number) => `#${number}`)} for ${call.to}`
    const events = call.numbers.map((number) => ledger.events.find((event) => event.number === number))
    if (call.numbers.length === 0 || events.some((event) => event === undefined)) return [`${name} belongs to no event`]
    return events.flatMap((event) => {
      if (event === undefined) return []
      const mistakes: string[] = []
      const earliestMs =
        event.triedAtMs + waitBefore(ledger, event.workflow, event.workflow.steps.indexOf(call.channel))
      if (call.startedAtMs < earliestMs) mistakes.push(`${name} was called early`)
      if (isAfterCancel(ledger, call, event))
        mistakes.push(`${name} was called ${call.startedAtMs - (event.canceledAtMs ?? 0)} ms after its cancel`)
      return mistakes
    })
  })
}

/** A digest that was written before, and is owed to others as well, is tried again as it is. */
function isAfterCancel({ calls, events }: Ledger, call: ProviderCall, { canceledAtMs }: SimulatedEvent): boolean {
  if (canceledAtMs === undefined || call.startedAtMs <= canceledAtMs + begunBeforeMs) return false
  const text = call.numbers.join()
  const isRepeat = calls.some(
    (one) => one.to === call.to && one.numbers.join() === text && one.startedAtMs <= canceledAtMs + begunBeforeMs,
  )
  const isOwed = events.some((event) => call.numbers.includes(event.number) && !wasCancelAsked(event))
  return !(isRepeat && isOwed)
}
