// posthorn import novu against a fake of the service: what is carried over, what is not and why, and going on after a stop.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { sql } from '../../src/db/sql.ts'
import type { Json } from '../support/app.ts'
import { CliScene } from '../support/cli-scene.ts'
import type { FakeNovu } from '../support/fake-novu.ts'
import { startFakeNovu } from '../support/fake-novu.ts'
import { mailV2, novuData, novuPeople } from '../support/novu-data.ts'

let scene: CliScene
let novu: FakeNovu
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-novu-'))
  scene = await CliScene.start(join(folder, 'data'))
  novu = await startFakeNovu(novuData)
})
after(async () => {
  await novu.close()
  await scene.close()
  await rm(folder, { recursive: true, force: true })
})

const report = (): string => join(folder, 'report.jsonl')
const progress = (): string => join(folder, 'novu.progress')
const imported = (...args: string[]) =>
  scene.run(['import', 'novu', '--report', report(), '--progress', progress(), '--json', ...args])
const fromNovu = (): string[] => ['--url', novu.url, '--key', novu.key]
const left = async (): Promise<Json[]> =>
  (await readFile(report(), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
const countOf = async (table: 'subscribers' | 'workflows'): Promise<number> => {
  const [row] = await (table === 'subscribers'
    ? scene.database.db.rows<{ count: number }>(sql`select count(*)::int as count from subscribers`)
    : scene.database.db.rows<{ count: number }>(sql`select count(*)::int as count from workflow_versions`))
  return row?.count ?? 0
}

test('everything that can be is carried over, and what cannot be is reported with the reason', async () => {
  novu.trouble.push(
    { status: 429, headers: { 'retry-after': '1' } },
    { status: 503 },
    { path: '/v2/subscribers?', status: 500 },
    { path: 'after=s-399', status: 502 },
    { path: '/v2/topics/fans', status: 429, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:00 GMT' } },
  )
  const done = await imported(...fromNovu())
  assert.equal(done.code, 0, done.stderr)
  const counts = {
    integrations: 3,
    layouts: 1,
    workflows: 2,
    locales: 1,
    subscribers: 1_229,
    topics: 2,
    subscriptions: 229,
    preferences: 1,
  }
  const { imported: all, changed } = JSON.parse(done.stdout)
  assert.deepEqual(all, counts)
  assert.deepEqual(changed, { ...counts, workflows: 3 })
  const reasons = (await left()).map(({ kind, id, reason }) => `${kind} ${id}: ${reason}`)
  for (const words of [
    /^integration grid-x: Created without its secrets, and inactive/,
    /^integration odd: .*no-such-provider/,
    /^layout blocks: .*block editor/,
    /^workflow coded: .*defined in your code/,
    /^workflow drawn: The step Drawn was made in the block editor/,
    /^workflow helper: /,
    /^workflow v-3: Nameless has no trigger/,
    /^workflow old: The step Gone was imported without its layout l-deleted, which is not there any more/,
    /^workflow welcome: .*sparkle is not a known field and was ignored/,
    /^subscriber user-4: .*email/,
    /^subscriber user-5: Its channel pigeon was not imported/,
    /^subscription fans deleted-one: /,
    /^subscription fans user-2: .*only one/,
    /^subscription fans user-7: It was imported without its own preferences: /,
    /^subscription fans user-9: It is limited to contexts/,
  ]) {
    assert.ok(
      reasons.some((reason) => words.test(reason)),
      `${words} is not in\n${reasons.join('\n')}`,
    )
  }
  assert.equal(new Set(reasons).size, reasons.length)
  assert.ok(!(await readFile(report(), 'utf8')).includes('SG.secret') && !done.stderr.includes('SG.secret'))
})

test('what was carried over is what it was', async () => {
  const grid = (await scene.call('GET', '/v1/integrations')).find((one: Json) => one.identifier === 'grid-x')
  assert.deepEqual([grid.active, grid.credentials], [false, { from: 'hello@example.com', senderName: 'Acme' }])
  assert.equal((await scene.call('GET', '/v1/layouts/brand')).content, '<html><body>{{{body}}}</body></html>')
  const old = await scene.call('GET', '/v1/workflows/old')
  assert.deepEqual(
    old.steps.map((step: Json) => [
      step.name,
      step.template.type,
      step.template.layoutId ?? null,
      step.template.feedId ?? null,
    ]),
    [
      ['Bell', 'in_app', null, 'orders'],
      ['Mail', 'email', 'brand', null],
      ['Gone', 'email', null, null],
    ],
  )
  assert.equal(old.notificationGroup.name, 'Orders')
  assert.equal(old.steps[1].filters[0].children[0].field, 'vip')
  const welcome = await scene.call('GET', '/v2/workflows/welcome')
  assert.deepEqual([welcome.active, welcome.steps[0].controls.values.subject], [true, 'Welcome {{payload.name}}'])
  const german = await scene.call('GET', '/v1/translations/de')
  assert.deepEqual(german.texts, { workflows: { welcome: { title: 'Willkommen' } } })
  const three = await scene.call('GET', '/v2/subscribers/user-3')
  assert.deepEqual(
    [
      three.email,
      three.data,
      three.channels.map((one: Json) => [one.integrationIdentifier, one.credentials.deviceTokens]),
    ],
    [
      'user3@example.com',
      { place: 3 },
      [
        ['first-app', ['token-3']],
        ['other-app', ['other-3']],
      ],
    ],
  )
  const fans = await scene.call('GET', '/v2/topics/fans/subscriptions?limit=100&orderDirection=ASC')
  assert.equal(fans.totalCount, 229)
  assert.ok(fans.data.some((one: Json) => one.identifier === 'own-name' && one.subscriber.subscriberId === 'user-6'))
  const chosen = await scene.call('GET', '/v2/subscribers/user-1/preferences')
  assert.equal(chosen.global.channels.sms, false)
  assert.equal(chosen.global.schedule.weeklySchedule.monday.isEnabled, true)
  const ofWelcome = chosen.workflows.find((one: Json) => one.workflow.identifier === 'welcome')
  assert.equal(ofWelcome.channels.email, false)
})

test('a repeat changes nothing and says so', async () => {
  const before = [await countOf('subscribers'), await countOf('workflows')]
  const args = ['import', 'novu', '--report', report(), '--progress', progress(), ...fromNovu()]
  const again = await scene.run(args)
  assert.equal(again.code, 0, again.stderr)
  assert.match(again.stdout, /1229 subscribers, .*Nothing changed: all of it was there already\.\n$/)
  assert.deepEqual([await countOf('subscribers'), await countOf('workflows')], before)
})

test('an import that is killed goes on where it was: nothing is missing and nothing is counted twice', async () => {
  const fake = await startFakeNovu(
    { ...novuData, subscribers: novuPeople.map((one) => ({ ...one, subscriberId: `k-${one.subscriberId}` })) },
    'plain',
  )
  try {
    const args = [
      'import',
      'novu',
      '--url',
      fake.url,
      '--key',
      fake.key,
      '--report',
      report(),
      '--progress',
      progress(),
      '--json',
      '--without',
      'topics',
    ]
    const program = pathToFileURL(resolve('dist/cli/posthorn.js')).href
    const script = `import(${JSON.stringify(program)}).then(({ main }) => main(${JSON.stringify(args)}))`
    const child = spawn(process.execPath, ['-e', script], { env: { ...process.env, ...scene.env }, stdio: 'ignore' })
    const ended = once(child, 'exit')
    // The pages before it are read, and some of them written and saved.
    fake.onCall = async (call) => {
      if (!call.includes('after=s-1199')) return
      for (;;) {
        const saved = await readFile(progress(), 'utf8').catch(() => '')
        if (saved.includes('"cursor"')) break
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      child.kill('SIGKILL')
      await ended
    }
    assert.deepEqual(await ended, [null, 'SIGKILL'])
    delete (fake as { onCall?: unknown }).onCall
    fake.calls.length = 0
    const done = await scene.run(args)
    assert.equal(done.code, 0, done.stderr)
    assert.equal(JSON.parse(done.stdout).imported.subscribers, 1_229)
    assert.ok(
      !fake.calls.some(
        (call) => /^GET \/v2\/subscribers\?.*DIRECTION=ASC$/i.test(call) && call.includes('preferences'),
      ),
    )
    assert.match(fake.calls[0] ?? '', /after=s-/)
    const [row] = await scene.database.db.rows<{ count: number }>(
      sql`select count(*)::int as count from subscribers where subscriber_id like 'k-%'`,
    )
    assert.equal(row?.count, 1_229)
    const reasons = (await left()).map((one) => JSON.stringify(one))
    assert.equal(new Set(reasons).size, reasons.length)
    await assert.rejects(readFile(progress()), /ENOENT/)
  } finally {
    await fake.close()
  }
})

test('a cursor that is gone is an error, not the end', async () => {
  const { _id: environmentId } = await scene.call('GET', '/v1/environments/me?secrets=false')
  const state = {
    done: ['integrations', 'layouts', 'workflows', 'translations'],
    cursor: 'gone-9999',
    counts: {},
    changed: {},
  }
  const work = { source: novu.url, url: scene.service.url, environmentId }
  await writeFile(progress(), JSON.stringify({ work, state }))
  const stopped = await imported(...fromNovu())
  assert.deepEqual([stopped.code, /no longer knows .*--restart/.test(stopped.stderr)], [1, true])
  const done = await imported(...fromNovu(), '--restart', '--without', 'topics', '--without', 'preferences')
  assert.equal(done.code, 0, done.stderr)
})

test('a part that stays broken is reported, and the rest is imported', async () => {
  for (let time = 0; time < 5; time += 1) novu.trouble.push({ path: '/v2/workflows/welcome', status: 500 })
  const done = await imported(
    ...fromNovu(),
    ...['translations', 'subscribers', 'topics', 'preferences'].flatMap((one) => ['--without', one]),
  )
  assert.equal(done.code, 0, done.stderr)
  assert.equal(JSON.parse(done.stdout).imported.workflows, 1)
  assert.ok((await left()).some(({ id, reason }) => id === 'welcome' && /answers 500/.test(reason)))
})

test('the same comes from an export folder', async () => {
  const exported = join(folder, 'exported')
  await mkdir(exported)
  const lines = (all: readonly object[]) => all.map((one) => JSON.stringify(one)).join('\n')
  await writeFile(
    join(exported, 'subscribers.jsonl'),
    lines(novuPeople.slice(100, 800).map((one) => ({ ...one, subscriberId: `f-${one.subscriberId}` }))),
  )
  await writeFile(join(exported, 'workflows-v2.json'), JSON.stringify([mailV2('from-folder', 'Hello')]))
  await writeFile(
    join(exported, 'translations.json'),
    JSON.stringify([{ locale: 'fr', texts: { workflows: { 'from-folder': { title: 'Salut' } } } }]),
  )
  await writeFile(join(exported, 'topics.json'), JSON.stringify([{ key: 'club', name: 'Club' }]))
  await writeFile(join(exported, 'subscriptions.jsonl'), lines([{ topicKey: 'club', subscriberId: 'f-user-101' }]))
  const done = await imported('--from', exported)
  assert.equal(done.code, 0, done.stderr)
  const { imported: counts } = JSON.parse(done.stdout)
  assert.deepEqual(
    [counts.subscribers, counts.workflows, counts.topics, counts.subscriptions, counts.locales],
    [700, 1, 1, 1, 1],
  )
  assert.equal((await scene.call('GET', '/v2/topics/club/subscriptions')).data[0].subscriber.subscriberId, 'f-user-101')
})

test('a wrong call is 2, and a key that Novu does not know is 1', async () => {
  assert.equal((await scene.run(['import'])).code, 2)
  assert.equal((await imported()).code, 2)
  assert.equal((await imported(...fromNovu(), '--without', 'everything')).code, 2)
  assert.equal((await imported('--from', join(folder, 'nowhere'))).code, 2)
  const both = await imported('--from', folder, '--url', novu.url)
  assert.deepEqual([both.code, /--from and --url name two sources/.test(both.stderr)], [2, true])
  const file = await scene.run(['import', 'x.jsonl', '--url', novu.url])
  assert.deepEqual([file.code, /--url is for `import novu`/.test(file.stderr)], [2, true])
  const refused = await imported('--url', novu.url, '--key', 'a-key-of-someone-else')
  assert.deepEqual(
    [refused.code, /Novu at .* rejected its API key \(API Key not found\)/.test(refused.stderr)],
    [1, true],
  )
})
