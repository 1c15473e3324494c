// The simulated providers: they answer, refuse, are busy, cut, time out and answer garbage as the seed says.
import { whenAnswered } from '../../src/world/outbound/may-leave.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { OutboundAnswer, OutboundOptions, OutboundRequest } from '../../src/world/world.ts'
import type { Json } from '../support/app.ts'
import type { Account, Learned, Ledger, ProviderCall } from './ledger.ts'
import type { Actor, Schedule } from './schedule.ts'
import { numbersIn } from './written.ts'

export type Behaviour = 'good' | 'flaky' | 'busy' | 'down' | 'unsure'

type Answer = 'ok' | 'limited' | 'broken' | 'unavailable' | 'cut' | 'timeout' | 'garbage' | 'gateway' | 'unreachable'

const answers: Readonly<Record<Behaviour, readonly Answer[]>> = {
  good: ['ok'],
  flaky: ['ok', 'ok', 'ok', 'limited', 'broken', 'cut', 'timeout', 'garbage', 'gateway', 'unreachable', 'unavailable'],
  busy: ['ok', 'limited', 'unavailable'],
  down: ['unreachable', 'broken', 'unavailable'],
  unsure: ['ok', 'cut', 'timeout', 'gateway'],
}

const learnedOf: Readonly<Record<Answer, Learned>> = {
  ok: 'sent',
  limited: 'not-sent',
  broken: 'not-sent',
  unavailable: 'not-sent',
  unreachable: 'not-sent',
  cut: 'unknown',
  timeout: 'unknown',
  garbage: 'unknown',
  gateway: 'unknown',
}

/** How often a customer's service may fail for one event: after more it counts as failed, which is no loss. */
const serviceFailuresMax = 2

export class FakeProviders {
  readonly #schedule: Schedule
  readonly #ledger: Ledger
  readonly #behaviours = new Map<string, { behaviour: Behaviour; untilMs: number }>()
  readonly #deliveredKeys = new Set<string>()
  readonly #serviceFailures = new Map<string, number>()
  /** In which a process may be made to end. */
  onCall: ((actor: Actor) => void) | undefined

  constructor(schedule: Schedule, ledger: Ledger) {
    this.#schedule = schedule
    this.#ledger = ledger
  }

  behave(account: string, behaviour: Behaviour, untilMs: number): void {
    this.#behaviours.set(account, { behaviour, untilMs })
  }

  /** What a process that ended never learned. */
  interrupt(actor: Actor): void {
    for (const call of this.#ledger.calls) {
      if (call.node === actor.name && call.learned === 'pending') call.learned = 'interrupted'
    }
  }

  async call(actor: Actor, request: Request | OutboundRequest, options: OutboundOptions = {}): Promise<OutboundAnswer> {
    const host = new URL(request.url).hostname.split('.')[0] ?? ''
    const { mayLeave } = options
    const begunAtMs = this.#schedule.nowMs
    await this.#connected(actor, host)
    const isAllowed = mayLeave === undefined || (await new Promise<boolean>((goOn) => whenAnswered(mayLeave, goOn)))
    if (!isAllowed) throw new OutboundError('withheld', `The request to ${host} was cancelled`)
    const text = request instanceof Request ? await request.text() : String(request.body ?? '')
    const headers = request instanceof Request ? request.headers : new Headers({ ...request.headers })
    const account = this.#ledger.accounts.find((one) => one.name === host)
    const answer = this.#answerOf(host, account === undefined ? text : undefined)
    if (account === undefined) return this.#service(actor, host, text, answer)
    const message = readMessage(account, request.url, text)
    const call = this.#record(actor, account, { ...message, begunAtMs }, headers.get('idempotency-key'), answer)
    this.onCall?.(actor)
    return this.#answered(actor, call, answer, options.timeoutMs ?? 15_000)
  }

  /** A connection takes its time: a mail server's more, as much is said before the message itself. */
  #connected(actor: Actor, host: string): Promise<void> {
    const { random } = this.#schedule
    const usualMs = host.startsWith('smtp') ? 400 : 10
    const ms = random.chance(0.03) ? random.integer(14_000) : random.integer(usualMs)
    return new Promise((resolve) => this.#schedule.add(actor, ms, `connection to ${host}`, resolve))
  }

  #answerOf(host: string, service: string | undefined): Answer {
    const mood = this.#behaviours.get(host)
    const behaviour = mood !== undefined && mood.untilMs > this.#schedule.nowMs ? mood.behaviour : 'good'
    const answer = this.#schedule.random.oneOf(answers[behaviour])
    if (service === undefined || answer === 'ok') return answer
    const failures = this.#serviceFailures.get(`${host} ${service}`) ?? 0
    this.#serviceFailures.set(`${host} ${service}`, failures + 1)
    return failures < serviceFailuresMax ? answer : 'ok'
  }

  #record(
    actor: Actor,
    account: Account,
    message: { to: string; text: string; begunAtMs: number },
    key: string | null,
    answer: Answer,
  ): ProviderCall {
    const { random, nowMs } = this.#schedule
    const isTaken = answer === 'ok' || (learnedOf[answer] === 'unknown' && random.chance(0.5))
    const isKnown = account.isIdempotent && key !== null && this.#deliveredKeys.has(key)
    if (isTaken && key !== null) this.#deliveredKeys.add(key)
    const call: ProviderCall = {
      account: account.name,
      channel: account.channel,
      to: message.to,
      numbers: numbersIn(message.text),
      node: actor.name,
      begunAtMs: message.begunAtMs,
      startedAtMs: nowMs,
      idempotencyKey: key,
      delivered: isTaken && !isKnown,
      learned: 'pending',
    }
    this.#ledger.calls.push(call)
    this.#schedule.note(
      actor,
      `CALL ${account.name} ${call.numbers.map((number) => `#${number}`)} to ${call.to}: ${answer}${call.delivered ? ', delivered' : ''}`,
    )
    return call
  }

  #answered(actor: Actor, call: ProviderCall, answer: Answer, timeoutMs: number): Promise<OutboundAnswer> {
    const { random } = this.#schedule
    const usualMs = random.chance(0.1) ? 1_000 + random.integer(8_000) : random.integer(200)
    return new Promise((resolve, reject) => {
      const fire = (): void => {
        call.learned = learnedOf[answer]
        call.endedAtMs = this.#schedule.nowMs
        const reply = replyOf(answer, call)
        if (reply instanceof OutboundError) reject(reply)
        else resolve(reply)
      }
      this.#schedule.add(actor, answer === 'timeout' ? timeoutMs : usualMs, `answer of ${call.account}`, fire)
    })
  }

  /** The customer's own services: a custom step's, and a condition's. */
  #service(actor: Actor, host: string, text: string, answer: Answer): Promise<OutboundAnswer> {
    const body = JSON.parse(text) as Json
    const number = Number(body.n ?? body.payload?.n)
    const to = body.to ?? body.subscriber?.subscriberId ?? ''
    if (host === 'custom' && answer === 'ok') this.#ledger.customCalls.push({ number, to, atMs: this.#schedule.nowMs })
    this.#schedule.note(actor, `CALL ${host} #${number} to ${to}: ${answer}`)
    this.onCall?.(actor)
    return new Promise((resolve, reject) => {
      const fire = (): void => {
        const reply = replyOf(answer, undefined)
        if (reply instanceof OutboundError) reject(reply)
        else resolve(reply)
      }
      this.#schedule.add(actor, this.#schedule.random.integer(200), `answer of ${host}`, fire)
    })
  }
}

function readMessage(account: Account, url: string, text: string): { to: string; text: string } {
  if (account.channel === 'chat') {
    return { to: `person-${new URL(url).pathname.replace('/hooks/person', '')}`, text: (JSON.parse(text) as Json).text }
  }
  if (account.channel === 'email') {
    const body = JSON.parse(text) as Json
    const to: string = body.personalizations?.[0].to[0].email ?? [body.to].flat()[0]?.email ?? [body.to].flat()[0]
    return { to: to.replace('@example.org', ''), text: body.subject }
  }
  const body = new URLSearchParams(text)
  return { to: personOfPhone(body.get('To') ?? ''), text: body.get('Body') ?? '' }
}

export const phoneOf = (person: string): string => `+49151${person.replace(/\D/g, '').padStart(7, '0')}`
const personOfPhone = (phone: string): string => `person-${Number(phone.replace('+49151', ''))}`

function replyOf(answer: Answer, call: ProviderCall | undefined): OutboundAnswer | OutboundError {
  const reply = (status: number, body: string, headers: Record<string, string> = {}): OutboundAnswer => ({
    status,
    headers: new Headers(headers),
    body,
  })
  switch (answer) {
    case 'ok':
      if (call === undefined) return reply(200, '{"data":{"allowed":"yes"}}')
      if (call.channel === 'chat') return reply(200, 'ok')
      return call.channel === 'sms'
        ? reply(201, '{"sid":"SM1","status":"queued"}')
        : reply(202, '{}', { 'x-message-id': 'm1' })
    case 'limited':
      return reply(429, '{}', { 'retry-after': '7' })
    case 'broken':
      return reply(500, '{}')
    case 'unavailable':
      return reply(503, 'Service Unavailable')
    case 'gateway':
      return reply(504, 'Gateway Timeout')
    case 'garbage':
      return new OutboundError('unsure', 'The answer could not be read')
    case 'cut':
      return new OutboundError('unsure', 'The connection was cut')
    case 'timeout':
      return new OutboundError('unsure', 'There was no answer in time')
    case 'unreachable':
      return new OutboundError('not-sent', 'The host could not be reached')
  }
}
