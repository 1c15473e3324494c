// What flow tests start from: workflows made over the API, events triggered, and what became of them as callers read it.
import assert from 'node:assert/strict'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { interruptionsBeforeSolo, soloDeathsMax } from '../../src/queue/suspicion.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { OutboundAnswer } from '../../src/world/world.ts'
import type { Json, TestApp, TestReply } from './app.ts'

/** A row that was in flight at so many deaths is buried before it is run. */
export const poisonousAfter = interruptionsBeforeSolo + soloDeathsMax

let names = 0

/** A name no other test of the file has. */
export function fresh(name: string): string {
  names += 1
  return `${name}-${names}`
}

/** `name: "Message sent", status: "Success"` in short. */
export type ReportedDetail = readonly [detail: string, status: string]

export class FlowScene {
  readonly app: TestApp

  constructor(app: TestApp) {
    this.app = app
  }

  /** The identifier of a new, active workflow. */
  async workflow(steps: readonly object[], more: object = {}): Promise<string> {
    return (await this.created(steps, more)).triggers[0].identifier
  }

  async created(steps: readonly object[], more: object = {}): Promise<Json> {
    const name = fresh('workflow')
    return this.expect(201, 'POST', '/v1/workflows', { name, workflowId: name, active: true, steps, ...more })
  }

  async expect(status: number, method: string, path: string, body?: unknown): Promise<Json> {
    const reply = await this.app.call(method, path, body === undefined ? {} : { body })
    assert.equal(reply.status, status, reply.text)
    return reply.body
  }

  bulk(events: readonly unknown[], headers: Record<string, string> = {}): Promise<TestReply> {
    return this.app.call('POST', '/v1/events/trigger/bulk', { body: { events }, headers })
  }

  async results(events: readonly unknown[]): Promise<Json[]> {
    const reply = await this.bulk(events)
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }

  single(event: unknown, headers: Record<string, string> = {}): Promise<TestReply> {
    return this.app.call('POST', '/v1/events/trigger', { body: event, headers })
  }

  /** Triggers one event that must be processed; its transactionId. */
  async trigger(name: string, to: unknown, more: object = {}): Promise<string> {
    const reply = await this.single({ name, to, ...more })
    assert.equal(reply.status, 201, reply.text)
    assert.equal(reply.body.status, 'processed', reply.text)
    return reply.body.transactionId
  }

  /** Triggers a second after whatever was before, and runs all that is due; the one notification of it, with its jobs. */
  async run(name: string, to: unknown, more: object = {}): Promise<Json> {
    this.app.world.advance(1_000)
    const transactionId = await this.trigger(name, to, more)
    await this.app.pipeline.work()
    await this.inNobodysHands(transactionId)
    return this.notification(transactionId)
  }

  /** Where the worker runs by itself, calls may still be under way. */
  async inNobodysHands(transactionId: string): Promise<void> {
    for (let looks = 0; looks < 5_000; looks += 1) {
      const held = await this.rows(sql`
        select 1 from jobs j join events e on e.environment_id = j.environment_id and e.id = j.event_id
        where e.transaction_id = ${transactionId} and j.lease is not null limit 1`)
      if (held.length === 0) return
      await new Promise(setImmediate)
    }
    assert.fail('a job is still in the hands of a worker')
  }

  work(): Promise<number> {
    return this.app.pipeline.work()
  }

  advance(ms: number, everyMs?: number): Promise<void> {
    return this.app.pipeline.advance(ms, everyMs)
  }

  progress(transactionId: string): Promise<Json> {
    return this.expect(200, 'GET', `/v1/events/${encodeURIComponent(transactionId)}`)
  }

  async notifications(transactionId: string): Promise<Json[]> {
    const query = new URLSearchParams({ transactionId, limit: '50' })
    return (await this.expect(200, 'GET', `/v1/notifications?${query}`)).data
  }

  /** The only one of a transaction, as it is read by itself. */
  async notification(transactionId: string): Promise<Json> {
    const all = await this.notifications(transactionId)
    assert.equal(all.length, 1, `there are ${all.length} notifications of ${transactionId}`)
    return this.expect(200, 'GET', `/v1/notifications/${all[0]._id}`)
  }

  async recipients(transactionId: string): Promise<string[]> {
    const all = await this.notifications(transactionId)
    return all.map((one) => one.subscriber.subscriberId).sort()
  }

  async feed(subscriberId: string): Promise<Json[]> {
    const path = `/v1/subscribers/${encodeURIComponent(subscriberId)}/notifications/feed?limit=50`
    return (await this.expect(200, 'GET', path)).data
  }

  /** The texts of a feed, newest first. */
  async texts(subscriberId: string): Promise<string[]> {
    return (await this.feed(subscriberId)).map((item) => item.content)
  }

  async messages(transactionId: string): Promise<Json[]> {
    const query = new URLSearchParams({ transactionId, limit: '1000' })
    return (await this.expect(200, 'GET', `/v1/messages?${query}`)).data
  }

  async message(transactionId: string): Promise<Json> {
    const all = await this.messages(transactionId)
    assert.equal(all.length, 1, `there are ${all.length} messages of ${transactionId}`)
    return all[0]
  }

  subscriber(subscriberId: string): Promise<Json> {
    return this.expect(200, 'GET', `/v2/subscribers/${encodeURIComponent(subscriberId)}`)
  }

  async topic(key: string, subscriberIds: readonly string[]): Promise<void> {
    const reply = await this.app.call('POST', '/v2/topics', { body: { key, name: key } })
    assert.ok(reply.status === 200 || reply.status === 201, reply.text)
    if (subscriberIds.length === 0) return
    await this.expect(201, 'POST', `/v2/topics/${key}/subscriptions`, { subscriberIds })
  }

  async subscribers(...subscriberIds: string[]): Promise<void> {
    for (const subscriberId of subscriberIds) {
      await this.expect(201, 'POST', '/v2/subscribers', { subscriberId, email: `${subscriberId}@example.org` })
    }
  }

  /** Rows of a statement on the database itself. */
  rows(statement: Statement): Promise<Json[]> {
    return this.app.database.db.rows<Json>(statement)
  }
}

/** How the jobs of a notification stand, in the order of the steps. */
export const statuses = (notification: Json): string[] => notification.jobs.map((job: Json) => job.status)

/** What a job reports, in order. */
export const reported = (job: Json): ReportedDetail[] =>
  job.executionDetails.map(({ detail, status }: Json) => [detail, status] as const)

export const rawOf = (job: Json, detail: string): Json => {
  const found = job.executionDetails.find((one: Json) => one.detail === detail)
  return JSON.parse(found?.raw ?? assert.fail(`${detail} is not among ${JSON.stringify(reported(job))}`))
}

/** What a scripted mail provider does: a status, a whole answer, or no answer at all. */
export type MailAnswer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'cut'
  | 'unreachable'

export interface AskedMail {
  readonly account: string
  readonly atMs: number
  readonly subject: string
  readonly to: readonly string[]
  /** The whole request but for what differs from call to call. */
  readonly body: string
  readonly idempotencyKey: string | null
}

/** E-mail accounts whose vendors are a script: each answers 202 by default. */
export class MailScript {
  readonly asked: AskedMail[] = []
  readonly #scene: FlowScene
  readonly #answers = new Map<string, MailAnswer[]>()
  readonly #integrations = new Map<string, string>()
  readonly #identifiers = new Map<string, string>()
  /** Called before each answer, for what happens meanwhile. */
  meanwhile: ((asked: AskedMail) => Promise<void> | void) | undefined

  constructor(scene: FlowScene) {
    this.#scene = scene
    scene.app.world.onFetch = (request) => this.#answer(request)
  }

  /** A SendGrid account, which cannot report a repeat from a new message. */
  async account(name: string, more: object = {}): Promise<string> {
    const credentials = { apiKey: `SG.${name}`, from: 'hello@example.com', baseUrl: `https://${name}.example.com` }
    return this.#create(name, { providerId: 'sendgrid', credentials, ...more })
  }

  /** An e-mail webhook, which knows repeats by their key. */
  async webhook(name: string, more: object = {}): Promise<string> {
    const credentials = { webhookUrl: `https://${name}.example.com/mail`, secretKey: 'secret' }
    return this.#create(name, { providerId: 'email-webhook', credentials, ...more })
  }

  /** What a trigger names the account by. */
  identifier(name: string): string {
    return this.#identifiers.get(name) ?? assert.fail(`there is no account ${name}`)
  }

  async #create(name: string, body: object): Promise<string> {
    // Those of deleted integrations stay taken.
    const identifier = fresh(name)
    this.#identifiers.set(name, identifier)
    const made = await this.#scene.expect(201, 'POST', '/v1/integrations', {
      channel: 'email',
      name,
      identifier,
      active: true,
      ...body,
    })
    this.#integrations.set(name, made._id)
    return made._id
  }

  async remove(name: string): Promise<void> {
    await this.#scene.expect(200, 'DELETE', `/v1/integrations/${this.#integrations.get(name)}`)
    this.#integrations.delete(name)
  }

  /** Forgets all accounts and whatever was still to be sent: the next test has its own. */
  async clear(): Promise<void> {
    await this.#scene.rows(sql`update jobs set due_at = null where due_at is not null`)
    for (const name of [...this.#integrations.keys()]) await this.remove(name)
    this.#answers.clear()
    this.asked.length = 0
    this.meanwhile = undefined
  }

  /** What the account answers next, one after the other; the last one from then on. */
  answers(name: string, ...answers: MailAnswer[]): void {
    this.#answers.set(name, answers)
  }

  /** Which accounts were asked, in order. */
  accounts(): string[] {
    return this.asked.map((one) => one.account)
  }

  async #answer(request: Request): Promise<OutboundAnswer> {
    const account = new URL(request.url).hostname.replace('.example.com', '')
    const body = await request.text()
    const json = JSON.parse(body)
    const asked = {
      account,
      atMs: this.#scene.app.world.now().getTime(),
      subject: json.subject,
      to: json.personalizations?.[0].to.map(({ email }: Json) => email) ?? json.to,
      body,
      idempotencyKey: request.headers.get('idempotency-key'),
    }
    this.asked.push(asked)
    await this.meanwhile?.(asked)
    const script = this.#answers.get(account) ?? [202]
    const answer = (script.length > 1 ? script.shift() : script[0]) ?? 202
    if (answer === 'cut') throw new OutboundError('unsure', 'The connection was cut')
    if (answer === 'unreachable') throw new OutboundError('not-sent', 'The host did not answer')
    const { status, headers = {}, body: said = '' } = typeof answer === 'number' ? { status: answer } : answer
    const own = status === 202 ? { 'x-message-id': `${account}-${this.asked.length}` } : {}
    return { status, headers: new Headers({ ...own, ...headers }), body: said }
  }
}
