// A random environment with its events on one side, and all there is to see of it, without what differs from run to run.
import assert from 'node:assert/strict'
import { sql } from '../../src/db/sql.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { OutboundAnswer } from '../../src/world/world.ts'
import type { Json, TestReply } from './app.ts'
import type { PlannedCall } from './random-setups.ts'
import { today, withBareNumbers } from './random-setups.ts'
import type { Side } from './two-ways.ts'

const looksMax = 20_000

/** One environment on one side: what it was asked, what it asked of others, and what it holds. */
export class CaseRun {
  readonly #side: Side
  readonly #key: string
  readonly #environment: Json
  /** Names of ids that calls returned, by the id. */
  readonly #names = new Map<string, string>()
  readonly #ids = new Map<string, string>()
  readonly #asked: string[] = []
  readonly #hints: string[] = []
  readonly #unwilling = new Set<string>()

  /** The day on which the case began. */
  readonly #day: string

  private constructor(side: Side, environment: Json) {
    this.#day = side.app.world.now().toISOString().slice(0, 10)
    this.#side = side
    this.#key = environment.apiKeys[0].key
    this.#environment = environment
    this.#names.set(environment._id, 'environment')
    const { world } = side.app
    // The worker's own pauses must not move the clock: then no time would be the same on both sides.
    world.sleep = () => new Promise(setImmediate)
    world.onFetch = (request) => this.#answer(request)
    world.inboxHint = (_, subscriberIds) => void this.#hints.push(...subscriberIds)
    world.logged.length = 0
  }

  static async open(side: Side, name: string): Promise<CaseRun> {
    return new CaseRun(side, await side.scene.expect(201, 'POST', '/v1/environments', { name }))
  }

  /** The answer, as far as it is the same for the same call. */
  async call({ method, path, body, headers, named }: PlannedCall): Promise<Json> {
    const reply = await this.#call(method, this.#resolved(path), {
      ...(body !== undefined && { body: withBareNumbers(this.#resolved(JSON.stringify(body))) }),
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    })
    if (reply.status < 300) this.#learn(reply.body, named)
    return {
      status: reply.status,
      body: this.#masked(method === 'POST' && path.endsWith('endpoints') ? { ...reply.body, secret: '' } : reply.body),
      warnings: reply.headers['posthorn-warnings'],
      replay: reply.headers['idempotency-replay'],
    }
  }

  #call(method: string, path: string, more: object): Promise<TestReply> {
    return this.#side.app.call(method, path, { key: this.#key, ...more })
  }

  #resolved(text: string): string {
    return text.replaceAll(today, this.#day).replaceAll(/<<(\w+)>>/g, (_, name: string) => this.#ids.get(name) ?? name)
  }

  #learn(body: Json, named: string | undefined): void {
    if (typeof body?._id !== 'string') return
    const name = named ?? body.subscriberId ?? body.identifier
    if (typeof name === 'string') this.#names.set(body._id, name)
    if (named !== undefined) this.#ids.set(named, body._id)
    for (const [place, step] of (body.steps ?? []).entries()) {
      this.#names.set(step._id, `${name} step ${place}`)
      if (step._templateId) this.#names.set(step._templateId, `${name} template ${place}`)
    }
  }

  /** Ids by their names; those without a name are all the same. */
  #masked(value: Json): Json {
    const text = JSON.stringify(value ?? null).replaceAll(
      /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
      (id) => `#${this.#names.get(id) ?? ''}`,
    )
    return JSON.parse(text)
  }

  async #answer(request: Request): Promise<OutboundAnswer> {
    const { hostname, pathname } = new URL(request.url)
    const body = await request.text()
    const headers = [...request.headers].filter(
      ([name]) => !/signature|timestamp|webhook-id|idempotency|traceparent|boundary|content-length/.test(name),
    )
    const asked = this.#masked({ hostname, pathname, headers, body })
    this.#asked.push(JSON.stringify({ at: this.#now(), ...asked }))
    const answered = (status: number, said: string, more: Record<string, string> = {}): OutboundAnswer => ({
      status,
      headers: new Headers(more),
      body: said,
    })
    // Only the first time: who asks first after a longer pause is chance.
    if (/-(cut|busy)/.test(hostname) && this.#unwilling.size < this.#unwilling.add(asked.body).size) {
      if (hostname.includes('-cut')) throw new OutboundError('unsure', 'The connection was cut')
      return answered(503, 'later')
    }
    if (hostname.includes('-refuses')) return answered(400, '{"errors":[{"message":"no"}]}')
    if (hostname.startsWith('rules')) return answered(200, '{"ok":"y"}')
    if (hostname.startsWith('hooks')) return answered(200, 'thanks')
    return answered(hostname.startsWith('mail') ? 202 : 200, '{"id":"given"}', { 'x-message-id': 'given' })
  }

  #now(): string {
    return this.#side.app.world.now().toISOString()
  }

  get nowMs(): number {
    return this.#side.app.world.now().getTime()
  }

  /** When the next job or task is due, if any is. */
  async nextDueMs(): Promise<number | undefined> {
    const [row] = await this.#side.scene.rows(sql`
      select min(due_at) as at from (
        select due_at from jobs where due_at is not null union all select due_at from tasks where due_at is not null) as open`)
    return row?.at?.getTime()
  }

  /** Until nothing is due any more, at a time that is not before what it was. */
  async settleAt(ms: number): Promise<void> {
    const { world, pipeline } = this.#side.app
    world.advance(Math.max(0, ms - this.nowMs))
    for (let looks = 0; looks < looksMax; looks += 1) {
      const [open] = await this.#side.scene.rows(sql`
        select bool_or(lease is not null) as held from (
          select due_at, lease from jobs where due_at is not null
          union all select due_at, lease from tasks where due_at is not null) as open
        where lease is not null or due_at <= ${new Date(ms)}`)
      if (open.held === null) break
      if (open.held) await new Promise(setImmediate)
      else await pipeline.work()
      assert.ok(looks < looksMax - 1, 'jobs are still open')
    }
    assert.equal(this.nowMs, ms, 'the clock moved by itself')
  }

  /** What is left of it must not run in a later case. */
  async close(): Promise<void> {
    await this.#side.scene.rows(sql`update jobs set due_at = null where due_at is not null`)
    await this.#side.scene.rows(sql`delete from tasks where due_at is not null`)
    // There can be a hundred.
    const { _id, name } = this.#environment
    const gone = await this.#call('DELETE', `/v1/environments/${_id}?confirm=${encodeURIComponent(name)}`, {})
    assert.equal(gone.status, 200, gone.text)
  }

  async #get(path: string): Promise<Json> {
    const reply = await this.#call('GET', path, {})
    return { status: reply.status, ...(Array.isArray(reply.body) ? { data: reply.body } : reply.body) }
  }

  /** Pages have no order among what was made at the same time. */
  async #list(path: string): Promise<Json[]> {
    const { data, status } = await this.#get(path)
    assert.equal(status, 200, path)
    return data
  }

  #sorted(items: readonly Json[]): string[] {
    return items.map((item) => JSON.stringify(this.#masked(item))).sort()
  }

  async #people(): Promise<Json> {
    const people = await this.#list('/v2/subscribers?limit=100')
    for (const person of people) this.#names.set(person._id, person.subscriberId)
    const seen: Record<string, Json> = {}
    for (const { subscriberId } of people) {
      const at = encodeURIComponent(subscriberId)
      seen[`feed of ${subscriberId}`] = this.#sorted(
        await this.#list(`/v1/subscribers/${at}/notifications/feed?limit=100`),
      )
      seen[`unseen of ${subscriberId}`] = await this.#get(`/v1/subscribers/${at}/notifications/unseen`)
    }
    return { subscribers: this.#sorted(people), ...seen }
  }

  async #activity(): Promise<Json> {
    const listed: Json[] = []
    for (let page = 0, hasMore = true; hasMore && page < 10; page += 1) {
      const answer = await this.#get(`/v1/notifications?limit=50&page=${page}`)
      listed.push(...answer.data)
      hasMore = answer.hasMore
    }
    const whole: Json[] = []
    for (const { _id } of listed) {
      const one = await this.#get(`/v1/notifications/${_id}`)
      const why = await this.#get(`/v1/notifications/${_id}/why`)
      for (const job of one.jobs) job.messages = this.#sorted(job.messages)
      for (const step of why.steps) step.messages = this.#sorted(step.messages)
      whole.push({ one, why })
    }
    return { listed: this.#sorted(listed), whole: this.#sorted(whole) }
  }

  async #counts(): Promise<Json> {
    const seen: Record<string, Json> = {}
    const window = `from=${this.#day}T00:00:00Z&step=hour`
    for (const [measure, ...by] of [
      ['messages', 'workflow', 'channel', 'provider', 'outcome'],
      ['retries', 'workflow', 'channel', 'provider'],
      ['steps', 'workflow', 'channel', 'outcome'],
      ['endings', 'workflow', 'outcome'],
      ['notifications', 'workflow'],
      ['events', 'workflow'],
      ['buried', 'workflow', 'channel'],
    ] as const) {
      const groups = by.map((name) => `groupBy=${name}`).join('&')
      const { series, ...rest } = await this.#get(`/v1/counts?measure=${measure}&${window}&${groups}`)
      seen[measure] = { ...rest, series: this.#sorted(series ?? []) }
    }
    const times = await this.#get(`/v1/counts/delivery-times?${window}&groupBy=workflow`)
    seen['times'] = { ...times, data: this.#sorted(times.data) }
    for (const path of ['/v1/counts/failures', '/v1/failures/causes', '/v1/counts/queue'])
      seen[path] = this.#masked(await this.#get(path))
    seen['failures'] = this.#sorted(await this.#list('/v1/failures?limit=50'))
    return seen
  }

  async #sent(): Promise<Json> {
    const outbox = await this.#list('/v1/outbox?limit=100')
    const captured: Json[] = []
    for (const { _id } of outbox) captured.push(await this.#get(`/v1/outbox/${_id}`))
    const hooks = this.#ids.get('hooks')
    return {
      asked: [...this.#asked].sort(),
      captured: this.#sorted(captured),
      deliveries: hooks ? this.#sorted(await this.#list(`/v1/webhook-endpoints/${hooks}/deliveries?limit=100`)) : [],
    }
  }

  /** What can be seen of everything so far with few calls. */
  async glance(): Promise<Record<string, Json>> {
    return {
      messages: this.#sorted(await this.#list('/v1/messages?limit=1000')),
      activity: this.#sorted(await this.#list('/v1/notifications?limit=50')),
      events: this.#sorted(await this.#list('/v1/events?limit=100')),
    }
  }

  /** Everything that can be seen from outside. */
  async seen(): Promise<Record<string, Json>> {
    const people = await this.#people()
    const events = await this.#list('/v1/events?limit=100')
    const progress: Json[] = []
    for (const { transactionId } of events)
      progress.push(await this.#get(`/v1/events/${encodeURIComponent(transactionId)}`))
    return {
      people,
      events: this.#sorted(events),
      progress: this.#sorted(progress),
      activity: await this.#activity(),
      messages: this.#sorted(await this.#list('/v1/messages?limit=1000')),
      counts: await this.#counts(),
      sent: await this.#sent(),
      tenants: this.#sorted(await this.#list('/v1/tenants?limit=100')),
      contexts: this.#sorted(await this.#list('/v2/contexts?limit=100')),
      suppressions: this.#sorted(await this.#list('/v1/suppressions?limit=100')),
      integrations: this.#sorted(await this.#list('/v1/integrations')),
      hints: [...new Set(this.#masked(this.#hints))].sort(),
      logged: this.#side.app.world.logged
        .filter(({ level }) => level === 'warn' || level === 'error')
        .map(({ message }) => message)
        .sort(),
    }
  }
}
