// All connections end at once, as in a failover, and a node that is frozen: who is taken for dead, and who is not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json } from '../support/app.ts'
import type { FaultNode, Sink } from '../support/fault-scene.ts'
import { completed, FaultScene, makeIntegration, makeWorkflow, startSink, trigger } from '../support/fault-scene.ts'
import { eventually } from '../support/service.ts'
import { email } from '../support/workflow-scene.ts'

let scene: FaultScene
let api: FaultNode
let quick: FaultNode
let slow: FaultNode
let sink: Sink
before(async () => {
  scene = await FaultScene.create()
  sink = await startSink(scene)
  api = await scene.start('api', { POSTHORN_ROLE: 'api' })
  quick = await scene.start('quick', { POSTHORN_ROLE: 'worker' })
  slow = await scene.start('slow', { POSTHORN_ROLE: 'worker' })
  await makeIntegration(api, 'webhook', 'email-webhook', { webhookUrl: sink.url, secretKey: 'secret' })
  await makeWorkflow(api, 'mail', [email('{{ payload.text }}')])
  // Who began to send which message.
  await scene.run('create table written (message_id uuid, node text)')
  await scene.run(`create function note_writer() returns trigger language plpgsql as $$ begin
    insert into written values (new.id, current_setting('application_name')); return null; end $$`)
  await scene.run('create trigger note_writer after insert on messages for each row execute function note_writer()')
})
after(() => scene.close())

let calls = 0
function eventsOf(count: number) {
  return Array.from({ length: count }, () => {
    calls += 1
    const id = `mail-${calls}`
    return {
      name: 'mail',
      to: { subscriberId: id, email: `${id}@example.org` },
      payload: { text: 'x' },
      transactionId: id,
    }
  })
}

const beganBy = ({ name }: FaultNode) =>
  scene.count(sql`
    select count(*) as count from written w join messages m on m.id = w.message_id
    where w.node = ${name} and m.state = 'calling'`)

const heartbeatOf = async ({ pid }: FaultNode): Promise<Json> => {
  const [row] = await scene.rows(sql`
    select node_id, epoch, beat, ended_at is not null as ended from node_heartbeats where pid = ${pid} order by epoch desc`)
  return row ?? assert.fail('it has no heartbeat')
}

/** Mails that both nodes are in the middle of sending; their events. */
async function bothSend(): Promise<string[]> {
  sink.hold()
  const ids: string[] = []
  await eventually(async () => {
    const events = eventsOf(10)
    ids.push(...events.map((event) => event.transactionId))
    await trigger(api, events)
    return (await beganBy(quick)) > 0 && (await beganBy(slow)) > 0
  })
  await eventually(async () => sink.keys.length === (await beganBy(quick)) + (await beganBy(slow)))
  return ids
}

test('the first node back from a failover leaves alone what the others are still sending', async (t) => {
  const ids = await bothSend()
  const before = [await heartbeatOf(quick), await heartbeatOf(slow)]
  // One comes back at once, and the other only when the first has looked for dead nodes.
  slow.signal('SIGSTOP')
  t.after(() => slow.signal('SIGCONT'))
  await scene.rows(sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name in ('quick', 'slow', 'posthorn node')`)
  const { beat } = await heartbeatOf(quick)
  await eventually(async () => (await heartbeatOf(quick)).beat >= beat + 4)
  slow.signal('SIGCONT')
  await eventually(async () => (await slow.ask('GET', '/ready')).status === 200)
  sink.release()
  await completed(api, ids)
  const times = [...sink.timesSeen().values()]
  assert.deepEqual([times.length, times.filter((count) => count > 1).length], [ids.length, 0], 'each was sent once')
  for (const [place, node] of [quick, slow].entries()) {
    const { node_id, epoch, ended } = await heartbeatOf(node)
    assert.deepEqual(
      { node_id, epoch, ended },
      { node_id: before[place].node_id, epoch: before[place].epoch, ended: false },
    )
  }
})

test('a node that is frozen is taken for dead by two looks, and continues under a new identity', async (t) => {
  const before = await heartbeatOf(slow)
  slow.signal('SIGSTOP')
  t.after(() => slow.signal('SIGCONT'))
  const frozenAt = performance.now()
  await eventually(async () => (await heartbeatOf(slow)).ended)
  const tookMs = performance.now() - frozenAt
  t.diagnostic(`taken for dead after ${Math.round(tookMs)} ms`)
  assert.ok(tookMs > 8_000, 'it beat up to 2 s before')
  const ids = eventsOf(20)
  await trigger(api, ids)
  await completed(
    api,
    ids.map((event) => event.transactionId),
  )
  slow.signal('SIGCONT')
  await eventually(async () => (await heartbeatOf(slow)).epoch > before.epoch)
  await eventually(async () => (await slow.ask('GET', '/ready')).status === 200)
  assert.match(slow.stdout(), /considered this one dead/)
  assert.deepEqual([(await slow.stop()).code, (await quick.stop()).code], [0, 0])
})
