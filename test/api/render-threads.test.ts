// What is tried but not saved is rendered in a thread: one that stalls is ended, and meanwhile everyone else is answered.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRenderThreads } from '../../src/main/render-threads.ts'
import type { Threads } from '../../src/world/threads.ts'
import { createThreads } from '../../src/world/threads.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, statuses } from '../support/flow-scene.ts'

const stalls = `
import { parentPort } from 'node:worker_threads'
parentPort.on('message', () => { for (;;) {} })
parentPort.postMessage('ready')`

let app: TestApp
let scene: FlowScene
const real = createRenderThreads({ deadlineMs: 60_000 }) ?? assert.fail('there is no built file for threads')
const stalling = createThreads({
  entry: new URL(`data:text/javascript,${encodeURIComponent(stalls)}`),
  deadlineMs: 1_000,
})
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(async () => {
  await app.close()
  await real.close()
  await stalling.close()
})

/** With these threads, and how often they were asked. */
async function withThreads<Result>(
  threads: Threads,
  work: () => Promise<Result>,
): Promise<{ result: Result; asked: number }> {
  let asked = 0
  const counting: Threads = {
    ...threads,
    run: (message) => {
      asked += 1
      return threads.run(message)
    },
  }
  Object.assign(app.world, { threads: counting })
  try {
    return { result: await work(), asked }
  } finally {
    Object.assign(app.world, { threads: undefined })
  }
}

const bell = (content: string) => ({ name: 'bell', uuid: 'bell', template: { type: 'in_app', content } })
const expensive = '{% for i in (1..5000) %}{{ i }}{% endfor %}'
const tried = (content: string) => ({ name: 'tried', active: true, steps: [bell(content)] })
const simulate = (workflow: Json): Promise<TestReply> =>
  app.call('POST', '/v1/events/simulate', { body: { to: 'ada', payload: { a: 7 }, workflow } })

async function preview(name: string, controlValues?: Json): Promise<TestReply> {
  const body = { ...(controlValues === undefined ? {} : { controlValues }), previewPayload: { payload: { a: 7 } } }
  return app.call('POST', `/v2/workflows/${name}/step/bell/preview`, { body })
}

test('controls that are tried are rendered in a thread, to what they would say when saved', async () => {
  const name = await scene.workflow([bell('Saved {{ payload.a }}')])
  const { result, asked } = await withThreads(real, () => preview(name, { body: 'Tried {{ payload.a }}' }))
  assert.equal(result.status, 201, result.text)
  assert.equal(result.body.data?.result.preview.body ?? result.body.result.preview.body, 'Tried 7')
  assert.equal(asked, 1)
  const saved = await withThreads(real, () => preview(name))
  assert.equal(saved.asked, 0, 'what is saved and costs little is rendered here')
})

test('a workflow that is not saved is simulated in threads, to the same end as without them', async () => {
  const { result, asked } = await withThreads(real, () => simulate(tried('Tried {{ payload.a }}')))
  assert.equal(result.status, 200, result.text)
  assert.ok(asked >= 1)
  const here = await simulate(tried('Tried {{ payload.a }}'))
  const said = (reply: TestReply) => reply.body.recipients[0].steps.map((step: Json) => step.messages?.[0]?.content)
  assert.deepEqual(said(result), said(here))
  assert.deepEqual(said(result), ['Tried 7'])
})

test('a thread that stalls fails what was tried, and others are answered meanwhile', async () => {
  const name = await scene.workflow([bell('Saved')])
  const { result } = await withThreads(stalling, async () => {
    const trying = Promise.all([preview(name, { body: 'Tried {{ payload.a }}' }), simulate(tried('{{ payload.a }}'))])
    let answered = 0
    let isOver = false
    const others = (async () => {
      while (!isOver) {
        assert.equal((await app.call('GET', '/health', { key: null })).status, 200)
        answered += 1
        // Timers have their turn as well.
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const replies = await trying
    isOver = true
    await others
    assert.ok(answered >= 10, `${answered} answers meanwhile`)
    return replies
  })
  const [previewed, simulated] = result
  assert.equal(previewed.status, 422, previewed.text)
  assert.match(previewed.text, /takes too long/)
  assert.equal(simulated.status, 200, simulated.text)
  assert.match(simulated.text, /takes too long/)
})

test('a saved step that costs little is rendered in the turn of its batch; one that costs much in a thread, to the same end', async () => {
  for (const [content, threadsAsked] of [
    ['Hello {{ payload.a }}', 0],
    [expensive, 1],
  ] as const) {
    const name = await scene.workflow([bell(content)])
    const people = [fresh('person'), fresh('person')]
    await scene.run(name, people[0] ?? '', { payload: { a: 7 } })
    const { result, asked } = await withThreads(real, () => scene.run(name, people[1] ?? '', { payload: { a: 7 } }))
    assert.deepEqual(statuses(result), ['completed'])
    assert.equal(asked, threadsAsked)
    const [here, there] = await Promise.all(people.map((person) => scene.texts(person)))
    assert.deepEqual(there, here)
    assert.equal(there?.length, 1)
  }
})

test('a saved step whose thread stalls fails alone, and says why', async () => {
  const [slow, quick] = [await scene.workflow([bell(expensive)]), await scene.workflow([bell('Hello')])]
  const { result } = await withThreads(stalling, async () => {
    const transactionIds = [await scene.trigger(slow, fresh('person')), await scene.trigger(quick, fresh('person'))]
    await scene.work()
    return Promise.all(transactionIds.map((id) => scene.notification(id)))
  })
  assert.deepEqual(result.map(statuses), [['failed'], ['completed']])
  assert.match(JSON.stringify(result[0]), /takes too long/)
})

test('a workflow with long templates is examined in a thread before it is saved, in both APIs', async () => {
  const long = (word: string) => `${word} ${'{{ payload.a }}'.repeat(400)}`
  const first = (content: string) => ({ name: 'long-1', workflowId: 'long-1', active: true, steps: [bell(content)] })
  const second = (body: string) => ({
    ...{ name: 'long-2', preferences: { user: null } },
    steps: [{ name: 'Bell', type: 'in_app', controlValues: { body } }],
  })
  const calls: [string, string, Json][] = [
    ['POST', '/v1/workflows', first(long('one'))],
    ['PUT', '/v1/workflows/long-1', first(long('two'))],
    ['POST', '/v2/workflows', { ...second(long('three')), workflowId: 'long-2' }],
    ['PUT', '/v2/workflows/long-2', second(long('four'))],
  ]
  for (const [method, path, body] of calls) {
    const { result, asked } = await withThreads(real, () => app.call(method as 'POST', path, { body }))
    assert.ok(result.status < 300, `${path}: ${result.text}`)
    assert.equal(asked, 1, `${method} ${path}`)
  }
  const late = await withThreads(stalling, () =>
    app.call('PUT', '/v2/workflows/long-2', { body: second(long('five')) }),
  )
  assert.equal(late.result.status, 422, late.result.text)
  assert.match(late.result.text, /could not be checked in time/)
})
