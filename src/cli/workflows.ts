// posthorn workflows: writes workflows to files and back, shows differences, and creates a new folder.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { slugOf } from '../domain/delivery/integration.ts'
import type { Environment } from '../domain/environment.ts'
import type { Store } from '../main/store.ts'
import { comparable, holdsHidden } from '../manage/workflows/hidden-values.ts'
import { documentOf } from '../manage/workflows/workflow-document.ts'
import type { TextFile } from '../manage/workflows/workflow-texts.ts'
import { filesOf } from '../manage/workflows/workflow-texts.ts'
import { allWorkflows } from '../read/workflows/documents.ts'
import type { Command, Terminal } from './command.ts'
import { UsageError } from './command.ts'
import { parsed } from './terminal/arguments.ts'
import { environmentNamed, withStore } from './with-store.ts'
import type { PlannedChange } from './workflows/change-plan.ts'
import { applyPlan, plannedChange, printPlan } from './workflows/change-plan.ts'
import { readIfThere, writeFiles } from './workflows/folder-files.ts'
import { namesIn, workflowChanges } from './workflows/workflow-changes.ts'
import { readWorkflows, schemaFile } from './workflows/workflow-files.ts'

const actions = ['push', 'pull', 'diff', 'new'] as const
type Action = (typeof actions)[number]

export const workflowsCommand: Command = {
  name: 'workflows',
  usage: [
    'workflows push DIR [--environment Development] [--delete] [--yes]',
    'workflows pull DIR [--environment Development] [--yes]',
    'workflows diff DIR [--environment Development] [--delete]',
    'workflows new DIR [--name "Order shipped"]',
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readArguments(args)
    const [action, folder, ...more] = positionals
    if (!actions.includes(action as Action) || folder === undefined || more.length > 0) {
      throw new UsageError(`Usage:\n${workflowsCommand.usage.map((line) => `  posthorn ${line}`).join('\n')}`)
    }
    if (action === 'new') await begin(terminal, folder, values.name ?? 'Order shipped')
    else await withStore(terminal, (store) => compare(terminal, store, action as Action, folder, values))
  },
}

interface Values {
  readonly environment: string
  readonly name?: string
  readonly delete: boolean
  readonly yes: boolean
}

function readArguments(args: readonly string[]): { values: Values; positionals: string[] } {
  return parsed({
    args: [...args],
    allowPositionals: true,
    options: {
      environment: { type: 'string', default: 'Development' },
      name: { type: 'string' },
      delete: { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
    },
  }) as { values: Values; positionals: string[] }
}

async function compare(
  terminal: Terminal,
  store: Store,
  action: Action,
  folder: string,
  values: Values,
): Promise<void> {
  const environment = await environmentNamed(store, values.environment)
  if (action === 'pull') return pull(terminal, store, environment, folder, values)
  const wanted = (await readWorkflows(folder)).map(({ document, path }) => ({ document, from: path }))
  const changes = await workflowChanges(store, environment, wanted, { deletes: values.delete })
  if (action === 'diff') printPlan(terminal, changes)
  else await applyPlan(terminal, changes, { isConfirmed: values.yes })
}

async function pull(
  terminal: Terminal,
  store: Store,
  environment: Environment,
  folder: string,
  values: Values,
): Promise<void> {
  const names = await namesIn(store, environment)
  const changes: PlannedChange[] = []
  const withHidden: string[] = []
  for (const workflow of await allWorkflows(store.db, environment)) {
    const files = filesOf(documentOf(workflow, names))
    const path = join(folder, files[0]?.path ?? '')
    const shown = comparable(await readIfThere(folder, files), files)
    const write = (): Promise<void> => writeFiles(folder, [...files, schemaFile()])
    const change = plannedChange(path, shown.before, shown.after, write)
    if (change === undefined) continue
    changes.push(change)
    if (holdsHidden(files)) withHidden.push(path)
  }
  const isWritten = await applyPlan(terminal, changes, { isConfirmed: values.yes })
  if (!isWritten || withHidden.length === 0) return
  terminal.print('')
  terminal.print(
    'These files contain header values or query strings of custom steps, which may be secrets. Treat them as such:',
  )
  for (const path of withHidden) terminal.print(`  ${path}`)
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
