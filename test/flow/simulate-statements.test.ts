// What simulating costs the database: the same few reads however many are notified, no transaction, no lock and no
// write.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Db, Sql, Statement } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { readEvent } from '../../src/http/request/event-request.ts'
import { createSimulator } from '../../src/simulate/simulate.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { worldClock } from '../support/pipeline.ts'
import { delay, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

/** Notes what is asked; whoever opens a transaction is refused. */
function noting(db: Db, asked: string[]): Db {
  const on = (to: Sql): Sql => {
    const note = (statement: Statement): Statement => {
      asked.push(statement.text)
      return statement
    }
    return {
      rows: (statement) => to.rows(note(statement)),
      row: (statement) => to.row(note(statement)),
      run: (statement) => to.run(note(statement)),
    }
  }
  return {
    ...on(db),
    transaction: () => assert.fail('a transaction was opened'),
    together: (work) => db.together((each) => work(on(each))),
  }
}

const writes = /\b(insert\s+into|update\s+\w+\s+set|delete\s+from|for\s+(no\s+key\s+)?update|for\s+(key\s+)?share)\b/i

test('a hundred people cost the statements of one, and all of them read', async () => {
  const people = Array.from({ length: 100 }, () => fresh('person'))
  await scene.subscribers(...people)
  await scene.expect(201, 'POST', '/v1/suppressions', { channel: 'email', address: 'x@example.org', reason: 'manual' })
  const throttle = { template: { type: 'throttle' }, metadata: { type: 'fixed', amount: 1, unit: 'hours' } }
  const chat = { template: { type: 'chat', content: 'x' } }
  const name = await scene.workflow([throttle, digest(), delay(), inApp('x'), email(), chat])
  const [environment] = (await scene.rows(sql`
    select id, organization_id as "organizationId", name from environments where name = 'Development'`)) as Environment[]
  assert.ok(environment !== undefined)
  const asked: string[] = []
  const simulator = createSimulator({
    db: noting(app.database.db, asked),
    world: app.world,
    queueClock: worldClock(app.world),
  })
  const askedFor = async (to: unknown): Promise<number> => {
    asked.length = 0
    const { recipients } = await simulator.simulate(environment, { event: readEvent({ name, to, payload: {} }) })
    assert.equal(recipients.length, [to].flat().length)
    return asked.length
  }
  // The first time versions, integrations and layouts are read.
  await askedFor(people[0])
  const forOne = await askedFor(people[0])
  const forAll = await askedFor(people)
  assert.equal(forAll, forOne)
  assert.ok(forAll <= 12, `${forAll} statements: ${asked.join('\n')}`)
  assert.deepEqual(
    asked.filter((text) => writes.test(text)),
    [],
  )
})
