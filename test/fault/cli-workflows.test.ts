// Workflows as files: pulled, pushed, compared; nothing is changed before a yes; and promoted to another environment.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { workflowsCommand } from '../../src/cli/workflows.ts'
import { readConfig } from '../../src/config.ts'
import { sql } from '../../src/db/sql.ts'
import type { Json } from '../support/app.ts'
import { CliScene, standInTerminal } from '../support/cli-scene.ts'

let scene: CliScene
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-files-'))
  scene = await CliScene.start(join(folder, 'data'))
})
after(async () => {
  await scene.close()
  await rm(folder, { recursive: true, force: true })
})

const files = (): string => join(folder, 'workflows')
const run = (...args: string[]) => scene.run(args)

async function change(name: string, from: string | RegExp, to: string): Promise<void> {
  const path = join(files(), name)
  const text = await readFile(path, 'utf8')
  const changed = text.replace(from, to)
  assert.notEqual(changed, text, `${from} is in ${name}`)
  await writeFile(path, changed)
}

const stored = () =>
  scene.database.db.rows<{ environment: string; identifier: string; origin: string; versions: number }>(sql`
    select e.name as environment, w.identifier, w.origin,
      (select count(*)::int from workflow_versions v where v.workflow_id = w.id) as versions
    from workflows w join environments e on e.id = w.environment_id where w.deleted_at is null order by 1, 2`)

test('a new folder holds a workflow that works, its long text beside it, and a schema for editors', async () => {
  const made = await run('workflows', 'new', files(), '--name', 'Order shipped')
  assert.equal(made.code, 0, made.stderr)
  assert.deepEqual((await readdir(files())).sort(), ['order-shipped', 'order-shipped.yaml', 'workflow.schema.json'])
  assert.deepEqual(await readdir(join(files(), 'order-shipped')), ['3-e-mail.html'])
  const schema = JSON.parse(await readFile(join(files(), 'workflow.schema.json'), 'utf8'))
  assert.ok(JSON.stringify(schema).includes('contentFile'))
  const again = await run('workflows', 'new', files(), '--name', 'Order shipped')
  assert.deepEqual([again.code, /already exists/.test(again.stderr)], [2, true])
})

test('without a terminal and without --yes nothing is changed, and the plan is shown', async () => {
  const pushed = await run('workflows', 'push', files())
  assert.equal(pushed.code, 2)
  assert.match(pushed.stdout, /^create workflow order-shipped$/m)
  assert.match(pushed.stdout, /1 to create, 0 to change, 0 to delete/)
  assert.match(pushed.stderr, /Nothing was changed/)
  assert.deepEqual(await stored(), [])
})

test('a no changes nothing, a yes applies it', async () => {
  const { config } = readConfig(scene.env)
  const printed: string[] = []
  const terminal = (answer: string) => ({
    ...standInTerminal(config),
    print: (line: string) => void printed.push(line),
    ask: async () => answer,
  })
  await workflowsCommand.run(terminal('n'), ['push', files()])
  assert.equal(printed.at(-1), 'Nothing was changed.')
  assert.deepEqual(await stored(), [])
  await workflowsCommand.run(terminal('y'), ['push', files()])
  assert.equal(printed.at(-1), 'created workflow order-shipped')
  const [only] = await stored()
  assert.deepEqual(only, { environment: 'Development', identifier: 'order-shipped', origin: 'external', versions: 1 })
})

test('what is there already is no difference', async () => {
  for (const action of ['diff', 'push']) {
    const same = await run('workflows', action, files())
    assert.deepEqual([same.code, same.stdout], [0, '0 to create, 0 to change, 0 to delete.\n'])
  }
})

test('a changed text is shown line by line, and makes a version; the steps stay the same steps', async () => {
  const ids = sql`select jsonb_path_query_array(definition, '$.steps[*]._id') as ids from workflow_versions order by number`
  const [before] = await scene.database.db.rows<{ ids: string[] }>(ids)
  await change('order-shipped/3-e-mail.html', 'there is news', 'it is on its way')
  const shown = await run('workflows', 'diff', files())
  assert.equal(shown.code, 1, 'a script sees that something differs')
  assert.match(shown.stderr, /differs from Development at http/)
  assert.match(shown.stdout, /^change workflow order-shipped$/m)
  assert.match(shown.stdout, /^ {2}- <p>there is news\.<\/p>$/m)
  assert.match(shown.stdout, /^ {2}\+ <p>it is on its way\.<\/p>$/m)
  const pushed = await run('workflows', 'push', files(), '--yes')
  assert.equal(pushed.code, 0, pushed.stderr)
  const [, after] = await scene.database.db.rows<{ ids: string[] }>(ids)
  assert.deepEqual(after?.ids, before?.ids)
})

test('what was pulled is what is pushed: no difference either way', async () => {
  const other = join(folder, 'pulled')
  const pulled = await run('workflows', 'pull', other, '--yes')
  assert.equal(pulled.code, 0, pulled.stderr)
  assert.match(await readFile(join(other, 'order-shipped.yaml'), 'utf8'), /^# yaml-language-server: \$schema=/)
  const none = '0 to create, 0 to change, 0 to delete.\n'
  assert.equal((await run('workflows', 'diff', other)).stdout, none)
  assert.equal((await run('workflows', 'pull', other)).stdout, none)
})

test('mistakes are reported with their file, and nothing of the folder is pushed', async () => {
  await writeFile(join(files(), 'broken.yaml'), 'name: Broken\nsteps:\n  - template: {type: email, subject: "{{ x"}\n')
  const wrong = await run('workflows', 'push', files(), '--yes')
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /broken\.yaml: /)
  await writeFile(join(files(), 'broken.yaml'), 'name: [unclosed\n')
  assert.match((await run('workflows', 'diff', files())).stderr, /broken\.yaml: .* line /)
  await writeFile(
    join(files(), 'broken.yaml'),
    'name: X\nsteps: [{template: {type: sms, contentFile: ../../etc/passwd}}]\n',
  )
  assert.match((await run('workflows', 'diff', files())).stderr, /is outside/)
  await rm(join(files(), 'broken.yaml'))
  assert.equal((await stored()).length, 1)
})

test('a member that no workflow has is refused, with the nearest that there is', async () => {
  const broken = join(files(), 'broken.yaml')
  await writeFile(broken, 'name: X\nsteps: [{template: {type: sms, content: x}, filtres: []}]\ntagz: [a]\n')
  const wrong = await run('workflows', 'push', files(), '--yes')
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /broken\.yaml: .*steps\.0\.filtres is unknown: did you mean filters\?/s)
  assert.match(wrong.stderr, /tagz is unknown: did you mean tags\?/)
  await rm(broken)
})

test('a text is read from no link that leaves the folder, and only from a file', async () => {
  await writeFile(join(folder, 'secret.txt'), 'hush')
  await symlink(join(folder, 'secret.txt'), join(files(), 'link.txt'))
  const broken = join(files(), 'broken.yaml')
  for (const [contentFile, words] of [
    ['link.txt', /broken\.yaml: link\.txt is outside/],
    ['order-shipped', /broken\.yaml: order-shipped is not a file/],
  ] as const) {
    await writeFile(broken, `name: X\nsteps: [{template: {type: sms, contentFile: ${contentFile}}}]\n`)
    const reported = await run('workflows', 'diff', files())
    assert.equal(reported.code, 2)
    assert.match(reported.stderr, words)
    assert.doesNotMatch(reported.stdout, /hush/)
  }
  await rm(join(files(), 'link.txt'))
  await rm(broken)
})

test('a file that holds itself, or is nested without end, is reported as a mistake', async () => {
  const broken = join(files(), 'broken.yaml')
  for (const [text, words] of [
    ['&a\nname: X\nsteps: *a\n', /broken\.yaml contains an alias that refers to itself/],
    ['&a\nname: X\nsteps: [*a, *a]\n', /broken\.yaml contains an alias that refers to itself/],
    [
      `name: X\nsteps: []\ndata: {a: ${'['.repeat(150)}${']'.repeat(150)}}\n`,
      /broken\.yaml is nested more than 100 levels deep/,
    ],
    ['name: *nothing\nsteps: []\n', /broken\.yaml: Unresolved alias/],
  ] as const) {
    await writeFile(broken, text)
    const reported = await run('workflows', 'diff', files())
    assert.equal(reported.code, 2)
    assert.match(reported.stderr, words)
  }
  await rm(broken)
})

test('a workflow that is in no file stays, by default', async () => {
  const empty = join(folder, 'empty')
  await run('workflows', 'new', empty, '--name', 'Another')
  assert.match((await run('workflows', 'diff', empty)).stdout, /1 to create, 0 to change, 0 to delete/)
  assert.match((await run('workflows', 'diff', empty, '--delete')).stdout, /1 to create, 0 to change, 1 to delete/)
})

test('promote shows the same difference, takes the workflow over, and no credential', async () => {
  const shown = await run('promote', '--from', 'Development', '--to', 'Production')
  assert.match(shown.stdout, /^create workflow order-shipped$/m)
  const promoted = await run('promote', '--yes')
  assert.equal(promoted.code, 0, promoted.stderr)
  const integrations = sql`select count(*)::int as count from integrations where environment_id =
    (select id from environments where name = 'Production')`
  const before = await scene.database.db.row(integrations)
  const again = await run('promote')
  assert.equal(again.stdout, '0 to create, 0 to change, 0 to delete.\n')
  assert.deepEqual(await scene.database.db.row(integrations), before)
  assert.deepEqual(
    (await stored()).map((workflow) => [workflow.environment, workflow.identifier]),
    [
      ['Development', 'order-shipped'],
      ['Production', 'order-shipped'],
    ],
  )
})

test('an environment cannot be promoted to itself, nor to one that the key does not open', async () => {
  const itself = await run('promote', '--to', 'Development')
  assert.deepEqual([itself.code, /must be different/.test(itself.stderr)], [2, true])
  const moon = await run('promote', '--to', 'Moon')
  assert.equal(moon.code, 2)
  assert.match(moon.stderr, /The API key opens Development, not Moon/)
})

/** A folder of its own with one workflow, brought into Development. */
async function pushed(name: string, document: object): Promise<string> {
  const own = join(folder, name)
  await mkdir(own)
  await writeFile(join(own, `${name}.json`), JSON.stringify(document))
  const result = await run('workflows', 'push', own, '--yes')
  assert.equal(result.code, 0, result.stderr)
  return own
}

test('a workflow whose identifier is that of the folder above is pulled into the folder', async () => {
  const content = 'first line\nsecond line\n'
  for (const workflowId of ['.', '..'])
    await pushed(`dots-${workflowId.length}`, {
      workflowId,
      name: 'Dots',
      steps: [{ template: { type: 'sms', content } }],
    })
  const before = (await readdir(folder)).sort()
  const below = join(folder, 'below')
  await mkdir(below)
  const target = join(below, 'pulled')
  const pulled = await run('workflows', 'pull', target, '--yes')
  assert.equal(pulled.code, 0, pulled.stderr)
  assert.deepEqual(await readdir(below), ['pulled'])
  assert.deepEqual((await readdir(folder)).sort(), [...before, 'below'].sort())
  assert.deepEqual(
    (await readdir(target)).sort().filter((name) => name.includes('%')),
    ['%2E', '%2E%2E', '%2E%2E.yaml', '%2E.yaml'],
  )
  assert.equal(await readFile(join(target, '%2E%2E', '1-sms.txt'), 'utf8'), content)
  assert.equal((await run('workflows', 'diff', target)).stdout, '0 to create, 0 to change, 0 to delete.\n')
})

test('what would hide lines from whoever confirms is shown as escapes', async () => {
  const content = 'harmless\u001b[2K\u001b[1A\u202e evil\nsecond\tline'
  const own = await pushed('escapes', {
    name: 'Escapes',
    active: true,
    steps: [{ template: { type: 'sms', content } }],
  })
  const shown = await run('promote')
  assert.match(shown.stdout, /harmless\\u001b\[2K\\u001b\[1A\\u202e evil$/m)
  assert.match(shown.stdout, /second\tline$/m)
  await writeFile(join(own, '\u001b[2Jbad.yaml'), 'name: [unclosed')
  const reported = await run('workflows', 'diff', own)
  assert.ok(reported.stderr.includes('\\u001b[2Jbad.yaml: '), reported.stderr)
  for (const text of [shown.stdout, reported.stderr]) assert.ok(!text.includes('\u001b') && !text.includes('\u202e'))
})

test('header values of custom steps are in the files and in no shown difference', async () => {
  const custom = (value: string) => ({
    name: 'Calls',
    active: true,
    steps: [
      {
        template: { type: 'custom' },
        metadata: { type: 'http', url: 'https://x.example/?token=hush-query', headers: { Authorization: value } },
      },
    ],
  })
  const own = await pushed('calls', custom('Bearer hush-one'))
  const target = join(folder, 'with-headers')
  const pulled = await run('workflows', 'pull', target, '--yes')
  assert.match(pulled.stdout, /^ {2}\+ +Authorization: \[redacted\]$/m)
  assert.equal(pulled.stdout.match(/may be secrets/g)?.length, 1)
  assert.match(pulled.stdout.split('may be secrets')[1] ?? '', /with-headers\/calls\.yaml\n$/)
  assert.match(await readFile(join(target, 'calls.yaml'), 'utf8'), /Authorization: Bearer hush-one/)
  assert.equal((await run('workflows', 'pull', target, '--yes')).stdout, '0 to create, 0 to change, 0 to delete.\n')

  await writeFile(join(own, 'calls.json'), JSON.stringify(custom('Bearer hush-two')))
  const shown = await run('workflows', 'diff', own)
  assert.match(shown.stdout, /^ {2}- +Authorization: \[redacted\]\n {2}\+ +Authorization: \[redacted\]$/m)
  const changed = await run('workflows', 'push', own, '--yes')
  const again = await run('workflows', 'pull', target, '--yes')
  assert.match(await readFile(join(target, 'calls.yaml'), 'utf8'), /Authorization: Bearer hush-two/)
  const promoted = await run('promote', '--yes')
  for (const { stdout, stderr } of [pulled, shown, changed, again, promoted])
    assert.doesNotMatch(stdout + stderr, /hush/)
  const kept = await scene.database.db.rows<{ header: string }>(sql`
    select distinct v.definition #>> '{steps,0,metadata,headers,Authorization}' as header from workflow_versions v
    join workflows w on w.id = v.workflow_id join environments e on e.id = w.environment_id
    where w.identifier = 'calls' and e.name = 'Production'`)
  assert.deepEqual(kept, [{ header: 'Bearer hush-two' }])
})

test('a pull that wrote no header value speaks of none', async () => {
  const target = join(folder, 'without-headers')
  await scene.database.db.rows(sql`update workflows set deleted_at = now() where identifier = 'calls'`)
  const pulled = await run('workflows', 'pull', target, '--yes')
  assert.equal(pulled.code, 0, pulled.stderr)
  assert.doesNotMatch(pulled.stdout, /secrets/)
})

test('with --json a difference, a push and a pull are one document each', async () => {
  const own = join(folder, 'as-json')
  assert.equal((await run('workflows', 'new', own, '--name', 'As JSON')).code, 0)
  const differs = await run('workflows', 'diff', own, '--json')
  assert.equal(differs.code, 1)
  const { applied, changes } = JSON.parse(differs.stdout)
  assert.deepEqual(
    [applied, changes.map((one: Json) => [one.kind, one.what])],
    [false, [['create', 'workflow as-json']]],
  )
  const asked = await run('workflows', 'push', own, '--json')
  assert.deepEqual([asked.code, asked.stdout, /create workflow as-json/.test(asked.stderr)], [2, '', true])
  const pushed = await run('workflows', 'push', own, '--yes', '--json')
  assert.deepEqual([pushed.code, JSON.parse(pushed.stdout).applied], [0, true], pushed.stderr)
  const same = await run('workflows', 'push', own, '--yes', '--json')
  assert.deepEqual(JSON.parse(same.stdout), { applied: false, changes: [], notes: [] })
  const pulled = await run('workflows', 'pull', join(folder, 'pulled-as-json'), '--yes', '--json')
  assert.equal(JSON.parse(pulled.stdout).applied, true)
  const promoted = await run('promote', '--workflow', 'as-json', '--yes', '--json')
  assert.deepEqual([promoted.code, JSON.parse(promoted.stdout).changes.length], [0, 1], promoted.stderr)
})

test('a new folder without a name is not the first workflow of the README, which a push would replace', async () => {
  const made = await run('workflows', 'new', join(folder, 'unnamed'))
  assert.equal(made.code, 0, made.stderr)
  assert.ok((await readdir(join(folder, 'unnamed'))).includes('order-delivered.yaml'))
})
