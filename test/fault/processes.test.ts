// One service of two processes on its embedded database: what it prints, answers, counts, survives and leaves behind. The
// tests run in order on one data directory.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import type { Json } from '../support/app.ts'
import type { Service } from '../support/service.ts'
import { eventually, isAlive, postgresPid, ServiceScene } from '../support/service.ts'

const key = 'test-key-of-development'
const scene = new ServiceScene()
let directory: string
let service: Service
before(async () => {
  directory = await scene.directory()
  service = await start()
})
after(() => scene.close())

const start = (variables: Record<string, string> = {}): Promise<Service> =>
  scene.start({ POSTHORN_DATA_DIR: directory, POSTHORN_API_KEY: key, POSTHORN_PROCESSES: '2', ...variables })

/** The processes that do the work; the embedded database is a child too. */
function childrenOf(parent: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  return rows.flatMap((row) => {
    const [pid, ppid, ...words] = row.trim().split(/\s+/)
    return Number(ppid) === parent && words.join(' ').includes('posthorn.mjs') ? [Number(pid)] : []
  })
}

interface Line {
  readonly level: number
  readonly msg: string
  readonly process?: number
  readonly processId: number
}

const logLines = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

/** A connection for each call: connections are handed out in turn. */
async function healthOnce(): Promise<Json> {
  const answer = await fetch(`${service.url}/health`, { headers: { connection: 'close' } })
  return answer.json()
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`, { headers: { connection: 'close' } })).text()
  const found = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

async function healthySlots(): Promise<number[]> {
  const seen = new Set<number>()
  for (let call = 0; call < 12; call += 1) seen.add((await healthOnce()).process)
  return [...seen].sort()
}

const trigger = (number: number) =>
  service.call('POST', '/v1/events/trigger', key, {
    name: 'hello',
    to: { subscriberId: `s${number}` },
    payload: {},
    transactionId: `t${number}`,
  })

test('one banner and one log: the processes start behind one address, and both answer', async () => {
  assert.equal(service.stdout().split('Posthorn is running at').length, 2)
  assert.match(service.stdout(), /\n {2}Processes {14}2\n/)
  assert.equal(childrenOf(service.pid).length, 2)
  assert.deepEqual(await healthySlots(), [1, 2])
  const ready = await fetch(`${service.url}/ready`)
  assert.deepEqual(await ready.json(), { status: 'ready', database: 'up', worker: 'up' })
})

test('metrics are those of the whole service, whichever process is asked', async () => {
  const name = 'posthorn_http_request_duration_seconds_count{method="GET",route="/health",status="200"}'
  const before = await metric(name)
  for (let call = 0; call < 6; call += 1) await healthOnce()
  assert.equal(await metric(name), before + 6)
  assert.equal(await metric(name), before + 6, 'the other process says the same')
  assert.equal(await metric('posthorn_processes'), 2)
  assert.equal(await metric('posthorn_worker_ready'), 2)
})

test('a process that is killed is started again, what it had taken is done, and no count goes back', async () => {
  const steps = [{ template: { type: 'in_app', content: 'Hello' } }]
  const made = await service.call('POST', '/v1/workflows', key, {
    name: 'hello',
    workflowId: 'hello',
    active: true,
    steps,
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const [victim = 0] = childrenOf(service.pid)
  const acknowledged: string[] = []
  let next = 0
  const write = async (): Promise<void> => {
    while (next < 300) {
      next += 1
      const number = next
      if (number === 150) process.kill(victim, 'SIGKILL')
      // A call that the killed process had taken breaks: its caller knows nothing.
      const answer = await trigger(number).catch(() => undefined)
      if (answer?.status === 201) acknowledged.push(`t${number}`)
    }
  }
  await Promise.all([1, 2, 3, 4].map(write))
  assert.ok(acknowledged.length > 200, `${acknowledged.length} were acknowledged`)
  const accepted = await metric('posthorn_events_total')
  for (const id of acknowledged) {
    await eventually(
      async () => (await service.call('GET', `/v1/events/${id}`, key)).body.state === 'completed',
      45_000,
    )
  }
  await eventually(async () => (await metric('posthorn_processes')) === 2)
  assert.deepEqual(await healthySlots(), [1, 2])
  assert.ok(!childrenOf(service.pid).includes(victim))
  assert.equal(await metric('posthorn_process_restarts_total'), 1)
  assert.ok((await metric('posthorn_events_total')) >= accepted)
  const lines = logLines(service.stdout())
  assert.equal(lines.filter(({ msg }) => msg === 'A process ended and is being restarted').length, 1)
  const survivor = lines.find(({ msg }) => msg.startsWith('A node is gone'))
  assert.ok(survivor?.process === 1 || survivor?.process === 2, 'a line of a child carries its number')
  assert.notEqual(survivor.processId, service.pid)
})

test('SIGTERM stops every process and then the database, and ends with 0', async () => {
  const children = childrenOf(service.pid)
  const postgres = (await postgresPid(directory)) ?? 0
  assert.ok(isAlive(postgres))
  const ended = await service.stop()
  assert.equal(ended.code, 0, ended.stderr)
  assert.equal(ended.stderr, '')
  for (const pid of [...children, postgres]) assert.equal(isAlive(pid), false)
  assert.equal(await postgresPid(directory), undefined, 'the files of the database are released')
})

test('SIGKILL of the parent leaves no child behind, and the next start takes over at once', async () => {
  service = await start()
  const children = childrenOf(service.pid)
  assert.equal(children.length, 2)
  service.signal('SIGKILL')
  await service.ended
  await eventually(async () => !children.some(isAlive))
  const startedAt = performance.now()
  service = await start()
  assert.deepEqual(await healthySlots(), [1, 2])
  const made = await trigger(1_000)
  assert.equal(made.status, 201)
  await eventually(async () => (await service.call('GET', '/v1/events/t1000', key)).body.state === 'completed')
  assert.ok(performance.now() - startedAt < 50_000, 'no lease was waited for')
  assert.equal((await service.stop()).code, 0)
})

test('one process is one process: no child, no number, no word of it', async () => {
  service = await start({ POSTHORN_PROCESSES: '1' })
  assert.deepEqual(childrenOf(service.pid), [])
  assert.deepEqual(await healthOnce(), { status: 'ok' })
  assert.doesNotMatch(service.stdout(), /Processes/)
  assert.equal(await metric('posthorn_processes'), 0)
  assert.equal((await service.stop()).code, 0)
})

const refusals: readonly [variables: Record<string, string>, message: RegExp][] = [
  [{ POSTHORN_PROCESSES: 'many' }, /POSTHORN_PROCESSES must be a whole number from 1 to 64, not "many"; `auto` uses/],
  [{ POSTHORN_PROCESSES: '15' }, /POSTHORN_PROCESSES must be at most 14, not 15: the embedded database allows 60/],
  [
    { POSTHORN_PROCESSES: '2', POSTHORN_DATABASE_POOL_SIZE: '5' },
    /POSTHORN_DATABASE_POOL_SIZE must be at least 6 for 2 processes/,
  ],
]
test('numbers of processes that do not fit are refused with a sentence, before anything is started', async () => {
  for (const [variables, message] of refusals) {
    const ended = await scene.run(['start'], { PORT: '0', POSTHORN_DATA_DIR: directory, ...variables })
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, message)
    assert.doesNotMatch(ended.stderr, /\n +at /, 'no stack')
  }
})

test('a port in use is reported once, by one sentence, and nothing is left behind', async () => {
  const other = await scene.directory()
  service = await start()
  const { port } = new URL(service.url)
  const ended = await scene.run(['start'], { PORT: port, POSTHORN_DATA_DIR: other, POSTHORN_PROCESSES: '3' })
  assert.equal(ended.code, 1)
  assert.match(ended.stderr, new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use by another program[^\\n]*\\n$`))
  assert.equal(await postgresPid(other), undefined)
  assert.equal((await service.stop()).code, 0)
})
