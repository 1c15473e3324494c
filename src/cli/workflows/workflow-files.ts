// Workflows as files of a folder: one a file, YAML or JSON, long texts beside it.
import { readdir } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { parseDocument } from 'yaml'
import { unknownMembers } from '../../domain/unknown-members.ts'
import type { Document } from '../../domain/workflows/workflow-document.ts'
import { elementCheck } from '../../http/request/validator.ts'
import { createWorkflowBody } from '../../http/routes/workflows/workflow-schemas.ts'
import type { TextFile } from '../../render/workflow-text/workflow-texts.ts'
import { schemaName } from '../../render/workflow-text/workflow-texts.ts'
import { UsageError } from '../command.ts'
import { readBelow } from './folder-files.ts'

export interface WorkflowFile {
  readonly path: string
  readonly document: Document
}

const filesMax = 1_000
/** Deeper than the schema of any payload. */
const depthMax = 100
const kinds: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json'])

const checkWorkflow = elementCheck(createWorkflowBody)

/** Every workflow of a folder, in the order of their file names. Errors are reported with the file. */
export async function readWorkflows(folder: string): Promise<WorkflowFile[]> {
  const names = await readdir(folder).catch(() => {
    throw new UsageError(`The folder ${folder} does not exist; \`posthorn workflows new ${folder}\` creates it`)
  })
  const found = names.filter((name) => kinds.has(extname(name)) && name !== schemaName).sort()
  if (found.length > filesMax)
    throw new UsageError(`${folder} contains ${found.length} files; at most ${filesMax} are read`)
  const files: WorkflowFile[] = []
  for (const name of found) files.push(await readWorkflow(folder, name))
  refuseTwice(files)
  return files
}

function refuseTwice(files: readonly WorkflowFile[]): void {
  const seen = new Map<unknown, string>()
  for (const { path, document } of files) {
    const first = seen.get(document['workflowId'])
    if (first !== undefined)
      throw new UsageError(`${path} and ${first} both define the workflow ${document['workflowId']}`)
    seen.set(document['workflowId'], path)
  }
}

export async function readWorkflow(folder: string, name: string): Promise<WorkflowFile> {
  const path = join(folder, name)
  const given = parsedText(path, await readBelow(folder, name))
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new UsageError(`${path} must contain one workflow: an object with name and steps`)
  }
  const document = await withTexts({ folder, path }, { workflowId: basename(name, extname(name)), ...given })
  const errors = checkWorkflow(document)
  if (errors === undefined) {
    refuseUnknown(path, document)
    return { path, document: document as Document }
  }
  const [field, { messages }] = Object.entries(errors)[0] ?? ['', { messages: [''] }]
  throw new UsageError(`${path}: ${messages[0] ?? `${field} is wrong`}`)
}

/** A misspelt member of a file would be ignored in silence. Editors may name the schema. */
function refuseUnknown(path: string, document: unknown): void {
  const unknown = unknownMembers(createWorkflowBody, document).filter((one) => one.path !== '$schema')
  if (unknown.length === 0) return
  const words = unknown.map(
    (one) => `${one.path} is unknown${one.nearest === undefined ? '' : `: did you mean ${one.nearest}?`}`,
  )
  throw new UsageError(`${path}: ${words.join('\n  ')}`)
}

function parsedText(path: string, text: string): unknown {
  // JSON is valid YAML as well; errors are reported with their line.
  const parsed = parseDocument(text, { prettyErrors: true })
  const [error] = parsed.errors
  if (error !== undefined) throw new UsageError(`${path}: ${error.message}`)
  try {
    return parsed.toJS({ maxAliasCount: 100 })
  } catch (error) {
    // An alias of nothing, or of too much.
    if (error instanceof ReferenceError) throw new UsageError(`${path}: ${error.message}`)
    throw error
  }
}

/** Inserts the texts from separate files. Aliases can create a value that contains itself. */
async function withTexts(
  file: { readonly folder: string; readonly path: string },
  value: unknown,
  around: readonly unknown[] = [],
): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value
  if (around.includes(value)) throw new UsageError(`${file.path} contains an alias that refers to itself`)
  if (around.length >= depthMax) throw new UsageError(`${file.path} is nested more than ${depthMax} levels deep`)
  const inside = [...around, value]
  if (Array.isArray(value)) return Promise.all(value.map((member) => withTexts(file, member, inside)))
  const entries = await Promise.all(
    Object.entries(value).map(async ([name, member]): Promise<[string, unknown]> => {
      if (name !== 'contentFile' || typeof member !== 'string') return [name, await withTexts(file, member, inside)]
      return ['content', await readBelow(file.folder, member, file.path)]
    }),
  )
  return Object.fromEntries(entries)
}

/** For editors: they complete and check the files as they are written. */
export function schemaFile(): TextFile {
  const schema = JSON.parse(JSON.stringify(createWorkflowBody)) as Record<string, unknown>
  const text = JSON.stringify(
    { $schema: 'http://json-schema.org/draft-07/schema#', ...withContentFile(schema) },
    null,
    2,
  )
  return { path: schemaName, text: `${text}\n` }
}

/** Wherever a template has content, that may lie in a file. */
function withContentFile(schema: unknown): object {
  if (Array.isArray(schema))
    return schema.map((one) => (typeof one === 'object' && one !== null ? withContentFile(one) : one))
  const changed = Object.fromEntries(
    Object.entries(schema as object).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? withContentFile(value) : value,
    ]),
  )
  const properties = changed['properties'] as Record<string, unknown> | undefined
  if (properties === undefined || !('content' in properties) || !('type' in properties)) return changed
  const contentFile = { type: 'string', description: 'The file within this folder that contains the content.' }
  return { ...changed, properties: { ...properties, contentFile } }
}
