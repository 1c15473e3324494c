// What crash tests start from: nodes of the built service on one database, transactions made to hang where a test wants, and a receiver of e-mail.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '../../src/db/connect.ts'
import type { Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { silentLog } from '../../src/world/log.ts'
import type { Json } from './app.ts'
import type { TestDatabase } from './database.ts'
import { createTestDatabase, testCluster } from './database.ts'
import { bodyOf } from './outbound-scene.ts'
import type { Ended, Service } from './service.ts'
import { eventually, ServiceScene } from './service.ts'

export interface Reply {
  readonly status: number
  readonly body: Json
  readonly headers: Headers
}

/** A node of the service, and what tests ask of it. */
export interface FaultNode extends Service {
  /** What its connections are called in the database. */
  readonly name: string
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** kill -9, and the end. */
  kill(): Promise<void>
}

export interface Stall {
  /** Until so many transactions hang here. */
  reached(count?: number): Promise<void>
  /** How many hang here now. */
  count(): Promise<number>
  /** Ends the connections that hang here: what they had begun is undone, and whoever comes next hangs as well. */
  cutOff(): Promise<void>
  /** Lets them continue, and everyone after them. */
  release(): Promise<void>
}

export interface StallOptions {
  readonly on: 'jobs' | 'notifications' | 'messages' | 'tasks' | 'transactions'
  readonly event: 'insert' | 'update'
  /** Only the statement (or row) with this number hangs, counted from 1; without it every one does. */
  readonly at?: number
  /** A condition on the row, in SQL: rows are looked at instead of statements. */
  readonly when?: string
  /** Hangs in the commit instead of the statement. */
  readonly inCommit?: true
  /** Only transactions of this node hang. */
  readonly node?: string
}

const key = 'test-key-of-development'
/** Longer than any test holds a transaction: it is the test that ends the wait. */
const stallMsMax = 60_000
/** The first half of the advisory locks' keys; the service's own have one number only. */
const stallKey = 7_351

export class FaultScene {
  readonly database: TestDatabase
  readonly #services: ServiceScene
  readonly #directory: string
  readonly #closing: (() => Promise<void>)[] = []
  #stalls = 0

  private constructor(database: TestDatabase, services: ServiceScene, directory: string) {
    this.database = database
    this.#services = services
    this.#directory = directory
  }

  static async create(options: { empty?: boolean } = {}): Promise<FaultScene> {
    const services = new ServiceScene()
    return new FaultScene(await createTestDatabase(options), services, await services.directory())
  }

  /** A node on the scene's database, whose connections there have the name. */
  async start(name: string, variables: Record<string, string> = {}): Promise<FaultNode> {
    const service = await this.#services.start({
      DATABASE_URL: `${this.database.url}&application_name=${name}`,
      ...variablesOf(this.#directory),
      ...variables,
    })
    return nodeOf(service, name)
  }

  /** Runs a command of the service to its end. */
  command(args: readonly string[], variables: Record<string, string>): Promise<Ended> {
    return this.#services.run(args, { ...variablesOf(this.#directory), ...variables })
  }

  async close(): Promise<void> {
    await this.#services.close()
    for (const close of this.#closing) await close().catch(() => {})
    await this.database.drop()
  }

  onClose(close: () => Promise<void>): void {
    this.#closing.push(close)
  }

  rows(statement: Statement): Promise<Json[]> {
    return this.database.db.rows<Json>(statement)
  }

  async count(statement: Statement): Promise<number> {
    return (await this.rows(statement))[0]?.count ?? assert.fail('it counts nothing')
  }

  run(text: string): Promise<number> {
    return this.database.db.run({ text, values: [] })
  }

  /** Waits until no connection of the node is left: what it had not committed is undone. */
  async gone({ name }: { name: string }): Promise<void> {
    await eventually(async () => (await this.connections(name)) === 0)
  }

  /** Waits until nothing is left to do. */
  async settled(): Promise<void> {
    const open = sql`
      select (select count(*) from jobs where due_at is not null) + (select count(*) from tasks where due_at is not null) as count`
    await eventually(async () => (await this.count(open)) === 0)
  }

  connections(name: string): Promise<number> {
    return this.count(
      sql`select count(*) as count from pg_stat_activity where datname = current_database() and application_name = ${name}`,
    )
  }

  /** Whether anyone may make a new connection to the database; those there are stay. */
  async allowConnections(allowed: boolean): Promise<void> {
    // Not from within: a connection of the database itself may not do it.
    const { host, port, user, database } = testCluster()
    const admin = connect(
      { host, port, user, database },
      { poolSize: 1, statementTimeoutMs: stallMsMax, lockTimeoutMs: stallMsMax, log: silentLog },
    )
    const text = `alter database ${this.database.connection.database} allow_connections ${allowed}`
    await admin.run({ text, values: [] }).finally(() => admin.close())
  }

  /** From now on transactions hang where the options say, until released. */
  async stall({ on, event, at, when, inCommit, node }: StallOptions): Promise<Stall> {
    this.#stalls += 1
    const number = this.#stalls
    const name = `stall_${number}`
    const release = await this.#holdLock(number)
    this.#closing.push(release)
    const counted = at === undefined ? 'true' : `nextval('${name}') = ${at}`
    const ofNode = node === undefined ? 'true' : `current_setting('application_name') = '${node}'`
    await this.run(`create sequence ${name}`)
    await this.run(`create function ${name}() returns trigger language plpgsql as $$ begin
      if ${ofNode} then if ${counted} then perform pg_advisory_xact_lock_shared(${stallKey}, ${number}); end if; end if;
      return null; end $$`)
    const isOfRows = inCommit === true || when !== undefined
    await this.run(
      `create ${inCommit === true ? 'constraint' : ''} trigger ${name} after ${event} on ${on}
       ${inCommit === true ? 'deferrable initially deferred' : ''} for each ${isOfRows ? 'row' : 'statement'}
       ${when === undefined ? '' : `when (${when})`} execute function ${name}()`,
    )
    return {
      reached: (count = 1) => eventually(async () => (await this.#waiting(number)).length >= count),
      count: async () => (await this.#waiting(number)).length,
      cutOff: async () => {
        const pids = await this.#waiting(number)
        await this.rows(sql`select pg_terminate_backend(pid) from unnest(${pids}::int[]) as pid`)
      },
      release,
    }
  }

  /** Holds the lock that stalled transactions ask for; the answer gives it back. */
  async #holdLock(number: number): Promise<() => Promise<void>> {
    const pool = this.database.another({ poolSize: 1, statementTimeoutMs: stallMsMax })
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let held = (): void => {}
    const isHeld = new Promise<void>((resolve) => {
      held = resolve
    })
    const holding = pool.transaction(async (tx) => {
      await tx.run(sql`select pg_advisory_xact_lock(${stallKey}::int, ${number}::int)`)
      held()
      await released
    })
    await Promise.race([isHeld, holding])
    return async () => {
      release()
      await holding
    }
  }

  /** The processes that hang. */
  async #waiting(number: number): Promise<number[]> {
    const rows = await this.rows(sql`
      select pid from pg_locks
      where locktype = 'advisory' and not granted and classid = ${stallKey} and objid = ${number} and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())`)
    return rows.map((row) => row.pid)
  }

  /** Members put straight into the tables; the topic's key. */
  async topic(node: FaultNode, topicKey: string, size: number): Promise<string> {
    await expectStatus(node.ask('POST', '/v2/topics', { key: topicKey, name: topicKey }), 201)
    await this.database.db.run(sql`
      with topic as (select environment_id, id from topics where key = ${topicKey}),
        people as (
          insert into subscribers (environment_id, id, subscriber_id, email, created_at, updated_at)
          select environment_id, gen_random_uuid(), ${topicKey} || '-' || number, ${topicKey} || number || '@example.org', now(), now()
          from topic, generate_series(1, ${size}::int) as number returning environment_id, id)
      insert into topic_subscriptions (environment_id, topic_id, subscriber_id, id, created_at)
      select people.environment_id, topic.id, people.id, gen_random_uuid(), now() from people, topic`)
    return topicKey
  }
}

export function variablesOf(directory: string): Record<string, string> {
  return {
    POSTHORN_DATA_DIR: directory,
    POSTHORN_API_KEY: key,
    POSTHORN_RATE_LIMIT: 'off',
    POSTHORN_OUTBOUND_ALLOW: '127.0.0.1',
    POSTHORN_DATABASE_LOCK_TIMEOUT_MS: String(stallMsMax),
    POSTHORN_DATABASE_STATEMENT_TIMEOUT_MS: String(stallMsMax),
  }
}

export function nodeOf(service: Service, name: string): FaultNode {
  const ask: FaultNode['ask'] = async (method, path, body, headers = {}) => {
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        authorization: `ApiKey ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers }
  }
  return {
    ...service,
    name,
    ask,
    kill: async () => {
      service.signal('SIGKILL')
      await service.ended
    },
  }
}

async function expectStatus(reply: Promise<Reply>, status: number): Promise<Json> {
  const { status: got, body } = await reply
  assert.equal(got, status, JSON.stringify(body))
  return body
}

export async function makeWorkflow(node: FaultNode, name: string, steps: readonly object[]): Promise<string> {
  await expectStatus(node.ask('POST', '/v1/workflows', { name, workflowId: name, active: true, steps }), 201)
  return name
}

/** An e-mail integration; its identifier. */
export async function makeIntegration(
  node: FaultNode,
  identifier: string,
  providerId: string,
  credentials: object,
): Promise<string> {
  const body = { providerId, channel: 'email', name: identifier, identifier, active: true, credentials }
  await expectStatus(node.ask('POST', '/v1/integrations', body), 201)
  return identifier
}

/** Triggers events in one call; all are accepted. */
export async function trigger(node: FaultNode, events: readonly object[]): Promise<void> {
  const results = await expectStatus(node.ask('POST', '/v1/events/trigger/bulk', { events }), 201)
  for (const result of results) assert.equal(result.status, 'processed', JSON.stringify(result))
}

export async function progress(node: FaultNode, transactionId: string): Promise<Json | undefined> {
  const { status, body } = await node.ask('GET', `/v1/events/${transactionId}`)
  return status === 404 ? undefined : body
}

export async function completed(node: FaultNode, transactionIds: readonly string[]): Promise<void> {
  for (const transactionId of transactionIds) {
    await eventually(async () => (await progress(node, transactionId))?.state === 'completed')
  }
}

/** What the jobs of an event's only notification report, step by step. */
export async function detailsOf(node: FaultNode, transactionId: string): Promise<Json[][]> {
  const list = await expectStatus(node.ask('GET', `/v1/notifications?transactionId=${transactionId}`), 200)
  assert.equal(list.data.length, 1, `${transactionId} has ${list.data.length} notifications`)
  const one = await expectStatus(node.ask('GET', `/v1/notifications/${list.data[0]._id}`), 200)
  return one.jobs.map((job: Json) => job.executionDetails)
}

export interface Sink {
  readonly url: string
  /** The Idempotency-Keys of the requests, in their order. */
  readonly keys: string[]
  /** From now on requests are taken and not answered. */
  hold(): void
  /** Answers those that wait, and all to come. */
  release(): void
  timesSeen(): Map<string, number>
}

/** Receives what email-webhook sends. */
export async function startSink(scene: FaultScene): Promise<Sink> {
  const keys: string[] = []
  const held: (() => void)[] = []
  let holds = false
  const server = createServer(async (request, response) => {
    await bodyOf(request).catch(() => '')
    keys.push(String(request.headers['idempotency-key']))
    const answer = () => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    if (holds) held.push(answer)
    else answer()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scene.onClose(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mail`,
    keys,
    hold: () => {
      holds = true
    },
    release: () => {
      holds = false
      for (const answer of held.splice(0)) answer()
    },
    timesSeen: () => {
      const times = new Map<string, number>()
      for (const one of keys) times.set(one, (times.get(one) ?? 0) + 1)
      return times
    },
  }
}
