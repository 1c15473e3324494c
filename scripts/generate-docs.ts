// The documents that are made from code: docs/configuration.md, docs/openapi.json and docs/providers.md.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { settings } from '../src/config.ts'
import { openApiDocument } from '../src/http/openapi.ts'
import { routes } from '../src/http/registry.ts'
import type { FormField } from '../src/providers/form.ts'
import { fieldsOf, isSecret } from '../src/providers/form.ts'
import type { Provider } from '../src/providers/provider.ts'
import { providers } from '../src/providers/registry.ts'

/** Where a first start listens; a running service writes its own address into the document it serves. */
const shownBaseUrl = 'http://localhost:3000'
const root = new URL('../', import.meta.url)

export interface GeneratedDocument {
  /** From the root of the project. */
  readonly path: string
  readonly text: string
}

export function generateDocuments(): GeneratedDocument[] {
  return [
    { path: 'docs/configuration.md', text: configurationPage() },
    { path: 'docs/openapi.json', text: `${JSON.stringify(openApiDocument(routes, shownBaseUrl), null, 2)}\n` },
    { path: 'docs/providers.md', text: providersPage() },
  ]
}

function configurationPage(): string {
  const rows = Object.values(settings).map(({ variable, shownDefault, meaning, secret }) => [
    secret === true ? `\`${variable}\` (secret)` : `\`${variable}\``,
    shownDefault,
    meaning,
  ])
  return `<!-- Generated from src/config.ts by \`npm run docs\`: change that file, not this one. -->

# Configuration

Generated from src/config.ts.

Every setting is an environment variable; an empty one counts as not set. A value that is no good stops the start with a
sentence about each mistake. Keep what is marked as secret out of files that others can read.

${table(['Variable', 'Default', 'Meaning'], rows)}`
}

function providersPage(): string {
  const rows = providers.map((provider) => [
    provider.channel,
    provider.name,
    `\`${provider.id}\``,
    provider.check === undefined ? 'no' : 'yes',
  ])
  return `<!-- Generated from src/providers/registry.ts by \`npm run docs\`: change the providers, not this file. -->

# Providers

Generated from src/providers/registry.ts.

An integration is an account at one of these. An active one must have every required credential; with \`check: true\`
the provider itself is asked whether the account is good, where "Can be checked" says yes. A secret is sealed at rest and
shown to keys with the scope \`full\` only.

${table(['Channel', 'Provider', '`providerId`', 'Can be checked'], rows)}
${providers.map(providerSection).join('\n')}`
}

function providerSection(provider: Provider): string {
  const fields = fieldsOf(provider.form)
  const credentials =
    fields.length === 0
      ? 'It needs no credentials.\n'
      : table(
          ['Credential', 'Label', 'Required', 'Secret', 'Meaning'],
          fields.map(([key, field]) => [
            `\`${key}\``,
            field.label,
            field.required ? 'yes' : 'no',
            isSecret(field) ? 'yes' : 'no',
            meaningOf(field),
          ]),
        )
  const documentation = /^https?:/.test(provider.docsUrl) ? `\n<${provider.docsUrl}>\n` : ''
  return `## ${provider.name} (\`${provider.id}\`)\n${documentation}\n${credentials}`
}

function meaningOf(field: FormField): string {
  const choices =
    field.choices === undefined ? '' : `One of ${field.choices.map((value) => `\`${value}\``).join(', ')}.`
  const example = field.placeholder === undefined ? '' : `Such as \`${field.placeholder}\`.`
  return [field.description ?? '', choices, example].filter((part) => part !== '').join(' ')
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |\n`
  return `${line(heads)}|${'---|'.repeat(heads.length)}\n${rows.map(line).join('')}`
}

/** A bar would end the cell, a line break the table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')

async function main(): Promise<void> {
  for (const { path, text } of generateDocuments()) {
    const file = fileURLToPath(new URL(path, root))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    process.stdout.write(`${path}\n`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
