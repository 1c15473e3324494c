// What `posthorn doctor` asks a running service: each check with its finding and what to do.
import type { Schemas } from '../../api.ts'
import { ApiError, answerOf, client, textOf } from '../../api.ts'
import { nameOfStep } from '../../ui/icons.tsx'
import { duration } from '../../ui/time.tsx'
import { failureWords } from '../activity/outcome.ts'
import { buriedBehind, everFailedBehind } from '../overview/links.ts'

export interface Checked {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  readonly advice?: string
  /** Where it can be repaired. */
  readonly to?: string
  readonly search?: Readonly<Record<string, string>>
}

const secondMs = 1_000
/** As the command has them: steps start within a second; a minute is a queue, ten are an outage. */
const queueLateMs = 60 * secondMs
const queueFailedMs = 600 * secondMs
const failedShareHigh = 0.05
const failedShareFatal = 0.5
/** Of fewer messages a share says little. */
const messagesMin = 10
const hourMs = 3_600 * secondMs

const checks: readonly (readonly [name: string, run: () => Promise<Omit<Checked, 'name'>>])[] = [
  ['Service', service],
  ['Queue', queue],
  ['Abandoned work', abandoned],
  ['Failures', failures],
  ['Integrations', integrations],
  ['Webhooks', webhooks],
  ['Retention', retention],
]

/** All at once; one that cannot be asked does not keep the others from reporting. */
export const runChecks = (): Promise<Checked[]> =>
  Promise.all(
    checks.map(async ([name, run]) => ({
      name,
      ...(await run().catch((error: Error) => ({
        status: 'warning' as const,
        message: `It could not be checked: ${error.message}`,
      }))),
    })),
  )

async function service() {
  const startedAt = performance.now()
  const answer = await textOf('/ready').then(
    () => 'up',
    (error: Error) => (error instanceof ApiError && error.status > 0 ? 'down' : Promise.reject(error)),
  )
  const took = duration(performance.now() - startedAt)
  return answer === 'up'
    ? { status: 'ok' as const, message: `It reaches its database, and answered in ${took}.` }
    : {
        status: 'failed' as const,
        message: 'The service cannot reach its database, or its worker is stopped.',
        advice: 'See its log.',
      }
}

async function queue(): Promise<Omit<Checked, 'name'>> {
  const { lanes } = await answerOf(client.GET('/v1/counts/queue'))
  const due = lanes.reduce((sum, lane) => sum + lane.due, 0)
  const oldestMs = Math.max(0, ...lanes.map((lane) => lane.oldestMs))
  if (due === 0) return { status: 'ok', message: 'Nothing that is due is waiting.' }
  const status = oldestMs > queueFailedMs ? 'failed' : oldestMs > queueLateMs ? 'warning' : 'ok'
  return {
    status,
    message: `${due.toLocaleString('en')} due jobs are waiting, the oldest for ${duration(oldestMs)}.`,
    ...(status === 'ok' ? {} : { advice: 'Is a worker running, and does it keep up? Add nodes with --role worker.' }),
  }
}

async function abandoned(): Promise<Omit<Checked, 'name'>> {
  const { buried } = await answerOf(client.GET('/v1/counts/queue'))
  const count = buried.jobs + buried.tasks
  if (count === 0) return { status: 'ok', message: 'Nothing was abandoned.' }
  return {
    status: 'warning',
    message: `${count.toLocaleString('en')} steps or tasks were abandoned after internal errors.`,
    advice: 'See their reasons, and try them again once the cause is gone.',
    ...buriedBehind,
  }
}

/** In steps, as on the overview. The command counts messages, of which one failed for someone without an address. */
async function failures(): Promise<Omit<Checked, 'name'>> {
  const from = new Date(Date.now() - hourMs).toISOString()
  const [messages, failed] = await Promise.all([
    answerOf(client.GET('/v1/counts', { params: { query: { measure: 'messages', groupBy: ['outcome'], from } } })),
    answerOf(client.GET('/v1/counts', { params: { query: { measure: 'steps', outcome: ['failed'], from } } })),
  ])
  const delivered = messages.series.reduce(
    (sum, { outcome, total }) => sum + (outcome === 'sent' || outcome === 'captured' ? total : 0),
    0,
  )
  const all = delivered + failed.total
  if (all === 0) return { status: 'ok', message: 'No messages in the last hour.' }
  const share = failed.total / all
  const status =
    all >= messagesMin && share >= failedShareFatal ? 'failed' : share >= failedShareHigh ? 'warning' : 'ok'
  const words = (count: number, one: string, many: string) =>
    `${count.toLocaleString('en')} ${count === 1 ? one : many}`
  const said = `In the last hour ${words(delivered, 'message was', 'messages were')} delivered, and ${words(failed.total, 'step', 'steps')} failed.`
  if (status === 'ok') return { status, message: said }
  const after = failed.from
  // They are looked at one by one, which may take too long: the numbers are shown without them.
  const causes = await answerOf(client.GET('/v1/failures/causes', { params: { query: { after } } })).catch(
    () => undefined,
  )
  const top = causes?.steps.data[0]
  return {
    status,
    message: top === undefined ? said : `${said} Most often: ${failureWords(top.code, top.detail)}.`,
    advice: 'See which, and why.',
    ...everFailedBehind({ after }),
  }
}

const builtIn = /^(?:platform|novu)-(?:email|sms)$/

async function integrations(): Promise<Omit<Checked, 'name'>> {
  const [all, own] = await Promise.all([
    answerOf(client.GET('/v1/integrations')),
    answerOf(client.GET('/v1/environments/me')),
  ])
  const active = all.filter((one) => one.active)
  const served = [...new Set(active.map(({ channel }) => nameOfStep(channel)))]
  const captures = own.configurations.capture || active.some(({ providerId }) => builtIn.test(providerId))
  const isLive = own.name === 'Production'
  if (served.length === 0)
    return { status: 'warning', message: 'No channel has an account.', advice: 'Add one.', to: '/integrations' }
  const message = `Accounts for ${served.join(', ')}.${captures ? ' Some or all messages are captured instead of sent.' : ''}`
  return isLive && captures
    ? {
        status: 'warning',
        message,
        advice: 'In Production messages should be sent: add an account.',
        to: '/integrations',
      }
    : { status: 'ok', message }
}

async function webhooks(): Promise<Omit<Checked, 'name'>> {
  const { data } = await answerOf(client.GET('/v1/webhook-endpoints', { params: { query: { limit: 100 } } }))
  const bad = data.filter((one) => one.state === 'failing' || (one.state === 'disabled' && one.disabledBy !== 'caller'))
  if (data.length === 0) return { status: 'ok', message: 'No endpoints.' }
  if (bad.length === 0) return { status: 'ok', message: 'All endpoints accept what they are sent.' }
  return {
    status: 'warning',
    message: `${bad.length === 1 ? 'One endpoint does' : `${bad.length} endpoints do`} not accept what is sent.`,
    advice: 'See what they answer.',
    to: '/webhooks',
  }
}

async function retention(): Promise<Omit<Checked, 'name'>> {
  const { retentionDays, nextDrop, keptMonths }: Schemas['Retention'] = await answerOf(client.GET('/v1/retention'))
  if (retentionDays === null) return { status: 'ok', message: 'Everything is kept.' }
  const said = `Data is kept for ${retentionDays} days.`
  if (nextDrop !== null && Date.parse(nextDrop.at) + 2 * hourMs < Date.now())
    return { status: 'warning', message: `${said} ${nextDrop.month} should be gone by now.`, advice: 'See the log.' }
  if (keptMonths.length > 0)
    return {
      status: 'warning',
      message: `${said} ${keptMonths.join(', ')} have expired, but still hold steps that have to run.`,
    }
  return { status: 'ok', message: said }
}
