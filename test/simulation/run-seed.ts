// One seed from its first event to the last row: nodes, client, faults and the clock, then the invariants.
import { prepared, sql } from '../../src/db/sql.ts'
import type { Reservation } from '../../src/queue/worker.ts'
import type { Json } from '../support/app.ts'
import { createRandom } from '../support/random.ts'
import { bodyOf, chatAddressOf } from './accounts.ts'
import { FaultyDb } from './faulty-db.ts'
import { mistakesOf } from './invariants.ts'
import type { Ledger, SimulatedEvent } from './ledger.ts'
import type { WorkerName } from './node.ts'
import { SimulatedNode } from './node.ts'
import { FakeProviders, phoneOf } from './providers.ts'
import type { Scenario } from './scenario.ts'
import { accountsOf, delayMs, makeScenario, stepsOf, throttleMax } from './scenario.ts'
import type { SimulationScene } from './scene.ts'
import { startsAtMs } from './scene.ts'
import type { Actor } from './schedule.ts'
import { Schedule } from './schedule.ts'
import { SeedFaults } from './seed-faults.ts'
import { planTrouble } from './trouble.ts'

export interface SeedResult {
  readonly seed: number
  readonly mistakes: readonly string[]
  readonly trace: readonly string[]
  readonly steps: number
  readonly virtualMs: number
}

/** Far more than any seed needs: what goes on longer does not come to rest. */
const stepsMax = 15_000
const virtualMsMax = 48 * 3_600_000
/** What is further away than this is no reason to wait before the queue is looked at. */
const soonMs = 250
const pollMs = 500

export async function runSeed(scene: SimulationScene, seed: number): Promise<SeedResult> {
  const run = new SeedRun(scene, seed)
  const realNow = performance.now.bind(performance)
  // The worker's steady clock is virtual as well.
  performance.now = () => run.schedule.nowMs
  try {
    return await run.toEnd()
  } finally {
    performance.now = realNow
  }
}

interface Due {
  readonly atMs: number
  readonly worker: WorkerName
}

class SeedRun {
  readonly schedule: Schedule
  readonly #scene: SimulationScene
  readonly #seed: number
  readonly #ledger: Ledger
  readonly #scenario: Scenario
  readonly #providers: FakeProviders
  readonly #faults: SeedFaults
  readonly #client: Actor = { name: 'client', isDead: false, frozenUntilMs: 0 }
  readonly #nodes: SimulatedNode[] = []
  readonly #integrationIds = new Map<string, string>()
  #deaths = 0
  #clientsLeft = 0
  #steps = 0

  constructor(scene: SimulationScene, seed: number) {
    const random = createRandom(seed)
    this.#scene = scene
    this.#seed = seed
    this.schedule = new Schedule(random, startsAtMs)
    this.#ledger = {
      events: [],
      calls: [],
      customCalls: [],
      interruptions: [],
      accounts: accountsOf(random),
      throttleMax,
      delayMs,
    }
    this.#scenario = makeScenario(random, this.#ledger)
    this.#providers = new FakeProviders(this.schedule, this.#ledger)
    this.#faults = new SeedFaults(this.schedule, this.#scenario, {
      mayDie: (actor) => this.#mayDie(actor),
      kill: (actor) => this.#kill(actor),
    })
  }

  async toEnd(): Promise<SeedResult> {
    const { id, key } = await this.#scene.environment(`seed-${this.#seed}`)
    await this.#prepare(key)
    this.#startApi()
    for (let count = 0; count < this.#scenario.nodes; count += 1) this.#startNode()
    this.#planTrouble(id, key)
    this.#startClients(key)
    const stuck = await this.#loop(id)
    for (const node of this.#nodes) node.isDead = true
    const mistakes = await mistakesOf(this.#scene.database.db, id, this.#ledger)
    await this.#clear(id)
    return {
      seed: this.#seed,
      mistakes: [...stuck, ...mistakes],
      trace: this.schedule.trace,
      steps: this.#steps,
      virtualMs: this.schedule.nowMs - startsAtMs,
    }
  }

  /** Accounts, workflows and people, before anything goes wrong. */
  async #prepare(key: string): Promise<void> {
    const { database, world: _world } = this.#scene
    const idle = { clock: () => sql`now()`, leaseMs: 60_000, reserve: () => undefined, poke: () => {} }
    this.#scene.present = {
      db: database.db,
      queue: idle,
      nowMs: () => this.schedule.nowMs,
      random: () => this.schedule.random.integer(1_000) / 1_000,
    }
    for (const account of this.#ledger.accounts) {
      const made = await this.#expect(key, 'POST', '/v1/integrations', bodyOf(account))
      this.#integrationIds.set(account.name, made._id)
    }
    for (const workflow of this.#scenario.workflows) {
      const { identifier } = workflow
      const body = { name: identifier, workflowId: identifier, active: true, steps: stepsOf(workflow) }
      await this.#expect(key, 'POST', '/v1/workflows', body)
    }
    const subscribers = this.#scenario.people.map((subscriberId) => ({
      subscriberId,
      email: `${subscriberId}@example.org`,
      phone: phoneOf(subscriberId),
    }))
    await this.#expect(key, 'POST', '/v1/subscribers/bulk', { subscribers })
    if (this.#scenario.workflows.some(({ steps }) => steps.includes('chat'))) {
      for (const person of this.#scenario.people) {
        await this.#expect(key, 'PUT', `/v1/subscribers/${person}/credentials`, chatAddressOf(person))
      }
    }
    await this.#expect(key, 'POST', '/v2/topics', { key: 'topic', name: 'topic' })
    if (this.#scenario.topicMembers.length === 0) return
    const members = { subscriberIds: this.#scenario.topicMembers }
    await this.#expect(key, 'POST', '/v2/topics/topic/subscriptions', members)
  }

  async #expect(key: string, method: string, path: string, body: object): Promise<Json> {
    const reply = await this.#scene.call(key, method, path, body)
    if (reply.status > 201) throw new Error(`${method} ${path} answered ${reply.status}: ${reply.text}`)
    return reply.body
  }

  #startApi(): void {
    const api: Actor = { name: 'api', isDead: false, frozenUntilMs: 0 }
    const { present, database } = this.#scene
    const queueOf = () => this.#living()[0]?.workers.queue ?? present.queue
    const reserving = new Map<string, SimulatedNode>()
    const reserve = (count: number, environmentId: string): Reservation | undefined => {
      const node = this.#living()[0]
      const reservation = node?.workers.queue.reserve(count, environmentId)
      if (node !== undefined && reservation !== undefined) reserving.set(reservation.lease, node)
      return reservation
    }
    this.#scene.present = {
      ...present,
      db: new FaultyDb(database.db, this.schedule, api, this.#faults),
      queue: {
        clock: () => sql`${new Date(this.schedule.nowMs)}::timestamptz`,
        leaseMs: 60_000,
        reserve: (count, environmentId) =>
          this.schedule.random.chance(0.7) ? reserve(count, environmentId) : undefined,
        poke: () => queueOf().poke(),
      },
      decideAtOnce: async (environment, jobs) => {
        const node = reserving.get(jobs[0]?.lease ?? '')
        if (node === undefined || !this.schedule.random.chance(0.7)) return undefined
        const decided = await node.workers.decideAtOnce(environment, jobs)
        // The calls are the node's own: they go out when it lives, and not while it is frozen.
        const written = (ended: () => void): void =>
          void this.schedule.add(node, 0, 'calls', () => decided?.written(ended))
        return decided && { ...decided, written }
      },
    }
  }

  #living(): SimulatedNode[] {
    return this.#nodes.filter((node) => !node.isDead)
  }

  #startNode(): void {
    const node = new SimulatedNode(`node-${this.#nodes.length + 1}`, {
      real: this.#scene.database.db,
      schedule: this.schedule,
      faults: this.#faults,
      providers: this.#providers,
      ledger: this.#ledger,
      world: this.#scene.world,
    })
    this.#nodes.push(node)
  }

  #mayDie(actor: Actor): boolean {
    return actor instanceof SimulatedNode && !actor.isDead && this.#deaths < this.#scenario.deathsMax
  }

  #kill(actor: Actor): void {
    const node = this.#nodes.find((one) => one === actor)
    if (node === undefined) return
    this.#deaths += 1
    const { random } = this.schedule
    node.die(random.chance(0.6) ? random.integer(random.oneOf([50, 5_000, 20_000])) : undefined)
    this.schedule.add(this.#client, 100 + random.integer(4_000), 'restart', () => this.#startNode())
  }

  #planTrouble(environmentId: string, key: string): void {
    planTrouble({
      schedule: this.schedule,
      scenario: this.#scenario,
      ledger: this.#ledger,
      faults: this.#faults,
      providers: this.#providers,
      actor: this.#client,
      db: this.#scene.database.db,
      environmentId,
      living: () => this.#living(),
      startNode: () => this.#startNode(),
      setActive: (account, active) => this.#setActive(key, account, active),
      mayDie: (actor) => this.#mayDie(actor),
      kill: (actor) => this.#kill(actor),
    })
  }

  /** Until it is done: a change of settings is owed as well. */
  async #setActive(key: string, account: string, active: boolean): Promise<void> {
    this.#clientsLeft += 1
    const id = this.#integrationIds.get(account)
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const reply = await this.#call(key, 'PUT', `/v1/integrations/${id}`, { active })
      this.schedule.note(this.#client, `${account} is ${active ? 'on' : 'off'}: ${reply.status}`)
      if (reply.status === 200) break
      await this.#wait(500)
    }
    this.#clientsLeft -= 1
  }

  #startClients(key: string): void {
    let atMs = 0
    for (const { event, afterMs, how } of this.#scenario.plan) {
      atMs += afterMs
      this.#clientsLeft += 1
      this.schedule.add(this.#client, atMs, 'trigger', () => void this.#trigger(key, event, how))
    }
    for (const { event, atMs: cancelMs } of this.#scenario.cancels) {
      this.#clientsLeft += 1
      this.schedule.add(this.#client, cancelMs, 'cancel', () => void this.#cancel(key, event))
    }
  }

  /** Repeats the call under the same transaction id until it is answered, as a careful client does. */
  async #trigger(key: string, event: SimulatedEvent, how: string): Promise<void> {
    const { number, transactionId, workflow, recipients } = event
    const to = how === 'topic' ? [{ type: 'Topic', topicKey: 'topic' }] : recipients
    const body = { name: workflow.identifier, to, payload: { n: number }, transactionId }
    event.triedAtMs = this.schedule.nowMs
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const [path, sent] =
        how === 'bulk' ? ['/v1/events/trigger/bulk', { events: [body] }] : ['/v1/events/trigger', body]
      const reply = await this.#call(key, 'POST', path, sent)
      const answer = how === 'bulk' ? reply.body?.[0] : reply.body
      this.schedule.note(this.#client, `trigger ${number} for ${recipients}: ${reply.status} ${answer?.status}`)
      if (reply.status === 201 && answer?.status === 'processed') {
        event.acknowledgedAtMs = this.schedule.nowMs
        break
      }
      await this.#wait(200 + this.schedule.random.integer(3_000))
    }
    this.#clientsLeft -= 1
  }

  async #cancel(key: string, event: SimulatedEvent): Promise<void> {
    event.cancelAskedAtMs = this.schedule.nowMs
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const isThere = event.acknowledgedAtMs !== undefined
      const reply = await this.#call(key, 'DELETE', `/v1/events/trigger/${event.transactionId}`)
      this.schedule.note(this.#client, `cancel ${event.number}: ${reply.status} ${reply.text}`)
      if (isThere && reply.status === 200) {
        event.canceledAtMs = this.schedule.nowMs
        break
      }
      await this.#wait(1_000)
    }
    this.#clientsLeft -= 1
  }

  async #call(key: string, method: string, path: string, body?: object) {
    this.schedule.requests += 1
    try {
      return await this.#scene.call(key, method, path, body)
    } finally {
      this.schedule.requests -= 1
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.schedule.add(this.#client, ms, 'wait', resolve))
  }

  /** Until nothing is left to do; what keeps it from that, if anything. */
  async #loop(environmentId: string): Promise<string[]> {
    const { schedule } = this
    for (; this.#steps < stepsMax; this.#steps += 1) {
      if (schedule.nowMs - startsAtMs > virtualMsMax) return ['it did not come to rest in two days']
      const nextMs = schedule.nextAtMs()
      if (nextMs !== undefined && (nextMs - schedule.nowMs <= soonMs || schedule.owner !== undefined)) {
        await schedule.step()
        continue
      }
      if (nextMs === undefined && schedule.requests > 0) {
        await new Promise(setImmediate)
        continue
      }
      const due = await this.#due(environmentId)
      if (due === undefined && nextMs === undefined) {
        return this.#clientsLeft === 0 ? [] : ['a client still waits for its answer']
      }
      if (due === undefined || (nextMs !== undefined && nextMs < due.atMs)) await schedule.step()
      else await this.#poll(due, nextMs)
    }
    return [`it did not come to rest in ${stepsMax} steps`]
  }

  /** A node polls every half second: what is due is looked for soon after. */
  async #poll({ atMs: dueMs, worker }: Due, nextMs: number | undefined): Promise<void> {
    const { schedule } = this
    const atMs = Math.max(dueMs, schedule.nowMs) + schedule.random.integer(pollMs) + 1
    schedule.nowMs = Math.max(schedule.nowMs, nextMs === undefined ? atMs : Math.min(atMs, nextMs))
    const living = this.#living().filter((node) => node.frozenUntilMs <= schedule.nowMs)
    if (living.length > 0) schedule.random.oneOf(living).poke(worker)
    for (const node of living) if (schedule.random.chance(0.3)) node.poke(worker)
    await new Promise(setImmediate)
  }

  /** What is due next, and whose it is. */
  async #due(environmentId: string): Promise<Due | undefined> {
    const rows = await this.#scene.database.db.rows<{ worker: Due['worker']; due: Date | null }>(
      prepared(
        'simulation-due',
        sql`
          select case when lane < 2 then 'jobs' else 'suspectedJobs' end as worker, min(due_at) as due
          from jobs where environment_id = ${environmentId} and due_at is not null group by 1
          union all
          select case when lane < 2 then 'tasks' else 'suspectedTasks' end as worker, min(due_at) as due
          from tasks where environment_id = ${environmentId} and due_at is not null group by 1`,
      ),
    )
    const all = rows.flatMap(({ worker, due }) => (due === null ? [] : [{ worker, atMs: due.getTime() }]))
    return all.sort((one, other) => one.atMs - other.atMs)[0]
  }

  /** Whatever a failed seed left must not be claimed by the next. */
  async #clear(environmentId: string): Promise<void> {
    const { db } = this.#scene.database
    await db.run(sql`update jobs set due_at = null where environment_id = ${environmentId} and due_at is not null`)
    await db.run(sql`delete from tasks where environment_id = ${environmentId}`)
  }
}
