// Commands over HTTP alone: logins, environments, signing, and promotion with all that a workflow refers to.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { CliScene } from '../support/cli-scene.ts'

let scene: CliScene
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-remote-'))
  scene = await CliScene.start(join(folder, 'data'))
})
after(async () => {
  await scene.close()
  await rm(folder, { recursive: true, force: true })
})

const profiles = (): string => join(folder, 'own', 'profiles.json')
/** A machine with no variable set. */
const bare = () => ({ POSTHORN_URL: '', POSTHORN_API_KEY: '', POSTHORN_API_KEY_2: '', POSTHORN_PROFILES: profiles() })
const run = (...args: string[]) => scene.run(args)
const runBare = (args: string[], input?: string) =>
  scene.run(args, { env: bare(), ...(input === undefined ? {} : { input }) })

test('a login is kept in a file of its owner alone, and commands use it', async () => {
  const without = await runBare(['workflows', 'pull', join(folder, 'nothing')])
  assert.equal(without.code, 2)
  assert.match(without.stderr, /No API key for http:\/\/localhost:3000: use `posthorn login`/)
  const ofOne = await runBare(['signing', 'list', '--environment', 'Production'])
  assert.match(ofOne.stderr, /No API key of Production for .*`posthorn keys create --environment Production`/)
  const wrong = await runBare(['login', '--url', scene.service.url], 'a-key-that-opens-nothing\n')
  assert.equal(wrong.code, 1)
  await assert.rejects(stat(profiles()), /ENOENT/)
  const { env } = scene
  const made = await runBare(
    ['login', '--url', scene.service.url],
    `${env['POSTHORN_API_KEY']}\nEnvironment: Development. The key is shown only once.\n`,
  )
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^Commands now use Development at http/)
  assert.equal((await stat(profiles())).mode & 0o777, 0o600)
  await writeFile(join(folder, 'live.key'), scene.productionKey)
  const live = ['login', '--url', scene.service.url, '--profile', 'live', '--key-file', join(folder, 'live.key')]
  assert.equal((await runBare(live)).code, 0)
  const listed = await runBare(['login', '--list', '--json'])
  assert.deepEqual(
    JSON.parse(listed.stdout).map((one: { name: string }) => one.name),
    ['live', 'Development'],
  )
  assert.ok(!listed.stdout.includes(scene.productionKey))
  assert.match((await runBare(['environments', 'list'])).stdout, / {2}Development\n/)
  const named = await runBare(['tail', '--limit', '1', '--environment', 'Moon'])
  assert.match(named.stderr, /No API key/)
})

test('a key of a login is sent to no other address, and a file that others can read is refused', async () => {
  const other = await runBare(['environments', 'list', '--profile', 'live', '--url', 'http://127.0.0.1:9'])
  assert.equal(other.code, 2)
  assert.match(other.stderr, /The profile live is for http:\S+, not for http:\/\/127\.0\.0\.1:9/)
  const implicit = await runBare(['environments', 'list', '--url', 'http://127.0.0.1:9'])
  assert.match(implicit.stderr, /No API key for http:\/\/127\.0\.0\.1:9/)
  await chmod(profiles(), 0o644)
  const open = await runBare(['environments', 'list'])
  assert.deepEqual([open.code, /chmod 600/.test(open.stderr)], [2, true])
  await chmod(profiles(), 0o600)
  assert.match((await runBare(['logout', '--profile', 'none'])).stderr, /no login named none/)
  assert.equal((await runBare(['logout', '--all'])).stdout, 'Forgot live, Development.\n')
  await assert.rejects(stat(profiles()), /ENOENT/)
})

test('environments are created, renamed and deleted with keys of their own', async () => {
  const url = ['--url', scene.service.url]
  const { env } = scene
  const made = await runBare([
    'environments',
    'create',
    'Staging',
    '--save',
    '--key',
    env['POSTHORN_API_KEY'] ?? '',
    ...url,
  ])
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^ph_\S+\nIt opens Staging \(\S+\), may do everything there/)
  const foreign = await run('environments', 'rename', 'Staging', 'Preview')
  assert.equal(foreign.code, 2)
  assert.match(foreign.stderr, /opens Development, not Staging/)
  const renamed = await runBare(['environments', 'rename', 'Staging', 'Preview'])
  assert.equal(renamed.stdout, 'Staging is now called Preview.\n', renamed.stderr)
  const unsure = await runBare(['environments', 'delete', 'Preview'])
  assert.match(unsure.stderr, /Nothing was deleted/)
  const deleted = await runBare(['environments', 'delete', 'Preview', '--confirm', 'Preview'])
  assert.equal(deleted.code, 0, deleted.stderr)
  assert.match((await run('environments', 'list')).stdout, / {2}Preview {2}(being erased|erased)/)
})

test('what calls are signed with is rotated and listed', async () => {
  const rotated = await run('signing', 'rotate', '--environment', 'Production')
  assert.equal(rotated.code, 0, rotated.stderr)
  const [key = '', sentence = ''] = rotated.stdout.split('\n')
  assert.match(key, /^whsec_/)
  assert.match(sentence, /Production .*version 2.* 7 days/)
  const list = await run('signing', 'list', '--environment', 'Production')
  assert.match(list.stdout, /^1 {2}\S+ {2}signs until \S+\n2 {2}\S+ {2}signs\n$/)
  assert.ok(!list.stdout.includes('whsec_'))
  assert.match((await run('signing', 'list')).stdout, /^1 {2}\S+ {2}signs\n$/)
  assert.equal((await run('signing')).code, 2)
  const own = await scene.call('GET', '/v1/environments/me', undefined, scene.productionKey)
  assert.equal(own.signingSecret, key)
})

const mail = (subject: string, more: object = {}) => ({
  name: 'Mail',
  template: { type: 'email', subject, content: [{ type: 'text', content: 'Hello' }], ...more },
})

/** Everything that a workflow can refer to, in Development. */
async function furnish(): Promise<void> {
  await scene.call('POST', '/v1/layouts', {
    name: 'Acme',
    identifier: 'acme',
    content: '<p>{{ "foot" | t }}</p>{{{body}}}',
  })
  await scene.call('POST', '/v1/layouts', { name: 'Other', identifier: 'other', content: '<i>{{{body}}}</i>' })
  await scene.call('POST', '/v1/feeds', { name: 'Orders', identifier: 'orders' })
  await scene.call('POST', '/v2/topics', { key: 'fans', name: 'Fans' })
  const texts = {
    ship: { title: 'Shipped', unused: 'Unused' },
    foot: 'Goodbye',
    workflows: { ship: { only: 'Of ship' }, other: { only: 'Of other' } },
  }
  await scene.call('PUT', '/v1/translations/en', { texts })
  await scene.call('PUT', '/v1/translations/de', { texts: { ship: { title: 'Versandt' } } })
  await scene.call('POST', '/v1/workflows', {
    name: 'Ship',
    workflowId: 'ship',
    active: true,
    steps: [
      mail('{{ "ship.title" | t }}', { layoutId: 'acme' }),
      { template: { type: 'in_app', content: 'x', feedId: 'orders' } },
      { template: { type: 'push', title: 'x', content: 'x' } },
    ],
  })
  await scene.call('POST', '/v1/workflows', {
    name: 'Other',
    workflowId: 'other',
    active: true,
    steps: [mail('Other')],
  })
  await scene.call('POST', '/v1/workflows', {
    name: 'Draft',
    workflowId: 'draft',
    active: false,
    steps: [mail('Draft')],
  })
}

const production = (path: string) => scene.call('GET', path, undefined, scene.productionKey)

test('one workflow is promoted with the layouts, feeds and texts that it uses, and nothing else', async () => {
  await furnish()
  await scene.call('PUT', '/v1/translations/en', { texts: { own: 'Of Production' } }, scene.productionKey)
  const shown = await run('promote', '--workflow', 'ship')
  assert.equal(shown.code, 2, 'no terminal to confirm at')
  assert.match(shown.stdout, /^create feed orders$/m)
  assert.match(shown.stdout, /^create layout acme$/m)
  assert.match(shown.stdout, /^change translation en$[\s\S]*^ {2}\+ ship\.title: Shipped$/m)
  assert.match(shown.stdout, /^4 to create, 1 to change, 0 to delete\.$/m)
  assert.match(shown.stderr, /ship uses push, for which Production has no active integration/)
  const done = await run('promote', '--workflow', 'ship', '--yes')
  assert.equal(done.code, 0, done.stderr)
  assert.deepEqual((await production('/v1/translations/en')).texts, {
    own: 'Of Production',
    'ship.title': 'Shipped',
    foot: 'Goodbye',
    'workflows.ship.only': 'Of ship',
  })
  assert.deepEqual((await production('/v1/translations/de')).texts, { 'ship.title': 'Versandt' })
  assert.deepEqual(
    (await production('/v1/layouts')).data.map((one: { identifier: string }) => one.identifier),
    ['acme'],
  )
  assert.equal((await production('/v1/workflows')).data.length, 1)
  const again = await run('promote', '--workflow', 'ship')
  assert.equal(again.stdout, '0 to create, 0 to change, 0 to delete.\n')
  const unknown = await run('promote', '--workflow', 'shop')
  assert.deepEqual([unknown.code, /no workflow shop/.test(unknown.stderr)], [1, true])
})

test('all is promoted but drafts and topics, which are taken along when asked', async () => {
  const done = await run('promote', '--yes')
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stderr, /The workflow draft is a draft and is not promoted; --drafts takes it along/)
  assert.match(done.stdout, /^created layout other$/m)
  assert.match(done.stdout, /^created workflow other$/m)
  assert.doesNotMatch(done.stdout, /draft|topic/)
  assert.equal((await production('/v1/translations/en')).texts['ship.unused'], 'Unused')
  const asked = await run('promote', '--drafts', '--topics', '--yes')
  assert.match(asked.stdout, /^created workflow draft\ncreated topic fans$/m)
  assert.equal((await production('/v2/topics/fans')).name, 'Fans')
  assert.equal((await run('promote', '--drafts', '--topics')).stdout, '0 to create, 0 to change, 0 to delete.\n')
})

test('a pull brings translations, and a push takes them back', async () => {
  const flows = join(folder, 'flows')
  const pulled = await run('workflows', 'pull', flows, '--yes')
  assert.equal(pulled.code, 0, pulled.stderr)
  const file = join(flows, 'translations', 'de.json')
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), { ship: { title: 'Versandt' } })
  assert.equal((await run('workflows', 'diff', flows)).code, 0)
  await writeFile(file, JSON.stringify({ ship: { title: 'Unterwegs' } }))
  const differs = await run('workflows', 'diff', flows)
  assert.equal(differs.code, 1)
  assert.match(differs.stdout, /^change translation de\n {2}- ship\.title: Versandt\n {2}\+ ship\.title: Unterwegs$/m)
  assert.equal((await run('workflows', 'push', flows, '--yes')).code, 0)
  assert.deepEqual((await scene.call('GET', '/v1/translations/de')).texts, { ship: { title: 'Unterwegs' } })
})

test('conditions are pulled as they were written, in one list', async () => {
  const children = [
    { on: 'tenant', field: 'identifier', operator: 'EQUAL', value: 'acme' },
    { on: 'payload', field: 'plan', operator: 'EQUAL', value: 'gold' },
  ]
  const filters = [{ type: 'GROUP', value: 'AND', children }]
  await scene.call('POST', '/v1/workflows', {
    name: 'Gold',
    workflowId: 'gold',
    active: true,
    steps: [{ template: { type: 'in_app', content: 'x' }, filters }],
  })
  const flows = join(folder, 'gold')
  assert.equal((await run('workflows', 'pull', flows, '--yes')).code, 0)
  const text = await readFile(join(flows, 'gold.yaml'), 'utf8')
  assert.doesNotMatch(text, /moreChildren/)
  assert.match(text, /children:[\s\S]*plan[\s\S]*identifier/)
  assert.equal((await run('workflows', 'diff', flows)).code, 0)
})

test('a command that only asks whose key it has leaves no read of a secret in the log', async () => {
  const count = async (): Promise<number> =>
    (await run('audit', 'export')).stdout.split('\n').filter((line) => line.includes('"action":"read"')).length
  const before = await count()
  await run('environments', 'list', '--environment', 'Development')
  await run('workflows', 'diff', join(folder, 'flows'))
  assert.equal(await count(), before)
})

test('simulate says until when a step waits, and why', async () => {
  await scene.call('POST', '/v1/workflows', {
    name: 'Later',
    workflowId: 'later',
    active: true,
    steps: [
      { name: 'Pause', template: { type: 'delay' }, metadata: { type: 'regular', amount: 1, unit: 'hours' } },
      { name: 'Mail', template: { type: 'email', subject: 'x', content: [{ type: 'text', content: 'x' }] } },
    ],
  })
  await scene.call('POST', '/v2/subscribers', {
    subscriberId: 'ines',
    email: 'i@example.org',
    timezone: 'Europe/Berlin',
  })
  const day = { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] }
  const names = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
  await scene.call('PATCH', '/v2/subscribers/ines/preferences', {
    schedule: {
      isEnabled: true,
      outside: 'hold',
      weeklySchedule: Object.fromEntries(names.map((name) => [name, day])),
    },
  })
  const { stdout } = await scene.run(['simulate', 'later', '--to', 'ines', '--at', '2026-03-04T20:00:00Z'])
  const [pause = '', mail = ''] = stdout.split('\n').filter((line) => /^ {2}(Pause|Mail) /.test(line))
  assert.match(pause, /2026-03-04T20:00:00\.000Z +2026-03-04T21:00:00\.000Z +Waits until 2026-03-04T21:00:00\.000Z\./)
  assert.match(
    mail,
    /2026-03-05T08:00:00\.000Z .*Held back until 2026-03-05T08:00:00\.000Z: it is outside the subscriber’s hours\. Would be sent/,
  )
})
