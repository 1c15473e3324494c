// posthorn doctor: checks the installation, and says what to do about each problem.
import { silentLog } from '../world/log.ts'
import { createClient, serviceFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed } from './command.ts'
import type { Check, Checked } from './doctor/diagnosis.ts'
import { NoKey, runChecks, worstOf } from './doctor/diagnosis.ts'
import { databaseCheck, lookAtDatabase, schemaCheck } from './doctor/doctor-database.ts'
import {
  dataDirectoryCheck,
  encryptionKeyCheck,
  nodeCheck,
  settingsCheck,
  transportCheck,
} from './doctor/doctor-machine.ts'
import type { DoctorProbes } from './doctor/doctor-probes.ts'
import { askAll } from './doctor/doctor-probes.ts'
import {
  buriedCheck,
  clockCheck,
  failuresCheck,
  integrationsCheck,
  keyCheck,
  queueCheck,
  readyCheck,
  retentionCheck,
  serviceCheck,
  workflowsCheck,
} from './doctor/doctor-service.ts'
import { readOptions, serviceUsage, wrongCall } from './terminal/arguments.ts'
import { wrapped } from './terminal/table.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'
import { warningNotes } from './terminal/warnings.ts'

/** Longer than any of them takes when all is well, short enough to wait for. */
const checkTimeoutMs = 10_000

const checks: readonly Check<DoctorProbes>[] = [
  nodeCheck,
  settingsCheck,
  dataDirectoryCheck,
  encryptionKeyCheck,
  databaseCheck,
  schemaCheck,
  serviceCheck,
  readyCheck,
  clockCheck,
  transportCheck,
  keyCheck,
  queueCheck,
  buriedCheck,
  failuresCheck,
  integrationsCheck,
  workflowsCheck,
  retentionCheck,
]

export const doctorCommand: Command = {
  name: 'doctor',
  about: 'Checks the installation, the service and the environment of the key, and says what to do about each problem.',
  examples: ['posthorn doctor', 'posthorn doctor --json --environment Production'],
  usage: [`doctor ${serviceUsage}`],
  runsWithMistakes: true,
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(doctorCommand, args, {})
    if (positionals.length > 0) throw wrongCall(doctorCommand)
    const over = new AbortController()
    const { url, key } = await serviceFor(terminal, values)
    const probes = askAll({
      terminal,
      url,
      publicClient: createClient(url),
      signal: over.signal,
      wanted: values.environment,
      keyHolder: async () => {
        if (key === undefined) throw new NoKey()
        return createClient(url, key, warningNotes(terminal))
      },
      database: () => lookAtDatabase(terminal.config, url, silentLog),
    })
    const checked = await runChecks(checks, probes, checkTimeoutMs)
    over.abort()
    const status = worstOf(checked)
    if (values.json) terminal.print(visibleJson({ status, url, checks: checked }))
    else for (const line of checked.flatMap((one) => checkLines(one, terminal))) terminal.print(line)
    if (status !== 'failed') return
    const count = checked.filter((one) => one.status === 'failed').length
    throw new CommandFailed(`${count} of ${checked.length} checks failed.`)
  },
}

const nameWidth = Math.max(...checks.map(({ name }) => name.length))
const statusWidth = 'warning'.length

function checkLines({ name, status, message, advice }: Checked, { width }: Pick<Terminal, 'width'>): string[] {
  const head = `${status.padEnd(statusWidth)}  ${name.padEnd(nameWidth)}  `
  const left = width === undefined ? undefined : Math.max(width - head.length, 24)
  const blank = ' '.repeat(head.length)
  const said = wrapped(visible(message.replaceAll('\n', ' ')), left)
  const adviceLines = advice === undefined ? [] : wrapped(visible(`→ ${advice}`), left)
  return [...said, ...adviceLines].map((line, place) => `${place === 0 ? head : blank}${line}`)
}
