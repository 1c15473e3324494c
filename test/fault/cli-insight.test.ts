// tail, why, simulate, outbox and redrive against a running service: what they say, and how they end.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '../support/app.ts'
import { CliScene, unusedUrl } from '../support/cli-scene.ts'

let folder: string
let scene: CliScene
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-insight-'))
  scene = await CliScene.start(join(folder, 'data'))
  for (const [workflowId, steps] of Object.entries(workflows)) {
    await scene.call('POST', '/v1/workflows', { name: workflowId, workflowId, active: true, steps })
  }
})
after(async () => {
  await scene.close()
  await rm(folder, { recursive: true, force: true })
})

const mail = {
  name: 'Mail',
  template: { type: 'email', subject: 'Order {{ payload.id }}', contentType: 'customHtml', content: '<p>Hi</p>' },
}
const bell = { name: 'Bell', template: { type: 'in_app', content: 'Order {{ payload.id }}' } }
const workflows = {
  shipped: [bell, mail],
  paged: [{ name: 'Page', template: { type: 'sms', content: 'Wake up' } }],
}

/** Triggers, and waits until the mail of it is in the outbox; its transactionId. */
async function shipped(who: string, transactionId: string): Promise<Json> {
  await trigger('shipped', who, transactionId)
  const { data } = await scene.call('GET', `/v1/outbox/wait?transactionId=${transactionId}&timeout=30s`)
  return data[0] ?? assert.fail(`no mail for ${transactionId}`)
}

const trigger = (name: string, who: string, transactionId: string): Promise<Json> =>
  scene.call('POST', '/v1/events/trigger', {
    name,
    to: { subscriberId: who, email: `${who}@example.org`, phone: '+4915112345' },
    payload: { id: 7 },
    transactionId,
  })

/** Until all its notifications are over. */
async function over(transactionId: string): Promise<void> {
  while ((await scene.call('GET', `/v1/events/${transactionId}`)).state !== 'completed') {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function withoutSms(work: () => Promise<void>): Promise<void> {
  const all: Json[] = await scene.call('GET', '/v1/integrations')
  const sms = all.filter((one) => one.channel === 'sms' && one.active)
  for (const { _id } of sms) await scene.call('PUT', `/v1/integrations/${_id}`, { active: false })
  try {
    await work()
  } finally {
    for (const { _id } of sms) await scene.call('PUT', `/v1/integrations/${_id}`, { active: true })
  }
}

const unknownId = '01900000-0000-7000-8000-000000000000'
const linesOf = (text: string): string[] => text.trimEnd().split('\n')

test('tail shows what is new as it comes, each step once, and ends at its limit', async () => {
  await shipped('ann', 'tail-1')
  let triggered = false
  const { code, stdout, stderr } = await scene.run(['tail', '--since', '1h', '--limit', '4', '--json'], {
    onPause: async () => {
      if (triggered) return undefined
      triggered = true
      await shipped('bea', 'tail-2')
      return undefined
    },
  })
  assert.equal(code, 0, stderr)
  const reported: Json[] = linesOf(stdout).map((line) => JSON.parse(line))
  assert.deepEqual(
    reported.map(({ transactionId, subscriberId, step, type, outcome }) => [
      transactionId,
      subscriberId,
      step,
      type,
      outcome,
    ]),
    [
      ['tail-1', 'ann', 'Bell', 'in_app', 'completed'],
      ['tail-1', 'ann', 'Mail', 'email', 'completed'],
      ['tail-2', 'bea', 'Bell', 'in_app', 'completed'],
      ['tail-2', 'bea', 'Mail', 'email', 'completed'],
    ],
  )
  assert.equal(reported[1].workflow, 'shipped')
  assert.equal(reported[1].reason, 'Message sent')
})

test('tail takes filters, writes lines for people, and stops when it is asked to', async () => {
  const stop = (stdout: string) => (linesOf(stdout).length >= 2 ? ('stop' as const) : undefined)
  const filters = ['--workflow', 'shipped', '--channel', 'email', '--since', '1h']
  const { code, stdout, stderr } = await scene.run(['tail', ...filters], { onPause: stop, width: 100 })
  assert.equal(code, 0, stderr)
  const lines = linesOf(stdout)
  assert.equal(lines.length, 2, stdout)
  assert.match(lines[0] ?? '', /^20\S+Z {2}shipped +ann +Mail \(email\) +completed +Message sent {2}[0-9a-f-]{36}$/)
  assert.match(stderr, /^Following Development at http:\/\/localhost:\d+ since 20\S+Z\. Ctrl-C stops\.$/m)
  const one = await scene.run(['tail', '--subscriber', 'bea', '--since', '1h'], { onPause: () => 'stop' })
  assert.deepEqual(
    linesOf(one.stdout).map((line) => / bea /.test(line)),
    [true, true],
  )
})

test('tail ends without a word when no one reads it any more', async () => {
  const { code, stdout, stderr } = await scene.run(['tail', '--since', '1h'], { readsLines: 2 })
  assert.deepEqual([code, stderr, linesOf(stdout).length], [0, '', 2])
})

test('why reports sentences, by notification and by subscriber', async () => {
  const { _notificationId: id } = await shipped('cleo', 'why-1')
  await over('why-1')
  const { code, stdout } = await scene.run(['why', id], { width: 72 })
  assert.equal(code, 0)
  assert.match(stdout, /^shipped for cleo, 20\S+Z\nnotification .+, transaction why-1\n\n/)
  assert.match(stdout, /^STEP +TYPE +STATUS +WHY$/m)
  assert.match(stdout, /^Mail +email +completed +\S/m)
  for (const line of linesOf(stdout)) assert.ok(line.length <= 72, line)
  const byPerson = await scene.run(['why', '--subscriber', 'cleo', '--json'])
  const byWorkflow = await scene.run(['why', '--subscriber', 'cleo', '--workflow', 'shipped', '--json'])
  assert.deepEqual(JSON.parse(byPerson.stdout), await scene.call('GET', `/v1/notifications/${id}/why`))
  assert.deepEqual(JSON.parse(byWorkflow.stdout), JSON.parse(byPerson.stdout))
  const absent = await scene.run(['why', '--subscriber', 'cleo', '--workflow', 'paged'])
  assert.equal(absent.code, 0)
  assert.match(absent.stdout, /^paged for cleo/)
  assert.match(absent.stdout, /^- \S/m)
})

test('why of what is not there is the service’s own answer', async () => {
  const none = await scene.run(['why', unknownId])
  assert.deepEqual([none.code, none.stdout, none.stderr], [1, '', `Notification ${unknownId} was not found\n`])
  const unknownPerson = await scene.run(['why', '--subscriber', 'missing'])
  assert.equal(unknownPerson.code, 1)
  assert.match(unknownPerson.stderr, /no notification for missing.*--workflow/)
  for (const args of [
    [],
    ['a', 'b'],
    ['a', '--subscriber', 'b'],
    ['a', '--at', '5m'],
    ['--subscriber', 'b', '--at', 'soon'],
  ]) {
    assert.equal((await scene.run(['why', ...args])).code, 2, args.join(' '))
  }
})

test('simulate shows a table a recipient, and nothing is sent', async () => {
  await scene.call('POST', '/v2/subscribers', { subscriberId: 'dora', email: 'dora@example.org' })
  const before = await scene.call('GET', '/v1/notifications?subscriberIds=dora')
  const args = ['simulate', 'shipped', '--to', 'dora', '--to', 'newcomer', '--payload', '{"id": 9}']
  const { code, stdout, stderr } = await scene.run(args)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^shipped at 20\S+Z: 2 recipients$/m)
  assert.match(stdout, /^dora\n {2}STEP +TYPE +OUTCOME +BEGINS +ENDS +BY +WHY\n {2}Bell +in_app +run/m)
  assert.match(stdout, /^ {2}email to dora@example\.org: Order 9 \| Hi$/m)
  assert.match(stdout, /^newcomer \(new\)$/m)
  assert.deepEqual(await scene.call('GET', '/v1/notifications?subscriberIds=dora'), before)
})

test('simulate takes a payload from a file or from another program, a time, and a workflow that is not saved', async () => {
  const payload = join(folder, 'payload.json')
  const workflow = join(folder, 'draft.yaml')
  await writeFile(payload, '{"id": 11}')
  await writeFile(workflow, 'name: Draft\nsteps:\n  - template: { type: in_app, content: "Draft {{ payload.id }}" }\n')
  const at = '2027-03-04T05:06:07.000Z'
  const subjectOf = (stdout: string): string => JSON.parse(stdout).recipients[0].steps.at(-1).messages[0].subject
  const fromFile = await scene.run([
    'simulate',
    'shipped',
    '--to',
    'dora',
    '--payload-file',
    payload,
    '--at',
    at,
    '--json',
  ])
  assert.equal(subjectOf(fromFile.stdout), 'Order 11')
  assert.equal(JSON.parse(fromFile.stdout).at, at)
  const piped = await scene.run(['simulate', 'shipped', '-', '--to', 'dora', '--json'], { input: '{"id": 12}' })
  assert.equal(subjectOf(piped.stdout), 'Order 12')
  const draft = await scene.run([
    'simulate',
    '--workflow-file',
    workflow,
    '--to',
    'dora',
    '--payload-file',
    payload,
    '--json',
  ])
  const simulation = JSON.parse(draft.stdout)
  assert.deepEqual([simulation.workflow.identifier, simulation.workflow.isSaved], ['draft', false])
  assert.equal(simulation.recipients[0].steps[0].messages[0].content, 'Draft 11')
})

test('simulate refuses what cannot be meant, and fails where the trigger would', async () => {
  const wrong: [string[], RegExp][] = [
    [[], /Usage:\n {2}posthorn simulate/],
    [['shipped'], /No recipients/],
    [['shipped', '--to', 'a', '--payload', '{'], /--payload is not valid JSON/],
    [['shipped', '--to', 'a', '--payload', '[1]'], /--payload must be a JSON object/],
    [['shipped', '--to', 'a', '--payload', '{}', '--payload-file', 'x'], /given twice/],
    [['shipped', '-', '--to', 'a', '--payload-file', 'x'], /given twice/],
    [['shipped', '--to', 'a', '--payload-file', join(folder, 'none.json')], /cannot be read \(ENOENT\)/],
    [['shipped', '--to', 'a', '--at', 'soon'], /--at must be a timestamp/],
    [['shipped', '--to', 'a', '--limit', '101'], /--limit must be a whole number from 1 to 100/],
  ]
  for (const [args, words] of wrong) {
    const { code, stderr, stdout } = await scene.run(['simulate', ...args])
    assert.deepEqual([code, stdout], [2, ''], stderr)
    assert.match(stderr, words)
  }
  await scene.call('POST', '/v1/workflows', { name: 'off', workflowId: 'off', active: false, steps: [bell] })
  const off = await scene.run(['simulate', 'off', '--to', 'dora'])
  assert.equal(off.code, 1)
  assert.match(off.stderr, /The trigger would return trigger_not_active\./)
  const unknown = await scene.run(['simulate', 'nowhere', '--to', 'dora'])
  assert.equal(unknown.code, 1)
  assert.notEqual(unknown.stderr, '')
})

test('the outbox is listed, shown, saved and waited for', async () => {
  const { _id: id } = await shipped('emma', 'outbox-1')
  const list = await scene.run(['outbox', '--transaction', 'outbox-1'])
  assert.match(list.stdout, new RegExp(`^ID .*\\n${id}  20\\S+Z  email +emma@example\\.org  shipped +Order 7\\n$`))
  const json = JSON.parse((await scene.run(['outbox', 'list', '--recipient', 'emma', '--json'])).stdout)
  assert.deepEqual([json.totalCount, json.data[0]._id], [1, id])
  const shown = await scene.run(['outbox', 'show', id])
  assert.match(shown.stdout, /^To +emma@example\.org$/m)
  assert.match(shown.stdout, /^Subject +Order 7$/m)
  assert.match(shown.stdout, /\n\nHi/)
  const eml = await scene.run(['outbox', 'eml', id])
  assert.match(eml.stdout, /^Subject: Order 7\r$/m)
  const seen = await scene.run(['outbox', 'eml', id], { width: 80 })
  assert.doesNotMatch(seen.stdout, /\r/)
  const came = await scene.run(['outbox', 'wait', '--transaction', 'outbox-1', '--json'])
  assert.equal(JSON.parse(came.stdout).data[0]._id, id)
})

test('waiting for what does not come is 1, and an empty list is none', async () => {
  const none = await scene.run(['outbox', 'wait', '--recipient', 'missing', '--timeout', '0ms', '--json'])
  assert.equal(none.code, 1)
  assert.deepEqual(JSON.parse(none.stdout), { data: [], totalCount: 0 })
  assert.match(none.stderr, /No matching message arrived within 0ms\./)
  const list = await scene.run(['outbox', '--recipient', 'missing'])
  assert.deepEqual([list.code, list.stdout], [0, ''])
  const gone = await scene.run(['outbox', 'show', unknownId])
  assert.equal(gone.code, 1)
  assert.match(gone.stderr, /is not in the outbox/)
})

test('the outbox is cleared after a yes only', async () => {
  await shipped('fay', 'clear-1')
  const filter = ['--transaction', 'clear-1']
  const left = async (): Promise<number> => (await scene.call('GET', '/v1/outbox?transactionId=clear-1')).totalCount
  const alone = await scene.run(['outbox', 'clear', ...filter])
  assert.equal(alone.code, 2)
  assert.match(alone.stderr, /no terminal to ask for confirmation\. Use --yes/)
  const no = await scene.run(['outbox', 'clear', ...filter], { width: 80, input: 'n\n' })
  assert.match(no.stdout, /Remove 1 message from the outbox\? \[y\/N\] /)
  assert.match(no.stderr, /Nothing was removed\./)
  assert.equal(await left(), 1)
  const yes = await scene.run(['outbox', 'clear', ...filter, '--yes', '--json'])
  assert.deepEqual(JSON.parse(yes.stdout), { removed: 1 })
  assert.equal(await left(), 0)
  for (const args of [
    ['clear', '--limit', '3'],
    ['show'],
    ['show', 'a', '--yes'],
    ['drop'],
    ['constructor'],
    ['constructor', 'x'],
    ['--channel', 'in_app'],
    ['wait', '--timeout', '2d'],
    ['eml', 'x', '--json'],
  ]) {
    assert.equal((await scene.run(['outbox', ...args])).code, 2, args.join(' '))
  }
})

/** Someone whose page no one could send. */
async function failedPage(who: string): Promise<string> {
  await trigger('paged', who, `page-${who}`)
  await over(`page-${who}`)
  const { data } = await scene.call('GET', `/v1/notifications?transactionId=page-${who}`)
  assert.equal(data[0].jobs[0].status, 'failed')
  return data[0]._id
}

test('a notification is redriven after what failed was shown and a yes was said', async () => {
  let id = ''
  await withoutSms(async () => {
    id = await failedPage('gwen')
  })
  const dry = await scene.run(['redrive', 'notification', id, '--dry-run'])
  assert.equal(dry.code, 0)
  assert.match(dry.stdout, /^Page +sms +it is decided and rendered again$/m)
  assert.match(dry.stdout, /^Nothing was sent: this was a dry run\.$/m)
  assert.equal((await scene.run(['redrive', 'notification', id])).code, 2, 'no one can be asked')
  const no = await scene.run(['redrive', 'notification', id], { width: 100, input: '\n' })
  assert.match(no.stderr, /Nothing was sent again\./)
  const yes = await scene.run(['redrive', 'notification', id], { width: 100, input: 'y\n' })
  assert.equal(yes.code, 0, yes.stderr)
  assert.match(yes.stdout, /Resend its failed steps\? \[y\/N\] /)
  assert.match(yes.stdout, /^Page +sms +it is decided and rendered again$/m)
  const came = await scene.run(['outbox', 'wait', '--transaction', 'page-gwen'])
  assert.equal(came.code, 0, came.stderr)
  await over('page-gwen')
  const again = await scene.run(['redrive', 'notification', id, '--yes'])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /none of its steps failed/)
})

test('redrives of an event and by filter are tried dry, started, followed to their end, and listed', async () => {
  await withoutSms(async () => {
    await failedPage('hilda')
    await failedPage('iris')
  })
  const dry = await scene.run(['redrive', '--workflow', 'paged', '--subscriber', 'hilda', '--dry-run'])
  assert.match(dry.stdout, /^1 notification would be redriven/)
  assert.match(dry.stdout, /^noIntegration +1 +[0-9a-f-]{36}$/m)
  const event = await scene.run(['redrive', 'event', 'page-hilda', '--yes'])
  assert.equal(event.code, 0, event.stderr)
  const [, id = ''] =
    /^Redrive (\S+) is completed, ended at \S+\n {2}of transactionId page-hilda\n/.exec(event.stdout) ?? []
  assert.match(event.stdout, /1 notification matched, 1 redriven/)
  assert.match(event.stderr, /failed steps examined/)
  const many = await scene.run([
    'redrive',
    '--workflow',
    'paged',
    '--channel',
    'sms',
    '--from',
    '1h',
    '--yes',
    '--json',
  ])
  const done = JSON.parse(many.stdout)
  assert.deepEqual([done.state, done.redriven], ['completed', 1])
  const shown = await scene.run(['redrive', 'show', id])
  assert.match(shown.stdout, new RegExp(`^Redrive ${id} is completed`))
  const list = await scene.run(['redrive', 'list'])
  assert.match(list.stdout, new RegExp(`^ID .*\\n${done._id} .*completed +1 of 1 +workflow paged.*\\n${id} `))
  const stopped = await scene.run(['redrive', 'stop', id])
  assert.equal(stopped.code, 1)
  const nothing = await scene.run(['redrive', 'event', 'page-hilda'], { width: 80, input: 'y\n' })
  assert.match(nothing.stdout, /^No failed steps match/)
})

test('a redrive that is called wrongly is 2, and what the service refuses is reported field by field', async () => {
  for (const args of [
    [],
    ['event'],
    ['notification', 'a', '--workflow', 'b'],
    ['list', '--yes'],
    ['show', 'x', '--dry-run'],
    ['--channel', 'fax'],
    ['--reason', 'whim'],
    ['all', 'x'],
    ['constructor', 'x'],
  ]) {
    assert.equal((await scene.run(['redrive', ...args])).code, 2, args.join(' '))
  }
  const refused = await scene.run(['redrive', '--workflow', 'nowhere', '--dry-run'])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^Validation Error\n {2}filter\.workflow: No workflow has the identifier nowhere/)
})

test('a service that is not there, a key that is missing or wrong, and a call for help', async () => {
  const away = await scene.run(['outbox'], { env: { POSTHORN_URL: await unusedUrl() } })
  assert.equal(away.code, 1)
  assert.match(
    away.stderr,
    /^No response from http:\/\/127\.0\.0\.1:\d+\. Is the service running \(`posthorn start`\)\?/,
  )
  const missing = await scene.run(['outbox'], { env: { POSTHORN_API_KEY: '' } })
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /No API key/)
  const wrong = await scene.run(['tail'], { env: { POSTHORN_API_KEY: 'another-key-of-sixteen' } })
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /rejected the API key \(API Key not found\)/)
  assert.ok(!wrong.stderr.includes('another-key'))
  const help = await scene.run(['outbox', '--help'])
  assert.deepEqual([help.code, help.stderr], [0, ''])
  assert.match(help.stdout, /^Usage:\n {2}posthorn outbox \[list\]/m)
})
