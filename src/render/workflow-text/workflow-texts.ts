// A workflow as the texts of its files: written, and compared as they are written.
import { stringify } from 'yaml'
import { slugOf } from '../../domain/delivery/integration.ts'
import type { Document } from '../../domain/workflows/workflow-document.ts'

/** A file and its content. */
export interface TextFile {
  readonly path: string
  readonly text: string
}

/** A text of one short line stays inline. */
const inlineLengthMax = 120
export const schemaName = 'workflow.schema.json'

/** The files of one workflow: the document, and its long texts beside it. */
export function filesOf(document: Document): TextFile[] {
  const name = fileNameOf(String(document['workflowId']))
  const texts: TextFile[] = []
  const steps = (document['steps'] as readonly Document[]).map((step, place) =>
    withoutLongText(step, `${name}/${place + 1}-${textName(step)}`, texts),
  )
  const text = `# yaml-language-server: $schema=./${schemaName}\n${stringify({ ...document, steps }, { lineWidth: 0 })}`
  return [{ path: `${name}.yaml`, text }, ...texts]
}

/** Dots alone are a folder's own name, or that of the one above; no identifier holds a percent sign. */
const fileNameOf = (identifier: string): string =>
  /^\.+$/.test(identifier) ? identifier.replaceAll('.', '%2E') : identifier

function textName(step: Document): string {
  const { type } = step['template'] as { type: string }
  return slugOf(String(step['name'] ?? '')) || type
}

function withoutLongText(step: Document, name: string, texts: TextFile[]): Document {
  const template = step['template'] as Document
  const variants = step['variants'] as readonly Document[] | undefined
  const changed = {
    ...step,
    template: shortened(template, name, texts),
    ...(variants === undefined
      ? {}
      : { variants: variants.map((variant, place) => withoutLongText(variant, `${name}-${place + 1}`, texts)) }),
  }
  return changed
}

function shortened(template: Document, name: string, texts: TextFile[]): Document {
  const { content, ...rest } = template
  const isLong = typeof content === 'string' && (content.includes('\n') || content.length > inlineLengthMax)
  if (!isLong) return template
  const path = `${name}.${template['type'] === 'email' || template['type'] === 'in_app' ? 'html' : 'txt'}`
  texts.push({ path, text: content })
  return { ...rest, contentFile: path }
}

/** One text of all files of a workflow, for comparing. */
export const wholeText = (files: readonly TextFile[]): string =>
  files.map(({ path, text }, place) => (place === 0 || text === '' ? text : `--- ${path}\n${text}\n`)).join('')
