// posthorn tail: follows notifications, one line per step, until it is stopped.
import type { Activity, EventProgress } from '../domain/insight/activity.ts'
import type { StepType } from '../domain/workflows/workflow.ts'
import { stepTypes } from '../domain/workflows/workflow.ts'
import type { ApiClient, Query } from './api-client.ts'
import { ApiError, clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import type { ActivityReader, StepOutcome } from './follow.ts'
import { Follower } from './follow.ts'
import { countOf, oneOf, readOptions, serviceUsage, timestampOf, wrongCall } from './terminal/arguments.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'

const roundMs = 1_000
/** A service that is restarting is waited for: after this many rounds without a response the command gives up. */
const silentRoundsMax = 30
const pageSize = 50
const linesMax = 1_000_000

export const tailCommand: Command = {
  name: 'tail',
  about: 'Follows what happens to notifications, one line per step, until Ctrl-C.',
  examples: ['posthorn tail', 'posthorn tail --workflow order-shipped --since 1h --limit 20'],
  usage: [`tail [--workflow ID] [--channel TYPE] [--subscriber ID] [--since 5m|TIMESTAMP] [--limit N] ${serviceUsage}`],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(tailCommand, args, {
      workflow: { type: 'string' },
      channel: { type: 'string' },
      subscriber: { type: 'string' },
      since: { type: 'string', default: '5m' },
      limit: { type: 'string' },
    })
    if (positionals.length > 0) throw wrongCall(tailCommand)
    const channel = oneOf('--channel', values.channel, stepTypes)
    const limit = countOf('--limit', values.limit, linesMax)
    timestampOf('--since', values.since, new Date())
    const client = await clientFor(terminal, values)
    const { body: environment, headers } = await client.call<{ name: string }>(
      'GET',
      '/v1/environments/me?secrets=false',
    )
    const query: Query = {
      channels: channel,
      subscriberIds: values.subscriber,
      templates: values.workflow === undefined ? undefined : await workflowId(client, values.workflow),
    }
    // By the service's clock, which the times of the activity are by.
    const sinceAt = timestampOf('--since', values.since, serverTime(headers)) ?? new Date()
    if (!values.json && terminal.width !== undefined) {
      terminal.note(
        `Following ${visible(environment.name)} at ${client.url} since ${sinceAt.toISOString()}. Ctrl-C stops.`,
      )
    }
    const signal = terminal.untilStopped()
    const follower = new Follower(readerOf(terminal, client, query, signal), sinceAt)
    await follow(terminal, follower, { signal, channel, limit, json: values.json })
  },
}

interface Wanted {
  readonly signal: AbortSignal
  readonly channel: StepType | undefined
  readonly limit: number | undefined
  readonly json: boolean
}

async function follow(terminal: Terminal, follower: Follower, { signal, channel, limit, json }: Wanted): Promise<void> {
  let printed = 0
  let silentRounds = 0
  while (!signal.aborted) {
    try {
      for (const outcome of await follower.round()) {
        if (channel !== undefined && outcome.type !== channel) continue
        terminal.print(json ? visibleJson(outcome) : lineOf(outcome))
        printed += 1
        if (printed === limit || signal.aborted) return
      }
      silentRounds = 0
    } catch (error) {
      if (signal.aborted) return
      silentRounds += 1
      if (!isPassing(error) || silentRounds > silentRoundsMax) throw error
      if (silentRounds === 1) terminal.note(visible(`${(error as Error).message} Trying again.`))
    }
    await terminal.pause(roundMs, signal)
  }
}

/** No answer, too many calls, or a service that is just starting or stopping. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === undefined || error.status === 429 || error.status === 503)

function lineOf({ at, workflow, subscriberId, step, type, outcome, reason, notificationId }: StepOutcome): string {
  const place = step === type ? type : `${step} (${type})`
  const columns = [
    at,
    workflow.padEnd(20),
    (subscriberId || '(deleted)').padEnd(16),
    place.padEnd(18),
    outcome.padEnd(9),
  ]
  return visible(`${columns.join('  ')}  ${reason}  ${notificationId}`)
}

/** An identifier is how people call a workflow; the list knows it by its id. */
async function workflowId(client: ApiClient, identifier: string): Promise<string> {
  const path = `/v1/workflows/${encodeURIComponent(identifier)}`
  return (await client.call<{ _id: string }>('GET', path)).body._id
}

function serverTime(headers: Headers): Date {
  const at = new Date(headers.get('date') ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? new Date() : at
}

interface Page {
  readonly data: readonly Activity[]
  readonly hasMore: boolean
}

function readerOf(terminal: Terminal, client: ApiClient, query: Query, signal: AbortSignal): ActivityReader {
  const list = async (more: Query): Promise<Page> => {
    const asked = { query: { ...query, limit: pageSize, ...more }, signal }
    return (await client.call<Page>('GET', '/v1/notifications', asked)).body
  }
  const warned = new Set<string>()
  return {
    since: (from, page) => list({ after: from.toISOString(), page }),
    ofEvents: (transactionId, subscriberIds, page) => list({ transactionId, subscriberIds, page }),
    progress: async (transactionId) => {
      const path = `/v1/events/${encodeURIComponent(transactionId)}`
      const found = await client.call<EventProgress>('GET', path, { signal }).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return undefined
        throw error
      })
      return found?.body.state
    },
    warn: (sentence) => {
      const kind = sentence.slice(0, 20)
      if (warned.has(kind)) return
      warned.add(kind)
      terminal.note(sentence)
    },
  }
}
