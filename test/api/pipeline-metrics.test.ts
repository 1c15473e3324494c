// The board, the alerts and the documentation name metrics that are there, and leave none of the pipeline's out.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { sql } from '../../src/db/sql.ts'
import { pipelineFamilies } from '../../src/http/metrics/pipeline-metrics.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import { metricsOf } from '../support/metrics-scene.ts'
import { projectRoot } from '../support/project-root.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
})
after(() => app.close())

const read = (file: string): string => readFileSync(join(projectRoot, 'docs', file), 'utf8')
const namesIn = (text: string): string[] => text.match(/\bposthorn_\w+/g) ?? []
const pipelineNames = Object.keys(pipelineFamilies)

/** Names as Prometheus stores them: a histogram is three. */
async function namesServed(): Promise<Set<string>> {
  const { text } = await app.call('GET', '/metrics', { key: null })
  const types = [...text.matchAll(/^# TYPE (posthorn_\w+) (\w+)$/gm)]
  return new Set(
    types.flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [String(name)],
    ),
  )
}

const board = (): Json => JSON.parse(read('grafana/posthorn.json'))
const queriesOfBoard = (): string[] => [
  ...board().panels.flatMap((panel: Json) => panel.targets.map((target: Json) => target.expr)),
  ...board().templating.list.flatMap((variable: Json) => variable.definition ?? []),
]
const rules = (): Json[] => parse(read('grafana/alerts.yaml')).groups.flatMap((group: Json) => group.rules)

test('every metric of the pipeline is served, described, and typed once', async () => {
  const { text } = await app.call('GET', '/metrics', { key: null })
  for (const [name, { type, help }] of Object.entries(pipelineFamilies)) {
    assert.equal(text.split(`# TYPE ${name} ${type}\n`).length, 2, name)
    assert.equal(text.split(`# HELP ${name} ${help}\n`).length, 2, name)
  }
  const bad = text.split('\n').filter((line) => !/^$|^# |^[a-z_]\w*(\{[^{}]+\})? (-?[\d.e+-]+|NaN|\+Inf)$/i.test(line))
  assert.deepEqual(bad, [])
})

test('the board and the alerts ask for nothing that is not served', async () => {
  const served = await namesServed()
  const asked = [...queriesOfBoard(), ...rules().map((rule) => rule.expr)].flatMap(namesIn)
  assert.ok(asked.length > 20)
  assert.deepEqual(
    asked.filter((name) => !served.has(name)),
    [],
  )
})

test('they ask by labels that the metrics have', () => {
  const labels: Record<string, readonly string[]> = Object.fromEntries(
    Object.entries(pipelineFamilies).map(([name, family]) => [name, family.labels]),
  )
  const queries = [...queriesOfBoard(), ...rules().map((rule) => rule.expr)]
  const selectors = queries.flatMap((query) => [
    ...query.matchAll(/(posthorn_\w+?)(?:_bucket|_sum|_count)?\{([^}]*)\}/g),
  ])
  assert.ok(selectors.length > 10)
  for (const [whole, name, inside] of selectors) {
    const known = labels[String(name)]
    if (known === undefined) continue
    const used = [...String(inside).matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => String(label))
    for (const label of used) assert.ok(label === 'job' || known.includes(label), `${label} in ${whole}`)
  }
})

test('every metric of the pipeline has its row in the documentation and its place on the board', () => {
  const rows = read('operating.md').match(/^\| `posthorn_\w+` \|[^|]*\|/gm) ?? []
  const documented = rows.map((row) => [namesIn(row)[0], [...row.matchAll(/`(\w+)`/g)].slice(1).map(([, one]) => one)])
  const expected = Object.entries(pipelineFamilies).map(([name, { labels }]) => [name, [...labels]])
  assert.deepEqual(documented, expected)
  const shown = new Set(queriesOfBoard().flatMap(namesIn))
  const isShown = (name: string): boolean => shown.has(name) || shown.has(`${name}_bucket`)
  assert.deepEqual(
    pipelineNames.filter((name) => !isShown(name)),
    [],
  )
})

test('the board can be imported: its panels have ids and places of their own, and it brings no data source along', () => {
  const { panels, id, uid, title } = board()
  assert.deepEqual([id, uid, title], [null, 'posthorn', 'Posthorn'])
  assert.equal(new Set(panels.map((panel: Json) => panel.id)).size, panels.length)
  const places = panels.map(({ gridPos }: Json) => `${gridPos.x} ${gridPos.y}`)
  assert.equal(new Set(places).size, panels.length)
  for (const { datasource, targets, title: name } of panels) {
    assert.equal(datasource.uid, `\${datasource}`, name)
    assert.ok(targets.length > 0, name)
  }
})

test('each alert says what is wrong and what to do, and how bad it is', () => {
  const names = rules().map((rule) => rule.alert)
  assert.equal(new Set(names).size, names.length)
  for (const wanted of ['NoWorker', 'QueueIsOld', 'MessagesFail', 'JobsBuried', 'LeasesEnd'])
    assert.ok(names.includes(`Posthorn${wanted}`), wanted)
  for (const { alert, annotations, labels } of rules()) {
    assert.ok(annotations.summary.length > 10 && annotations.description.length > 10, alert)
    assert.ok(['warning', 'critical'].includes(labels.severity), alert)
  }
})

test('what is due is counted by lane over all environments, and what is in hand or due later is not', async () => {
  const depth = (queue: string, lane: string) => `posthorn_queue_depth{queue="${queue}",lane="${lane}"}`
  const age = (queue: string, lane: string) => `posthorn_queue_oldest_age_seconds{queue="${queue}",lane="${lane}"}`
  const workflow = await scene.workflow([inApp('Hello')])
  const inProduction = { name: 'w', workflowId: 'w', active: true, steps: [inApp('Hello')] }
  const key = app.productionKey
  assert.equal((await app.call('POST', '/v1/workflows', { body: inProduction, key })).status, 201)
  await app.call('POST', '/v1/events/trigger', { body: { name: 'w', to: fresh('person') }, key })
  app.world.advance(20_000)
  await scene.trigger(workflow, [fresh('person'), fresh('person'), fresh('person')])
  const [later, held] = await scene.rows(sql`
    select id from jobs where created_at = ${app.world.now()} order by id limit 2`)
  await scene.rows(sql`update jobs set due_at = due_at + interval '1 day' where id = ${later.id}`)
  await scene.rows(sql`
    update jobs set due_at = due_at + interval '1 minute', lease = id where id = ${held.id}`)
  await scene.topic('all', [])
  await scene.trigger(workflow, { type: 'Topic', topicKey: 'all' })
  app.world.advance(5_000)
  const metrics = await metricsOf(app)
  assert.equal(metrics[depth('jobs', 'direct')], 2)
  assert.equal(metrics[age('jobs', 'direct')], 25)
  assert.equal(metrics[depth('jobs', 'fan_out')], 0)
  assert.equal(metrics[age('jobs', 'fan_out')], 0)
  assert.equal(metrics[depth('tasks', 'fan_out')], 1)
  assert.equal(metrics[age('tasks', 'fan_out')], 5)
  await scene.work()
  app.world.advance(5_000)
  const done = await metricsOf(app)
  assert.deepEqual([done[depth('jobs', 'direct')], done[age('jobs', 'direct')]], [0, 0])
})

test('webhook endpoints are counted by state', async () => {
  const made = async (): Promise<string> =>
    (await app.call('POST', '/v1/webhook-endpoints', { body: { url: 'https://api.example.com' } })).body._id
  const [off, failing] = [await made(), await made(), await made()]
  await app.call('PATCH', `/v1/webhook-endpoints/${off}`, { body: { enabled: false } })
  await app.database.db.run(sql`update webhook_endpoints set failing_since = now() where id = ${failing}`)
  app.world.advance(10_000)
  const { text } = await app.call('GET', '/metrics')
  for (const state of ['enabled', 'failing', 'disabled']) {
    assert.match(text, new RegExp(`^posthorn_webhook_endpoints\\{state="${state}"\\} 1$`, 'm'))
  }
})
