// The checks of posthorn doctor that query the running service: whether it works, what waits, what fails, what sends.
import { channels } from '../../domain/delivery/integration.ts'
import { ApiError } from '../api-client.ts'
import type { Check, Finding } from './diagnosis.ts'
import { CannotCheck, failed, NoKey, OtherEnvironment, ok, warning } from './diagnosis.ts'
import type { DoctorProbes, OwnEnvironment, QueueCounts } from './doctor-probes.ts'

const secondMs = 1_000
/** The header has whole seconds, and the request takes time: a smaller difference means nothing. */
const clockTolerated = 3 * secondMs
const clockFailed = 60 * secondMs
/** Steps start within a second; a minute is a queue, ten are an outage. */
const queueLate = 60 * secondMs
const queueFailed = 600 * secondMs
const failedShareHigh = 0.05
const failedShareFatal = 0.5
/** Of fewer messages a share says little. */
const sharedCountMin = 10
const hourMs = 3_600 * secondMs

export const serviceCheck: Check<DoctorProbes> = {
  name: 'service',
  run: async ({ health, url }) => {
    const { tookMs } = await health()
    return ok(`${url} responded in ${tookMs} ms.`, { tookMs })
  },
}

export const readyCheck: Check<DoctorProbes> = {
  name: 'ready',
  run: async ({ ready }) => readyFinding(await ready()),
}

export function readyFinding({ status, database, worker, sending }: Readonly<Record<string, unknown>>): Finding {
  const data = { status, database, worker, sending }
  if (database !== 'up')
    return failed('The service cannot reach its database.', 'See its log, and the database check.', data)
  if (worker === undefined) {
    return ok('The service reaches its database. This node has no worker: another node must run one.', data)
  }
  if (worker !== 'up')
    return failed('The worker of the service is stopped: nothing is sent.', 'See its log, and restart it.', data)
  if (sending === 'held') {
    return warning(
      'Sending is held after a restore or a move: nothing leaves the environments that were not released.',
      '`posthorn release --dry-run` shows what is due, `posthorn release` sends or cancels it.',
      data,
    )
  }
  return ok('The service reaches its database, and its worker is running.', data)
}

export const clockCheck: Check<DoctorProbes> = {
  name: 'clock',
  run: async ({ health, database }) => {
    const service = await health().then(
      ({ aheadMs }) => aheadMs,
      () => undefined,
    )
    const { ofDatabase, ofNode } = await database().then(
      ({ aheadMs, nodeAheadMs }) => ({
        ofDatabase: aheadMs,
        // A node measures against the database.
        ofNode: nodeAheadMs === undefined ? undefined : aheadMs + nodeAheadMs,
      }),
      () => ({ ofDatabase: undefined, ofNode: undefined }),
    )
    return clockFinding({ service, database: ofDatabase, node: ofNode })
  },
}

/** How far each clock is ahead of this machine's; of the nodes that work, the one furthest from the database. */
export function clockFinding(ahead: {
  service: number | undefined
  database: number | undefined
  node?: number | undefined
}): Finding {
  const known = Object.entries(ahead).flatMap(([who, ms]) => (ms === undefined ? [] : [{ who, ms }]))
  if (known.length === 0) throw new CannotCheck('Neither the service nor the database returned the time.')
  const between = [0, ...known.map(({ ms }) => ms)]
  const spread = Math.max(...between) - Math.min(...between)
  const off = known.filter(({ ms }) => Math.abs(ms) > clockTolerated)
  const data = { aheadMs: ahead }
  if (spread <= clockTolerated)
    return ok(`The clocks of this machine and of the ${known.map(({ who }) => who).join(' and the ')} agree.`, data)
  const said = (off.length === 0 ? known : off)
    .map(
      ({ who, ms }) =>
        `the clock of the ${who} is ${Math.abs(Math.round(ms / secondMs))} s ${ms < 0 ? 'behind' : 'ahead of'} this machine’s`,
    )
    .join(', ')
  const advice = 'Synchronize the clocks of all machines by NTP: schedules, signatures and leases depend on them.'
  const message = `${said[0]?.toUpperCase()}${said.slice(1)}.`
  return spread > clockFailed ? failed(message, advice, data) : warning(message, advice, data)
}

export const keyCheck: Check<DoctorProbes> = {
  name: 'API key',
  run: async ({ environment }) => {
    try {
      const { name, mayDoEverything } = await environment()
      const scope = mayDoEverything ? 'full' : 'read'
      return ok(`The key belongs to ${name} and has the scope ${scope}.`, { environment: name, scope })
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) {
        return warning(
          'The key is valid but cannot read: it has the scope trigger only.',
          'Use a key that can read: `posthorn keys create --scope read`.',
          { scope: 'trigger' },
        )
      }
      if (error instanceof NoKey) {
        return warning(error.message, 'Set POSTHORN_API_KEY, or give a file with --key-file: the checks below need it.')
      }
      if (error instanceof OtherEnvironment) {
        const advice = 'Give a key of that environment with --key-file, or log in with one: `posthorn login`.'
        return failed(error.message, advice)
      }
      throw error
    }
  },
}

export const queueCheck: Check<DoctorProbes> = {
  name: 'queue',
  run: async ({ queue }) => queueFinding(await queue()),
}

export function queueFinding({ lanes }: QueueCounts): Finding {
  const due = lanes.reduce((sum, lane) => sum + lane.due, 0)
  const oldestMs = Math.max(0, ...lanes.map((lane) => lane.oldestMs))
  const data = { due, oldestMs }
  if (due === 0) return ok('No due jobs are waiting.', data)
  const said = `${due} due jobs are waiting, the oldest for ${Math.round(oldestMs / secondMs)} s.`
  const advice =
    'Is a worker running, and does it keep up? /metrics shows its throughput; add nodes with --role worker.'
  if (oldestMs > queueFailed) return failed(said, advice, data)
  return oldestMs > queueLate ? warning(said, advice, data) : ok(said, data)
}

export const buriedCheck: Check<DoctorProbes> = {
  name: 'buried',
  run: async ({ queue }) => {
    const { buried } = await queue()
    const count = buried.jobs + buried.tasks
    if (count === 0) return ok('Nothing is buried.', buried)
    return warning(
      `${buried.jobs} steps and ${buried.tasks} tasks were buried after internal errors.`,
      'GET /v1/buried shows why; `posthorn redrive --reason buried` runs the steps again.',
      buried,
    )
  },
}

interface Counted {
  readonly total: number
  readonly series: readonly { readonly outcome?: string; readonly total: number }[]
}

interface TopFailures {
  readonly data: readonly { readonly detail: string; readonly provider: string; readonly count: number }[]
}

export const failuresCheck: Check<DoctorProbes> = {
  name: 'failures',
  run: async ({ read }) => {
    const from = new Date(Date.now() - hourMs).toISOString()
    const counted = await read<Counted>('/v1/counts', { measure: 'messages', groupBy: 'outcome', from })
    const top = await read<TopFailures>('/v1/counts/failures', { from, limit: '1' })
    return failuresFinding(counted, top)
  },
}

export function failuresFinding({ total, series }: Counted, { data: [top] }: TopFailures): Finding {
  const count = series.find(({ outcome }) => outcome === 'failed')?.total ?? 0
  const data = { messages: total, failed: count }
  if (total === 0) return ok('No messages in the last hour.', data)
  const share = count / total
  const said = `${count} of ${total} messages failed in the last hour.`
  const most = top === undefined ? '' : ` Most often: ${top.detail} (${top.provider}, ${top.count} times).`
  const advice =
    '`posthorn tail` shows failures as they happen, `posthorn why` explains one, `posthorn redrive` sends them again.'
  const isSignificant = total >= sharedCountMin
  if (isSignificant && share >= failedShareFatal) return failed(`${said}${most}`, advice, data)
  if (share >= failedShareHigh) return warning(`${said}${most}`, advice, data)
  return ok(said, data)
}

export interface ListedIntegration {
  readonly identifier: string
  readonly providerId: string
  readonly channel: string
  readonly active: boolean
  readonly configurations?: { readonly capture?: boolean }
}

export const integrationsCheck: Check<DoctorProbes> = {
  name: 'integrations',
  run: async ({ read, environment }) =>
    integrationsFinding(await read<ListedIntegration[]>('/v1/integrations'), await environment()),
}

/** Those that always capture what they would send. */
const isBuiltIn = ({ providerId }: ListedIntegration): boolean => /^(platform|novu)-(email|sms)$/.test(providerId)

export function integrationsFinding(all: readonly ListedIntegration[], own: OwnEnvironment): Finding {
  const active = all.filter((one) => one.active)
  const captured = active.filter((one) => isBuiltIn(one) || one.configurations?.capture === true)
  const channelsOf = (some: readonly ListedIntegration[]): string[] =>
    channels.filter((channel) => some.some((one) => one.channel === channel))
  const served = channelsOf(active)
  const without = channels.filter((channel) => !served.includes(channel))
  const data = {
    active: served,
    without,
    captured: captured.map(({ identifier }) => identifier),
    capturesAll: own.capturesAll,
  }
  const said = [
    served.length === 0 ? 'No channel has an active integration.' : `Active: ${served.join(', ')}.`,
    ...(without.length === 0 || served.length === 0 ? [] : [`Channels without one: ${without.join(', ')}.`]),
    ...(own.capturesAll ? ['The environment captures everything in the outbox instead of sending it.'] : []),
    ...(captured.length === 0
      ? []
      : [`Captured in the outbox: ${captured.map(({ identifier }) => identifier).join(', ')}.`]),
  ].join(' ')
  if (served.length === 0)
    return warning(said, 'POST /v1/integrations creates one; docs/providers.md lists all providers.', data)
  const isLive = own.name === 'Production'
  if (isLive && (own.capturesAll || captured.length > 0)) {
    return warning(said, 'In Production messages should be sent: switch capture off, or add a real provider.', data)
  }
  return ok(said, data)
}

interface ListedWorkflow {
  readonly name: string
  readonly active: boolean
  readonly triggers: readonly { readonly identifier: string }[]
  readonly workflowIntegrationStatus?: {
    readonly channels?: Readonly<Record<string, { readonly hasActiveIntegrations?: boolean }>>
  }
}

interface WorkflowPage {
  readonly data: readonly ListedWorkflow[]
  readonly hasMore: boolean
}

/** More are not looked at: a check has ten seconds. */
const workflowPagesMax = 20

export const workflowsCheck: Check<DoctorProbes> = {
  name: 'workflows',
  run: async ({ read, environment }) => {
    const all: ListedWorkflow[] = []
    for (let page = 0; page < workflowPagesMax; page += 1) {
      const { data, hasMore } = await read<WorkflowPage>('/v1/workflows', { page: String(page), limit: '100' })
      all.push(...data)
      if (!hasMore) break
    }
    return workflowsFinding(all, await environment())
  },
}

/** So many are named. */
const workflowsNamedMax = 5

export function workflowsFinding(all: readonly ListedWorkflow[], { name }: OwnEnvironment): Finding {
  const active = all.filter((workflow) => workflow.active)
  const without = active.flatMap(({ triggers, name: title, workflowIntegrationStatus }) => {
    const statuses = Object.entries(workflowIntegrationStatus?.channels ?? {})
    const missing = statuses.filter(([, status]) => status.hasActiveIntegrations === false).map(([channel]) => channel)
    return missing.length === 0 ? [] : [{ workflow: triggers[0]?.identifier ?? title, channels: missing }]
  })
  const data = { active: active.length, without }
  if (without.length === 0) {
    const said =
      active.length === 0
        ? `No workflow is active in ${name}.`
        : `All ${active.length} active workflows of ${name} have an integration for each of their channels.`
    return ok(said, data)
  }
  const named = without
    .slice(0, workflowsNamedMax)
    .map(({ workflow, channels: missing }) => `${workflow} sends by ${missing.join(' and ')}`)
  const more = without.length > workflowsNamedMax ? `, and ${without.length - workflowsNamedMax} more` : ''
  const missing = [...new Set(without.flatMap((one) => one.channels))]
  return warning(
    `In ${name}, ${named.join(', ')}${more}, for which there is no active integration: these messages fail.`,
    `Create one for ${missing.join(' and ')} with POST /v1/integrations or in the dashboard (docs/providers.md lists the providers), or take the step out.`,
    data,
  )
}

interface Retention {
  readonly retentionDays: number | null
  readonly oldestMonth: string | null
  readonly nextDrop: { readonly month: string; readonly at: string } | null
  readonly keptMonths: readonly string[]
}

export const retentionCheck: Check<DoctorProbes> = {
  name: 'retention',
  run: async ({ read }) => retentionFinding(await read<Retention>('/v1/retention'), Date.now()),
}

/** A month goes within the hour after it may. */
const dropPatienceMs = 2 * hourMs

export function retentionFinding(
  { retentionDays, oldestMonth, nextDrop, keptMonths }: Retention,
  nowMs: number,
): Finding {
  const data = { retentionDays, oldestMonth, nextDrop, keptMonths }
  const oldest = oldestMonth === null ? '' : ` The oldest month is ${oldestMonth}.`
  if (retentionDays === null) return ok(`Everything is kept.${oldest}`, data)
  const said = `Data is kept for ${retentionDays} days.${oldest}`
  if (nextDrop !== null && Date.parse(nextDrop.at) + dropPatienceMs < nowMs) {
    return warning(
      `${said} ${nextDrop.month} should have been dropped at ${nextDrop.at}.`,
      'See the log of the service, or run `posthorn retention`.',
      data,
    )
  }
  if (keptMonths.length > 0) {
    return warning(
      `${said} ${keptMonths.join(', ')} have expired, but still contain steps that have to run.`,
      '`posthorn retention --dry-run` shows why they are kept.',
      data,
    )
  }
  return ok(said, data)
}
