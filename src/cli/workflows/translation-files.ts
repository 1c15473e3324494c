// Translations as files: translations/LOCALE.json in the folder of the workflows, YAML if you like.
import { readdir } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { parseDocument } from 'yaml'
import { isLocale } from '../../domain/people/subscriber.ts'
import type { TranslationDocument } from '../../domain/workflows/configuration.ts'
import type { TextFile } from '../../render/workflow-text/workflow-texts.ts'
import { UsageError } from '../command.ts'
import { readBelow } from './folder-files.ts'

const folderName = 'translations'
const kinds: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json'])

export function translationFile({ locale, texts }: TranslationDocument): TextFile {
  return { path: `${folderName}/${locale}.json`, text: `${JSON.stringify(texts, null, 2)}\n` }
}

/** By locale; empty if there is no such folder. */
export async function readTranslations(folder: string): Promise<TranslationDocument[]> {
  const names = await readdir(join(folder, folderName)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw new UsageError(`${join(folder, folderName)} cannot be read (${error.code})`)
  })
  const found = names.filter((name) => kinds.has(extname(name))).sort()
  return Promise.all(found.map((name) => readTranslation(folder, name)))
}

async function readTranslation(folder: string, name: string): Promise<TranslationDocument> {
  const path = join(folder, folderName, name)
  const locale = basename(name, extname(name))
  if (!isLocale(locale)) throw new UsageError(`${path}: the name of the file must be a locale, such as en or de-AT`)
  const parsed = parseDocument(await readBelow(folder, join(folderName, name)), { prettyErrors: true })
  const [error] = parsed.errors
  if (error !== undefined) throw new UsageError(`${path}: ${error.message}`)
  const texts: unknown = parsed.toJS({ maxAliasCount: 0 })
  if (typeof texts === 'object' && texts !== null && !Array.isArray(texts)) {
    return { locale, texts: texts as TranslationDocument['texts'] }
  }
  throw new UsageError(`${path} must contain texts by key, such as {"order": {"shipped": "On its way"}}`)
}
