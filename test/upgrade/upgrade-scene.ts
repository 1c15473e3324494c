// What upgrade tests start from: a dump in a database of its own, the present build on it, and vendors that accept everything.
import assert from 'node:assert/strict'
import type { Json } from '../support/app.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import type { Service } from '../support/service.ts'
import { ServiceScene } from '../support/service.ts'
import type { Call } from './dump-workflows.ts'
import type { Dump } from './dumps.ts'
import { restore, runText } from './dumps.ts'
import type { OutsideWorld } from './outside-world.ts'
import { outsideVariables, startOutsideWorld } from './outside-world.ts'

/** However old the dump is: what waited goes on waiting, what was leased is leased a little longer, nothing has expired. */
const asIfNow = `
  update jobs set due_at = now() + interval '1 hour' where status = 'delayed' and due_at is not null;
  update tasks set due_at = now() + interval '1 hour' where kind = 'unsnooze';
  update digest_windows set due_at = now() + interval '1 hour' where closed_at is null;
  update jobs set due_at = now() + interval '58 seconds' where lease is not null;
  update tasks set due_at = now() + interval '58 seconds' where lease is not null;
  update throttle_windows set until_at = now() + interval '1 hour';
  update attachments set created_at = now();
  update idempotency_keys set expires_at = now() + interval '1 hour';`

export class UpgradeScene {
  readonly dump: Dump
  readonly database: TestDatabase
  readonly world: OutsideWorld
  readonly #services: ServiceScene
  readonly #directory: string

  private constructor(
    dump: Dump,
    database: TestDatabase,
    world: OutsideWorld,
    services: ServiceScene,
    directory: string,
  ) {
    this.dump = dump
    this.database = database
    this.world = world
    this.#services = services
    this.#directory = directory
  }

  static async create(dump: Dump): Promise<UpgradeScene> {
    const services = new ServiceScene()
    const database = await createTestDatabase({ empty: true })
    await restore(dump, database)
    await runText(database, asIfNow)
    const world = await startOutsideWorld({ obeys: false })
    return new UpgradeScene(dump, database, world, services, await services.directory())
  }

  start(variables: Record<string, string> = {}): Promise<Service> {
    return this.#services.start({
      DATABASE_URL: this.database.url,
      POSTHORN_DATA_DIR: this.#directory,
      POSTHORN_API_KEY: this.dump.keys.development,
      POSTHORN_API_KEY_2: this.dump.keys.production,
      POSTHORN_ENCRYPTION_KEY: this.dump.encryptionKey,
      POSTHORN_RATE_LIMIT: 'off',
      // However old the dump is.
      POSTHORN_RETENTION_DAYS: 'off',
      ...outsideVariables(this.world),
      ...variables,
    })
  }

  rows(text: string, values: readonly unknown[] = []): Promise<Json[]> {
    return this.database.db.rows<Json>({ text, values })
  }

  async count(text: string): Promise<number> {
    return Number((await this.rows(`select count(*)::int as count from ${text}`))[0]?.count)
  }

  async close(): Promise<void> {
    await this.#services.close()
    await this.world.close()
    await this.database.drop()
  }
}

export function callOf(service: Service, key: string): Call {
  return async (method, path, body) => {
    const reply = await service.call(method, path, key, body)
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply.body
  }
}

/** Fails where something of `before` is missing in `after` or differs; what a later release adds is no loss. */
export function assertContains(after: Json, before: Json, place: string): void {
  if (Array.isArray(before)) {
    assert.ok(Array.isArray(after), `${place} was a list`)
    assert.equal(after.length, before.length, `${place} had ${before.length} elements`)
    for (const [index, one] of before.entries()) assertContains(after[index], one, `${place}[${index}]`)
  } else if (typeof before === 'object' && before !== null) {
    assert.ok(typeof after === 'object' && after !== null, `${place} was an object`)
    for (const [name, value] of Object.entries(before)) assertContains(after[name], value, `${place}.${name}`)
  } else {
    assert.deepEqual(after, before, place)
  }
}
