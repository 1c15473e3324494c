// posthorn import: brings an environment's configuration and people in from Novu, or from a file of posthorn export.
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { clientFor, createClient, serviceFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed, UsageError } from './command.ts'
import { parsed, wrongCall } from './terminal/arguments.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'
import type { Caller } from './transfer/batches.ts'
import type { ImportState } from './transfer/import-lines.ts'
import { importLines } from './transfer/import-lines.ts'
import { importNovu } from './transfer/import-novu.ts'
import { novuFolder } from './transfer/novu-folder.ts'
import type { NovuSource } from './transfer/novu-source.ts'
import { novuService } from './transfer/novu-source.ts'
import type { NovuState, Stage } from './transfer/novu-stage.ts'
import { stages } from './transfer/novu-stage.ts'
import { openCheckpoint } from './transfer/progress.ts'
import type { Report } from './transfer/report.ts'
import { countWords, openReport } from './transfer/report.ts'
import type { Target } from './transfer/target.ts'
import { createTarget } from './transfer/target.ts'
import { ownEnvironment } from './workflows/remote-configuration.ts'

const novuUrl = 'https://api.novu.co'

const options = {
  url: { type: 'string' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  from: { type: 'string' },
  'to-url': { type: 'string' },
  'to-key-file': { type: 'string' },
  profile: { type: 'string' },
  environment: { type: 'string' },
  without: { type: 'string', multiple: true, default: [] as string[] },
  report: { type: 'string' },
  progress: { type: 'string' },
  restart: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const shared = '[--report FILE] [--progress FILE] [--restart] [--json] [--profile NAME] [--environment NAME]'

type Values = ReturnType<typeof parsed<{ args: string[]; allowPositionals: true; options: typeof options }>>['values']

export const importCommand: Command = {
  name: 'import',
  about:
    'Brings configuration and people into an environment. From Novu: integrations without their secrets, layouts, ' +
    'workflows of v1 and v2, translations, subscribers, topics with subscriptions, and preferences; --url and --key are ' +
    'those of Novu. From a file: what `posthorn export` wrote. What cannot be carried over is in a report, with the ' +
    'reason. A stopped import goes on where it was, and a repeated one changes nothing. The target is the login, or ' +
    'what --to-url, --to-key-file, --profile and --environment say.',
  examples: [
    'posthorn import novu --key-file novu.key                           # from https://api.novu.co',
    'posthorn import novu --url https://novu.example.com --key-file novu.key --environment Production',
    'posthorn import novu --from exported-folder --without preferences',
    'posthorn import production.jsonl --profile staging',
  ],
  usage: [
    'import novu [--url URL] (--key-file FILE | --key KEY | --from DIR) [--without STAGE]... ' +
      `${shared} [--to-url URL] [--to-key-file FILE]`,
    `import FILE.jsonl ${shared} [--to-url URL] [--to-key-file FILE]`,
  ],
  run: async (terminal, args) => {
    const { values, positionals } = parsed({ args: [...args], allowPositionals: true, options })
    const [from, ...more] = positionals
    if (from === undefined || more.length > 0) throw wrongCall(importCommand)
    if (from !== 'novu') refuseNovuOptions(values)
    const { profile, environment } = values
    const to = { url: values['to-url'], 'key-file': values['to-key-file'], profile, environment }
    const client = await clientFor(terminal, { ...to, keyOption: '--to-key-file' })
    const { name, _id: environmentId } = await ownEnvironment(client)
    const caller = { pause: terminal.pause, signal: terminal.untilStopped() }
    const target = createTarget(caller, client, environmentId)
    const finished = await (from === 'novu' ? runNovu : runFile)(terminal, { from, values, target })
    if (caller.signal.aborted) throw new CommandFailed('Stopped. The same command goes on from there.')
    await finished.checkpoint.remove()
    finish(terminal, { ...finished, name, json: values.json })
  },
}

interface Run {
  readonly from: string
  readonly values: Values
  readonly target: Target
}

async function runFile(terminal: Terminal, { from, values, target }: Run) {
  const { size } = await stat(from).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${from} cannot be read (${error.code})`)
  })
  const work = { file: resolve(from), bytes: size, url: target.client.url, environmentId: target.environmentId }
  const path = values.progress ?? `${from}.progress`
  const checkpoint = await openCheckpoint<ImportState>(path, work, values)
  const goesOn = checkpoint.state !== undefined
  const report = await openReport(terminal, values.report ?? `${from}.report.jsonl`, { goesOn })
  return { ...(await importLines({ terminal, path: from, target, report, checkpoint })), report, checkpoint }
}

async function runNovu(terminal: Terminal, { values, target }: Run) {
  const leavesOut = stagesOf(values.without)
  const { id, open } = await sourceOf(terminal, values)
  const work = { source: id, url: target.client.url, environmentId: target.environmentId }
  const checkpoint = await openCheckpoint<NovuState>(values.progress ?? 'novu-import.progress', work, values)
  const goesOn = checkpoint.state !== undefined
  const report = await openReport(terminal, values.report ?? 'novu-import.report.jsonl', { goesOn })
  const source = await open(target.caller, report)
  return { ...(await importNovu({ terminal, source, target, report, checkpoint, leavesOut })), report, checkpoint }
}

/** A file has no place it comes from: given in vain they would mislead. */
function refuseNovuOptions(values: Values): void {
  const { url, key, 'key-file': file, from, without } = values
  const given = Object.entries({ url, key, 'key-file': file, from, without: without[0] }).find(
    ([, value]) => value !== undefined,
  )
  if (given === undefined) return
  throw new UsageError(`--${given[0]} is for \`import novu\`; the target is the login, or --to-url and --to-key-file`)
}

function stagesOf(names: readonly string[]): ReadonlySet<Stage> {
  const unknown = names.find((name) => !stages.some((stage) => stage === name))
  if (unknown !== undefined) throw new UsageError(`--without must be one of ${stages.join(', ')}, not "${unknown}"`)
  return new Set(names as Stage[])
}

interface Source {
  /** What a progress file remembers it by. */
  readonly id: string
  open(caller: Caller, report: Report): Promise<NovuSource>
}

async function sourceOf(terminal: Terminal, values: Values): Promise<Source> {
  const { from, url: given = novuUrl, key, 'key-file': file } = values
  if (from !== undefined) {
    const other = Object.entries({ url: values.url, key, 'key-file': file }).find(([, value]) => value !== undefined)
    if (other !== undefined) throw new UsageError(`--from and --${other[0]} name two sources: give one of them`)
    const folder = await novuFolder(from)
    return { id: resolve(from), open: async () => folder }
  }
  if (key === undefined && file === undefined) {
    throw new UsageError('No API key of Novu: give it with --key-file or --key, or an export folder with --from')
  }
  const { url, key: read } = await serviceFor(terminal, { url: given, key, 'key-file': file })
  return { id: url, open: async (caller, report) => novuService(caller, createClient(url, read), report.left) }
}

interface Finished {
  readonly counts: Readonly<Record<string, number>>
  readonly changed: Readonly<Record<string, number>>
  readonly report: Report
  readonly name: string
  readonly json: boolean
}

function finish({ print, note }: Terminal, { counts, changed, report, name, json }: Finished): void {
  const left = Object.fromEntries(report.counts())
  if (json) {
    print(visibleJson({ imported: counts, changed, left }))
    return
  }
  const different = Object.fromEntries(Object.entries(changed).filter(([, count]) => count > 0))
  const isSame = Object.keys(different).length === 0
  const words = isSame ? 'Nothing changed: all of it was there already' : `Created or changed: ${countWords(different)}`
  print(visible(`Imported into ${name}: ${countWords(counts)}. ${words}.`))
  if (Object.keys(left).length === 0) return
  note(visible(`To look at, with the reason, in ${report.path}: ${countWords(left)}.`))
}
