// Moving in: a hundred thousand people from a CSV file, and from a fake of a Novu service with fifty workflows, into a
// service with its usual settings, by the commands that users run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FakeNovu, FakeNovuData } from '../test/support/fake-novu.ts'
import { startFakeNovu } from '../test/support/fake-novu.ts'
import { benchKey, residentMegabytes, startService, withDataDirectory } from './service.ts'
import type { Measured } from './statistics.ts'

const people = 100_000
const rowsPerSecondBar = 5_000

/** Their preferences are a call to Novu each. */
const choosers = 2_000

export async function benchImports(): Promise<Measured[]> {
  return withDataDirectory(async (directory) => {
    const service = await startService({ POSTHORN_DATA_DIR: directory })
    const data = novuData()
    const [fake, small] = [await startFakeNovu(data), await startFakeNovu({ ...data, ...choosersOf(data.subscribers) })]
    const file = join(directory, 'people.csv')
    await writeFile(file, csvText())
    const env = { POSTHORN_URL: `http://localhost:${service.port}`, POSTHORN_API_KEY: benchKey }
    const files = ['--report', join(directory, 'report.jsonl'), '--progress', join(directory, 'progress')]
    const fromNovu = ({ url, key }: FakeNovu, ...more: string[]) =>
      runCommand(['import', 'novu', '--url', url, '--key', key, ...files, ...more], env)
    try {
      const csv = await runCommand(['subscribers', 'import', file], env)
      const again = await runCommand(['subscribers', 'import', file], env)
      const novu = await fromNovu(fake, '--without', 'preferences')
      const repeated = await fromNovu(fake, '--without', 'preferences')
      const others = ['integrations', 'layouts', 'workflows', 'translations', 'subscribers', 'topics']
      const chosen = await fromNovu(small, ...others.flatMap((stage) => ['--without', stage]))
      const perSecond = people / csv.seconds
      return [
        {
          what: `a CSV file of ${people} rows, rows per second`,
          value: perSecond.toFixed(0),
          bar: `≥ ${rowsPerSecondBar}`,
          met: perSecond >= rowsPerSecondBar,
        },
        { what: 'the same again, nothing changes, rows per second', value: (people / again.seconds).toFixed(0) },
        {
          what: `Novu: ${people} subscribers, 50 workflows, 10 topics of 1,000`,
          value: `${novu.seconds.toFixed(1)} s`,
        },
        { what: 'the same again, nothing changes', value: `${repeated.seconds.toFixed(1)} s` },
        { what: 'preferences, subscribers per second', value: (choosers / chosen.seconds).toFixed(0) },
        { what: 'memory of the command, at most', value: `${Math.max(csv.megabytes, novu.megabytes).toFixed(0)} MB` },
        { what: 'memory of the service afterwards', value: `${(await residentMegabytes(service.pid)).toFixed(0)} MB` },
      ]
    } finally {
      await fake.close()
      await small.close()
      await service.stop()
    }
  })
}

interface Ran {
  readonly seconds: number
  readonly megabytes: number
}

async function runCommand(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const program = pathToFileURL(resolve('dist/cli/posthorn.js')).href
  const script = `import(${JSON.stringify(program)}).then(({ main }) => main(${JSON.stringify(args)}))
    .then(() => console.log(process.resourceUsage().maxRSS))`
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['-e', script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${output}`)
  const lines = output.trimEnd().split('\n')
  process.stdout.write(`${lines.slice(0, -1).join('\n')}\n`)
  const megabytes = Number(lines.pop()) / 1024
  return { seconds: (performance.now() - startedAt) / 1000, megabytes }
}

function csvText(): string {
  const rows = ['subscriberId,email,firstName,lastName,phone,timezone,data.plan']
  for (let place = 0; place < people; place += 1) {
    const name = `Ann ${place},"Lee, ""the ${place}th"""`
    rows.push(`csv-${place},ann${place}@example.com,${name},+4930${place},Europe/Berlin,gold`)
  }
  return rows.join('\n')
}

function novuData() {
  const everyone = Array.from({ length: people }, (_, place) => ({
    _id: `s-${place}`,
    subscriberId: `novu-${place}`,
    email: `user${place}@example.com`,
    firstName: 'User',
    lastName: `Number ${place}`,
    data: { place },
    channels: place % 5 === 0 ? [{ providerId: 'fcm', credentials: { deviceTokens: [`token-${place}`] } }] : [],
  }))
  const topics = Array.from({ length: 10 }, (_, place) => ({ _id: `t-${place}`, key: `topic-${place}`, name: 'Topic' }))
  const membersOf = (topic: number) =>
    everyone.slice(topic * 1_000, (topic + 1) * 1_000).map(({ subscriberId }) => ({ subscriber: { subscriberId } }))
  return {
    subscribers: everyone,
    topics,
    subscriptions: Object.fromEntries(topics.map(({ key }, place) => [key, membersOf(place)])),
    workflowsV2: Array.from({ length: 25 }, (_, place) => workflowV2(place)),
    workflowsV1: Array.from({ length: 25 }, (_, place) => workflowV1(place)),
  }
}

/** Half of them chose something. */
function choosersOf(everyone: FakeNovuData['subscribers']): Pick<FakeNovuData, 'subscribers' | 'preferences'> {
  const subscribers = everyone.slice(0, choosers)
  const choice = { global: { enabled: true, channels: { sms: false } }, workflows: [] }
  const chosen = subscribers.filter((_, place) => place % 2 === 0)
  return { subscribers, preferences: Object.fromEntries(chosen.map(({ subscriberId }) => [subscriberId, choice])) }
}

const workflowV2 = (place: number) => ({
  _id: `w-${place}`,
  workflowId: `second-${place}`,
  name: `Second ${place}`,
  active: true,
  origin: 'novu-cloud',
  steps: [
    { stepId: 'bell', name: 'Bell', type: 'in_app', controls: { values: { body: 'Order {{payload.id}}' } } },
    {
      stepId: 'mail',
      name: 'Mail',
      type: 'email',
      controls: { values: { subject: 'Order {{payload.id}}', body: '<p>Hello {{subscriber.firstName}}</p>' } },
    },
  ],
})

const workflowV1 = (place: number) => ({
  _id: `v-${place}`,
  name: `First ${place}`,
  active: true,
  triggers: [{ identifier: `first-${place}` }],
  notificationGroup: { name: 'General' },
  steps: [
    { name: 'Bell', active: true, template: { type: 'in_app', content: 'Order {{id}}' } },
    {
      name: 'Mail',
      active: true,
      template: { type: 'email', subject: 'Order {{id}}', contentType: 'customHtml', content: '<p>{{id}}</p>' },
    },
  ],
})
