// posthorn workflows: writes workflows and their texts to files and back, shows differences, and creates a new folder.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { slugOf } from '../domain/delivery/integration.ts'
import { comparable, holdsHidden } from '../render/workflow-text/hidden-values.ts'
import type { TextFile } from '../render/workflow-text/workflow-texts.ts'
import { filesOf } from '../render/workflow-text/workflow-texts.ts'
import type { ApiClient } from './api-client.ts'
import { clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed, UsageError } from './command.ts'
import { readOptions, serviceUsage, wrongCall } from './terminal/arguments.ts'
import { visible } from './terminal/visible-text.ts'
import type { PlannedChange } from './workflows/change-plan.ts'
import { applyPlan, plannedChange, printJson, showPlan } from './workflows/change-plan.ts'
import { readIfThere, writeFiles } from './workflows/folder-files.ts'
import type { Planned } from './workflows/remote-configuration.ts'
import { exported, ownEnvironment, planned } from './workflows/remote-configuration.ts'
import { readTranslations, translationFile } from './workflows/translation-files.ts'
import { readWorkflows, schemaFile } from './workflows/workflow-files.ts'

const actions = ['push', 'pull', 'diff', 'new'] as const
type Action = (typeof actions)[number]

/** Not the name of the first workflow of the README: a push would replace that. */
const exampleName = 'Order delivered'

export const workflowsCommand: Command = {
  name: 'workflows',
  about:
    'Workflows as files: one YAML or JSON file each, multi-line texts in files beside it, translations in the folder ' +
    'translations. Members that no workflow has are refused. diff ends with 1 when something differs.',
  examples: [
    'posthorn workflows new flows --name "Order delivered"   # a folder with a workflow that works',
    'posthorn workflows diff flows                           # what a push would change',
    'posthorn workflows push flows --yes                     # without --yes it shows the changes and asks',
    'posthorn workflows pull flows --environment Production',
  ],
  usage: [
    `workflows push DIR [--delete] [--yes] ${serviceUsage}`,
    `workflows pull DIR [--yes] ${serviceUsage}`,
    `workflows diff DIR [--delete] ${serviceUsage}`,
    `workflows new DIR [--name "${exampleName}"]`,
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(workflowsCommand, args, {
      name: { type: 'string' },
      delete: { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
    })
    const [action, folder, ...more] = positionals
    if (!actions.includes(action as Action) || folder === undefined || more.length > 0)
      throw wrongCall(workflowsCommand)
    if (action === 'new') return begin(terminal, folder, values.name ?? exampleName)
    const how = { isConfirmed: values.yes, json: values.json }
    if (action === 'pull') return pull(terminal, await clientFor(terminal, values), folder, how)
    // Mistakes in the files first: they need no service to be found.
    const given = await readFolder(folder)
    const client = await clientFor(terminal, values)
    const plan = await planned(client, { ...given.parts, deleteWorkflows: values.delete }, given.files)
    if (action === 'diff') return diff(terminal, client, { folder, plan, json: values.json })
    await applyPlan(terminal, plan, { ...how, apply: plan.apply })
  },
}

async function readFolder(folder: string) {
  const [workflows, translations] = [await readWorkflows(folder), await readTranslations(folder)]
  return {
    parts: { workflows: workflows.map(({ document }) => document), translations },
    files: new Map(workflows.map(({ document, path }) => [String(document['workflowId']), path])),
  }
}

async function diff(
  terminal: Terminal,
  client: ApiClient,
  { folder, plan, json }: { readonly folder: string; readonly plan: Planned; readonly json: boolean },
): Promise<void> {
  if (json) printJson(terminal, plan, false)
  else showPlan(terminal, plan, false)
  if (plan.changes.length === 0) return
  const { name } = await ownEnvironment(client)
  throw new CommandFailed(`${folder} differs from ${name} at ${client.url}.`)
}

async function pull(
  terminal: Terminal,
  client: ApiClient,
  folder: string,
  how: { readonly isConfirmed: boolean; readonly json: boolean },
): Promise<void> {
  const configuration = await exported(client)
  const changes: PlannedChange[] = []
  const written: TextFile[] = []
  const withHidden: string[] = []
  const add = async (files: readonly TextFile[], isDocument: boolean): Promise<void> => {
    const path = join(folder, files[0]?.path ?? '')
    const stored = await readIfThere(folder, files)
    const shown = isDocument
      ? comparable(stored, files)
      : { before: stored[0]?.text ?? '', after: files[0]?.text ?? '' }
    const change = plannedChange(path, shown.before, shown.after)
    if (change === undefined) return
    changes.push(change)
    written.push(...files)
    if (isDocument && holdsHidden(files)) withHidden.push(path)
  }
  for (const document of configuration.workflows) await add(filesOf(document), true)
  for (const translation of configuration.translations) await add([translationFile(translation)], false)
  const apply = (): Promise<void> => writeFiles(folder, [...written, schemaFile()])
  const isWritten = await applyPlan(terminal, { changes, notes: [] }, { ...how, apply })
  if (!isWritten || withHidden.length === 0) return
  const say = how.json ? terminal.note : terminal.print
  say('')
  const isRedacted = written.some(({ text }) => text.includes('[redacted]'))
  say(
    isRedacted
      ? 'The API key may not see header values and query strings of custom steps: they are [redacted] in these files. A push needs the values; a key with the scope full sees them:'
      : 'These files contain header values or query strings of custom steps, which may be secrets. Treat them as such:',
  )
  for (const path of withHidden) say(`  ${visible(path)}`)
}

/** A folder with one workflow that works, and the schema that editors check the files by. */
async function begin({ print }: Terminal, folder: string, name: string): Promise<void> {
  const workflowId = slugOf(name)
  if (workflowId === '') throw new UsageError('--name must contain letters or digits')
  const path = join(folder, `${workflowId}.yaml`)
  const isThere = await stat(path).then(
    () => true,
    () => false,
  )
  if (isThere) throw new UsageError(`${path} already exists`)
  const example: TextFile[] = filesOf({
    workflowId,
    name,
    active: true,
    steps: [
      { name: 'In-app message', template: { type: 'in_app', content: 'Hello {{ subscriber.firstName }}' } },
      { name: 'Wait', template: { type: 'delay' }, metadata: { type: 'regular', amount: 1, unit: 'hours' } },
      {
        name: 'E-mail',
        template: {
          type: 'email',
          subject: `${name}`,
          contentType: 'customHtml',
          content: '<p>Hello {{ subscriber.firstName }},</p>\n<p>there is news.</p>\n',
        },
      },
    ],
  })
  await writeFiles(folder, [...example, schemaFile()])
  print(`Created ${path}. \`posthorn workflows push ${folder}\` uploads it to the service.`)
}
