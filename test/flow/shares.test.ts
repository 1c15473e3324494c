// Who waits for whom: a provider that does not answer leaves capacity to the others, and direct messages come before fan-out.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, MailScript } from '../support/flow-scene.ts'
import type { TestPipeline } from '../support/pipeline.ts'
import { createTestPipeline } from '../support/pipeline.ts'
import { email } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
let mail: MailScript
let workflow: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  mail = new MailScript(scene)
  workflow = await scene.workflow([email('Hello')])
})
after(() => app.close())
beforeEach(() => mail.clear())

const people = (count: number): Json[] =>
  Array.from({ length: count }, () => ({ subscriberId: fresh('person'), email: `${fresh('ada')}@example.org` }))
const by = (name: string): object => ({ overrides: { email: { integrationIdentifier: mail.identifier(name) } } })
const slots = 50

/** A node that works by itself, as the service does, and is asked to look for work while a test waits. */
async function working<Result>(use: (node: TestPipeline) => Promise<Result>): Promise<Result> {
  const node = createTestPipeline(app.database.db, app.world)
  node.workers.jobs.start()
  node.workers.tasks.start()
  try {
    return await use(node)
  } finally {
    await node.workers.stop()
  }
}

async function soon(node: TestPipeline, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 5_000; looks += 1) {
    if (await isTrue()) return
    node.workers.queue.poke()
    await new Promise(setImmediate)
    await scene.rows(sql`select 1`)
  }
  assert.fail('it did not come true')
}

test('an integration that does not answer holds a share of what is in flight: the mail of another is sent', async () => {
  await mail.account('hung')
  await mail.account('other')
  const hanging: (() => void)[] = []
  mail.meanwhile = ({ account }) =>
    account === 'hung' ? new Promise<void>((resolve) => void hanging.push(resolve)) : undefined
  // More than a node has in flight at a time.
  for (let event = 0; event < 6; event += 1) await scene.trigger(workflow, people(900), by('hung'))
  await working(async (node) => {
    await soon(node, async () => {
      const [row] = await scene.rows(sql`
        select count(*) filter (where lease is null and due_at <= ${app.world.now()}::timestamptz) as unclaimed,
          count(*) filter (where due_at is not null) as open, (select count(*) from tasks) as tasks from jobs`)
      return hanging.length === slots && row.tasks === 0 && row.unclaimed === 0 && row.open === 5_400
    })
    const transactionId = await scene.trigger(workflow, people(5), by('other'))
    await soon(node, async () => (await scene.progress(transactionId)).counts.byOutcome.completed === 5)
    const [leased] = await scene.rows(sql`select count(*) as count from jobs where lease is not null`)
    assert.ok(leased.count <= 2_000, `${leased.count} are held for an integration that does not answer`)
    assert.equal(hanging.length, slots)
    mail.meanwhile = undefined
    for (const answer of hanging) answer()
  })
})

test('a slow service gives its capacity back call by call, not when the last of a batch is over', async () => {
  await mail.account('slow')
  const hanging: (() => void)[] = []
  mail.meanwhile = () => new Promise<void>((resolve) => void hanging.push(resolve))
  await scene.trigger(workflow, people(slots + 20))
  await working(async (node) => {
    await soon(node, () => hanging.length === slots)
    // One never ends; each of the others makes way for the next.
    const [never, ...others] = hanging.splice(0)
    for (const answer of others.slice(0, 20)) answer()
    await soon(node, () => hanging.length === 20)
    mail.meanwhile = undefined
    for (const answer of [...others, ...hanging]) answer()
    await soon(node, async () => (await scene.rows(sql`select 1 from jobs where due_at is not null`)).length === 1)
    never?.()
  })
  assert.equal(mail.asked.length, slots + 20)
})

test('direct messages overtake a fan-out that waits for the same integration, which keeps a quarter', async () => {
  await mail.account('slow')
  const hanging: { to: string; answer(): void }[] = []
  mail.meanwhile = ({ to }) =>
    new Promise<void>((resolve) => void hanging.push({ to: to[0] ?? '', answer: () => resolve() }))
  const topic = fresh('topic')
  const many = Array.from({ length: 150 }, () => fresh('member'))
  await scene.subscribers(...many)
  for (let page = 0; page < many.length; page += 100) await scene.topic(topic, many.slice(page, page + 100))
  await scene.trigger(workflow, { type: 'Topic', topicKey: topic })
  await working(async (node) => {
    await soon(node, () => hanging.length === slots)
    await soon(node, async () => {
      const [row] = await scene.rows(sql`
        select count(*) filter (where lease is not null) as leased, (select count(*) from tasks) as tasks from jobs
        where due_at is not null`)
      return row.leased === 150 && row.tasks === 0
    })
    const direct = people(30)
    await scene.trigger(workflow, direct)
    await soon(node, async () => {
      const [row] = await scene.rows(sql`select count(*) as count from jobs where lease is not null and lane = 0`)
      return row.count === 30
    })
    const before = hanging.length
    // One slot after the other comes free; fewer than a round, after which there would be more slots. The first may go to
    // fan-out, while the direct ones are leased but not yet in line.
    for (let freed = 0; freed < slots - 2; freed += 1) {
      hanging[freed]?.answer()
      await soon(node, () => hanging.length === before + freed + 1)
    }
    const addresses = new Set(direct.map((one) => one.email))
    const begun = hanging.slice(before).map(({ to }) => (addresses.has(to) ? 'direct' : 'fan-out'))
    const mixed = begun.slice(begun.indexOf('direct'), begun.lastIndexOf('direct') + 1)
    assert.equal(mixed.filter((lane) => lane === 'direct').length, 30, begun.join(' '))
    const fanOut = mixed.filter((lane) => lane === 'fan-out').length
    assert.ok(fanOut >= 9 && fanOut <= 10, begun.join(' '))
    mail.meanwhile = undefined
    for (const { answer } of hanging) answer()
  })
})
