// posthorn export: writes an environment's configuration and people to a file of JSON lines, without secrets.
import { open, rename, rm } from 'node:fs/promises'
import { clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed } from './command.ts'
import { readOptions, serviceUsage, wrongCall } from './terminal/arguments.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'
import type { ExportLine } from './transfer/export-lines.ts'
import { exportFormat, exportLines } from './transfer/export-lines.ts'
import { createMeter } from './transfer/progress.ts'
import { countWords, openReport } from './transfer/report.ts'
import { createTarget } from './transfer/target.ts'
import { ownEnvironment } from './workflows/remote-configuration.ts'

/** Written to the file at once. */
const textLengthMax = 256 * 1024

export const exportCommand: Command = {
  name: 'export',
  about:
    "Writes an environment's configuration and people to a file of JSON lines, which `posthorn import` reads: settings, " +
    'variables, integrations, feeds, layouts, translations, workflows and their groups, tenants with their overrides, ' +
    'contexts, webhook endpoints, subscribers with channels and preferences, topics with subscriptions, suppressions. ' +
    'Credentials of integrations and headers of custom steps are in it only with --secrets. What is left out is named in ' +
    'a report. The API key needs the scope full. The file can only be read by you: it has personal data and device tokens.',
  examples: [
    'posthorn export production.jsonl --environment Production',
    'posthorn export configuration.jsonl --no-people',
    'posthorn export everything.jsonl --secrets',
  ],
  usage: [`export FILE.jsonl [--no-people] [--secrets] [--report FILE] ${serviceUsage}`],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(exportCommand, args, {
      'no-people': { type: 'boolean', default: false },
      secrets: { type: 'boolean', default: false },
      report: { type: 'string' },
    })
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw wrongCall(exportCommand)
    const client = await clientFor(terminal, values)
    const { name, _id: environmentId } = await ownEnvironment(client)
    const report = await openReport(terminal, values.report ?? `${file}.report.jsonl`, { goesOn: false })
    const target = createTarget({ pause: terminal.pause, signal: terminal.untilStopped() }, client, environmentId)
    const how = { people: !values['no-people'], secrets: values.secrets, left: report.left }
    const header = { format: exportFormat, environment: name, exportedAt: new Date().toISOString() }
    // Under its own name only when it is whole.
    const part = `${file}.part`
    const counts = await written(terminal, part, header, exportLines(target, how), target.caller.signal).catch(
      async (error: unknown) => {
        // Half of it is of no use, and has personal data: an export begins again.
        await rm(part, { force: true })
        throw error
      },
    )
    await rename(part, file)
    const left = Object.fromEntries(report.counts())
    if (values.json) return terminal.print(visibleJson({ exported: counts, left }))
    terminal.print(visible(`Exported to ${file}: ${countWords(counts)}.`))
    if (Object.keys(left).length > 0) terminal.note(visible(`What is not in it is named in ${report.path}.`))
  },
}

async function written(
  terminal: Terminal,
  path: string,
  header: object,
  lines: AsyncGenerator<ExportLine>,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const meter = createMeter(terminal, 'lines')
  await rm(path, { force: true })
  const handle = await open(path, 'wx', 0o600)
  try {
    let [text, count] = [`${JSON.stringify(header)}\n`, 0]
    for await (const line of lines) {
      if (signal.aborted) throw new CommandFailed('Stopped: nothing was exported.')
      text += `${JSON.stringify(line)}\n`
      counts[`${line.kind}s`] = (counts[`${line.kind}s`] ?? 0) + 1
      count += 1
      meter.at(count)
      if (text.length < textLengthMax) continue
      await handle.writeFile(text)
      text = ''
    }
    await handle.writeFile(text)
    await handle.sync()
    return counts
  } finally {
    await handle.close()
  }
}
