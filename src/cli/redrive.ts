// posthorn redrive: resends what failed, after showing what that is, and reports the progress.
import { channels } from '../domain/delivery/integration.ts'
import type { Redrive, RedriveFilter } from '../domain/delivery/redrive.ts'
import { failureReasons } from '../domain/delivery/redrive.ts'
import type { ApiClient } from './api-client.ts'
import { clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed, UsageError } from './command.ts'
import { countOf, oneOf, readOptions, serviceUsage, timestampOf, wrongCall } from './terminal/arguments.ts'
import { confirmed } from './terminal/confirm.ts'
import type { DryRun, Redriven } from './terminal/redrive-lines.ts'
import {
  dryRunLines,
  previewLines,
  progressWords,
  redriveLines,
  redrivenLines,
  redrivesLines,
} from './terminal/redrive-lines.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'
import { whyLines, whyOf } from './why.ts'

/** How often it is asked how far a redrive is. */
const lookMs = 1_000
/** As many as the API gives at once. */
const listedMax = 100

export const redriveCommand: Command = {
  name: 'redrive',
  about: 'Sends again what failed, after showing what that is.',
  examples: [
    'posthorn redrive --workflow order-shipped --from 2h --dry-run',
    'posthorn redrive notification NOTIFICATION-ID',
    'posthorn redrive list',
  ],
  usage: [
    `redrive notification NOTIFICATION-ID [--dry-run] [--yes] ${serviceUsage}`,
    `redrive event TRANSACTION-ID [--dry-run] [--yes] ${serviceUsage}`,
    'redrive [--workflow ID] [--channel C] [--provider ID] [--reason CODE] [--error TEXT] [--from T] [--to T] ' +
      `[--subscriber ID] [--transaction ID] [--dry-run] [--yes] ${serviceUsage}`,
    `redrive list [--limit 10] ${serviceUsage}`,
    `redrive show|stop REDRIVE-ID ${serviceUsage}`,
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(redriveCommand, args, {
      workflow: { type: 'string' },
      channel: { type: 'string' },
      provider: { type: 'string' },
      reason: { type: 'string' },
      error: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      subscriber: { type: 'string' },
      transaction: { type: 'string' },
      limit: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
    })
    const [action = 'filter', id, ...more] = positionals
    const filter = filterOf(values)
    const isBare = Object.keys(filter).length === 0
    const limit = countOf('--limit', values.limit, listedMax)
    const how = { isDryRun: values['dry-run'], isConfirmed: values.yes, json: values.json }
    const one = actionsOnOne.get(action)
    const isOfOne = one !== undefined
    const takesFilter = action === 'filter' && id === undefined
    const isCalledWell = isOfOne ? id !== undefined : takesFilter || (action === 'list' && id === undefined)
    if (!isCalledWell || more.length > 0 || (!isBare && !takesFilter)) throw wrongCall(redriveCommand)
    if (takesFilter && isBare) {
      throw new UsageError(
        `What should be sent again? Give an id, or select by options.\n${wrongCall(redriveCommand).message}`,
      )
    }
    const client = await clientFor(terminal, values)
    if (one !== undefined) return one(terminal, client, id ?? '', how)
    if (action === 'list') return listRedrives(terminal, client, limit ?? 10, values.json)
    return redriveMany(terminal, client, { filter, start: { path: '/v1/redrives', body: { filter } }, ...how })
  },
}

interface FilterValues {
  readonly workflow?: string | undefined
  readonly channel?: string | undefined
  readonly provider?: string | undefined
  readonly reason?: string | undefined
  readonly error?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly subscriber?: string | undefined
  readonly transaction?: string | undefined
}

function filterOf(values: FilterValues): RedriveFilter {
  const now = new Date()
  const given = {
    workflow: values.workflow,
    channel: oneOf('--channel', values.channel, channels),
    providerId: values.provider,
    reason: oneOf('--reason', values.reason, failureReasons),
    errorContains: values.error,
    from: timestampOf('--from', values.from, now)?.toISOString(),
    to: timestampOf('--to', values.to, now)?.toISOString(),
    subscriberId: values.subscriber,
    transactionId: values.transaction,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

interface How {
  readonly isDryRun: boolean
  readonly isConfirmed: boolean
  readonly json: boolean
}

type OnOne = (terminal: Terminal, client: ApiClient, id: string, how: How) => Promise<void>

/** A dry run says what would happen; before the question, what is the case. */
const redriveNotification: OnOne = async (terminal, client, id, { isDryRun, isConfirmed, json }) => {
  const path = `/v1/notifications/${encodeURIComponent(id)}/redrive`
  if (isDryRun) {
    const { body } = await client.call<Redriven>('POST', path, { query: { dryRun: 'true' } })
    if (json) return terminal.print(visibleJson(body))
    for (const line of previewLines(body, terminal)) terminal.print(line)
    return
  }
  const why = await whyOf(client, id)
  if (!isConfirmed && !json) for (const line of whyLines(why, terminal)) terminal.print(line)
  if (!(await confirmed(terminal, 'Resend its failed steps?', isConfirmed))) return nothingDone(terminal)
  const { body } = await client.call<Redriven>('POST', path)
  if (json) return terminal.print(visibleJson(body))
  for (const line of redrivenLines(body, terminal)) terminal.print(line)
}

const redriveEvent: OnOne = (terminal, client, transactionId, how) => {
  const start = { path: `/v1/events/${encodeURIComponent(transactionId)}/redrive`, body: undefined }
  return redriveMany(terminal, client, { filter: { transactionId }, start, ...how })
}

const nothingDone = (terminal: Terminal): void => terminal.note('Nothing was sent again.')

interface Many extends How {
  readonly filter: RedriveFilter
  readonly start: { readonly path: string; readonly body: unknown }
}

async function redriveMany(
  terminal: Terminal,
  client: ApiClient,
  { filter, start, isDryRun, isConfirmed, json }: Many,
): Promise<void> {
  if (isDryRun || !isConfirmed) {
    const { body } = await client.call<DryRun>('POST', '/v1/redrives', { body: { filter, dryRun: true } })
    if (isDryRun && json) return terminal.print(visibleJson(body))
    // If the output is read by a program, the question goes to stderr.
    for (const line of dryRunLines(body, terminal)) json ? terminal.note(line) : terminal.print(line)
    if (isDryRun || body.matched === 0) return
    if (!(await confirmed(terminal, 'Send them again?', isConfirmed))) return nothingDone(terminal)
  }
  const { body: started } = await client.call<Redrive>(
    'POST',
    start.path,
    start.body === undefined ? {} : { body: start.body },
  )
  await watch(terminal, client, started, json)
}

/** Until it has finished. Stopping to watch does not stop it. */
async function watch(terminal: Terminal, client: ApiClient, started: Redrive, json: boolean): Promise<void> {
  const signal = terminal.untilStopped()
  const goesOn = `Started. \`posthorn redrive show ${visible(started._id)}\` shows the progress.`
  let redrive = started
  let said = ''
  while (redrive.state === 'running' && !signal.aborted) {
    const words = progressWords(redrive)
    if (words !== said) terminal.note(words)
    said = words
    await terminal.pause(lookMs, signal)
    if (signal.aborted) break
    redrive = await client.call<Redrive>('GET', `/v1/redrives/${started._id}`).then(
      ({ body }) => body,
      (error: unknown) => {
        terminal.note(goesOn)
        throw error
      },
    )
  }
  if (redrive.state === 'running') terminal.note(goesOn)
  if (json) terminal.print(visibleJson(redrive))
  else for (const line of redriveLines(redrive)) terminal.print(line)
  if (redrive.state === 'buried') throw new CommandFailed('The service gave up on it: GET /v1/buried shows why.')
}

async function listRedrives(terminal: Terminal, client: ApiClient, limit: number, json: boolean): Promise<void> {
  const { body } = await client.call<{ data: Redrive[] }>('GET', '/v1/redrives', { query: { limit } })
  if (json) return terminal.print(visibleJson(body))
  for (const line of redrivesLines(body.data, terminal)) terminal.print(line)
  if (body.data.length === 0) terminal.note('No redrives.')
}

const ofRedrive =
  (method: 'GET' | 'DELETE'): OnOne =>
  async (terminal, client, id, { json }) => {
    const { body } = await client.call<Redrive>(method, `/v1/redrives/${encodeURIComponent(id)}`)
    if (json) return terminal.print(visibleJson(body))
    for (const line of redriveLines(body)) terminal.print(line)
  }

const actionsOnOne: ReadonlyMap<string, OnOne> = new Map([
  ['notification', redriveNotification],
  ['event', redriveEvent],
  ['show', ofRedrive('GET')],
  ['stop', ofRedrive('DELETE')],
])
