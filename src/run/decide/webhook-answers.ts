// The responses of customers' own services to conditions that call them.
import type { Sql } from '../../db/sql.ts'
import { until } from '../../domain/delivery/due.ts'
import type { Environment } from '../../domain/environment.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { CallKey } from '../../domain/operate/signing-keys.ts'
import type { Renderer } from '../../domain/workflows/rendering.ts'
import { signedCall } from '../../providers/signing/call-signature.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { OutboundAnswer, World } from '../../world/world.ts'
import type { SigningSecrets } from '../cache/signing-secrets.ts'
import type { JobFacts, WebhookAnswer } from './job-facts.ts'
import { openQuestions } from './step-conditions.ts'
import { leftOutOfTest } from './test-run.ts'

type Answer = Readonly<Record<string, unknown>>

/** By job, then by address. */
export type WebhookAnswers = ReadonlyMap<string, ReadonlyMap<string, WebhookAnswer>>

export interface AskedJobs {
  /** Jobs that can be decided now. */
  readonly answers: WebhookAnswers
  /** Jobs that ask again later. */
  readonly settlements: readonly Settlement[]
}

const timeoutMs = 5_000
/** Tries of a job, over all its addresses. */
const triesMax = 3
/** Jobs that ask at the same time. */
const askersMax = 20
/** Well within a lease: jobs that were not served by then come back shortly. */
const askingMsMax = 20_000
const backSoonMs = 500

export function withAnswers(facts: JobFacts | undefined, answers: WebhookAnswers): JobFacts | undefined {
  const own = facts && answers.get(facts.job.id)
  return facts === undefined || own === undefined ? facts : { ...facts, webhookAnswers: own }
}

export interface WebhookParts {
  readonly db: Sql
  readonly world: World
  readonly renderer: Renderer
  readonly signingSecrets: SigningSecrets
}

/** Whether a URL must be called that was not called yet. */
export function mustAsk(facts: JobFacts, { renderer, world }: Pick<WebhookParts, 'renderer' | 'world'>): boolean {
  const now = world.now()
  return leftOutOfTest(facts, now) === undefined && questionsOf(facts, renderer, now).length > 0
}

function questionsOf(facts: JobFacts, renderer: Renderer, now: Date): string[] {
  return openQuestions(facts, renderer, now).filter((address) => facts.webhookAnswers?.has(address) !== true)
}

/** Each address once a job, and only while its answer can change something. */
export async function askWebhooks(
  parts: WebhookParts,
  environment: Environment,
  jobs: readonly JobFacts[],
): Promise<AskedJobs> {
  const { db, world, signingSecrets } = parts
  const keys = (await signingSecrets.of(db, environment)).callKeys(world.now())
  const untilMs = world.now().getTime() + askingMsMax
  const answers = new Map<string, ReadonlyMap<string, WebhookAnswer>>()
  const settlements: Settlement[] = []
  const waiting = [...jobs]
  const askInTurn = async (): Promise<void> => {
    for (let facts = waiting.shift(); facts !== undefined; facts = waiting.shift()) {
      const asked = await askFor(parts, facts, keys, untilMs)
      if ('status' in asked) settlements.push(asked)
      else answers.set(facts.job.id, asked)
    }
  }
  await Promise.all(Array.from({ length: askersMax }, askInTurn))
  return { answers, settlements }
}

async function askFor(
  parts: Pick<WebhookParts, 'renderer' | 'world'>,
  facts: JobFacts,
  keys: readonly CallKey[],
  untilMs: number,
): Promise<Settlement | ReadonlyMap<string, WebhookAnswer>> {
  const { world, renderer } = parts
  const answers = new Map(facts.webhookAnswers)
  const known = { ...facts, webhookAnswers: answers }
  for (;;) {
    const [address] = questionsOf(known, renderer, world.now())
    if (address === undefined) break
    const now = world.now()
    if (now.getTime() >= untilMs) {
      return settles(facts.job, 'queued', { due: until(new Date(now.getTime() + backSoonMs)) })
    }
    answers.set(address, await ask(world, facts, address, keys))
  }
  return retryOf(parts, known) ?? answers
}

/** Undefined where all is decided, or no other try would help. */
function retryOf(
  { world, renderer }: Pick<WebhookParts, 'renderer' | 'world'>,
  facts: JobFacts,
): Settlement | undefined {
  const now = world.now()
  const silent = openQuestions(facts, renderer, now).flatMap((address) => {
    const answer = facts.webhookAnswers?.get(address)
    return answer?.kind === 'silent' ? [answer] : []
  })
  const tries = (facts.job.state?.conditionTries ?? 0) + 1
  const [first] = silent
  if (first === undefined || tries >= triesMax || silent.some(({ later }) => !later)) return undefined
  return settles(facts.job, 'queued', {
    due: until(new Date(now.getTime() + Math.ceil(world.random() * 2 ** tries * 1000))),
    state: { ...facts.job.state, conditionTries: tries },
    details: [detail(now, 'webhookRetried', { raw: { message: first.words }, isRetry: true })],
  })
}

async function ask(
  world: World,
  { job, scope, event, version, step }: JobFacts,
  url: string,
  keys: readonly CallKey[],
): Promise<WebhookAnswer> {
  const body = JSON.stringify({
    subscriber: scope.subscriber,
    payload: event.payload,
    identifier: version.identifier,
    channel: step.template.type,
  })
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body }
  try {
    const asked = signedCall(request, job.id, keys, world.now())
    return answerOf(new URL(url).hostname, await world.fetch(asked, { timeoutMs }))
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { kind: 'silent', words: error.message, later: error.kind !== 'refused-address' }
  }
}

/** Called too often, or too slow: as a problem of its own, it passes. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429])

function answerOf(host: string, { status, body }: OutboundAnswer): WebhookAnswer {
  if (status < 200 || status > 299) {
    return { kind: 'silent', words: `${host} answered ${status}`, later: status >= 500 || passingStatuses.has(status) }
  }
  const answer = objectIn(body)
  if (answer !== undefined) return { kind: 'answered', body: answer }
  return { kind: 'silent', words: `${host} did not respond with a JSON object of at most 64 KB`, later: false }
}

function objectIn(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Answer) : undefined
  } catch {
    return undefined
  }
}
