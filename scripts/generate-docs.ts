// The documents that are made from code: docs/compatibility.md, docs/configuration.md, docs/openapi.json, docs/providers.md
// and docs/webhook-events.md; and the schemas that the dashboard makes its forms of.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { settings } from '../src/config.ts'
import { openApiDocument } from '../src/http/openapi/openapi.ts'
import { documentedRoutes } from '../src/http/registry.ts'
import { compatibilityPage } from './compatibility-page.ts'
import { table } from './markdown-table.ts'
import { providersPage } from './providers-page.ts'
import { stepSchemasModule } from './step-schemas-module.ts'
import { webhookEventsPage } from './webhook-events-page.ts'

/** Where a first start listens; a running service writes its own address into the document it serves. */
const shownBaseUrl = 'http://localhost:3000'
const root = new URL('../', import.meta.url)

export interface GeneratedDocument {
  /** From the root of the project. */
  readonly path: string
  readonly text: string
}

export function generateDocuments(): GeneratedDocument[] {
  const openApi = openApiDocument(documentedRoutes, shownBaseUrl)
  return [
    { path: 'dashboard/src/pages/workflows/step-schemas.ts', text: stepSchemasModule(openApi) },
    { path: 'docs/compatibility.md', text: compatibilityPage() },
    { path: 'docs/configuration.md', text: configurationPage() },
    { path: 'docs/openapi.json', text: `${JSON.stringify(openApi, null, 2)}\n` },
    { path: 'docs/providers.md', text: providersPage() },
    { path: 'docs/webhook-events.md', text: webhookEventsPage() },
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

Every setting is an environment variable; an empty one counts as not set. An invalid value stops the start with a
message about each error. Keep secrets out of files that others can read: each secret can also be given
as a file, whose path is in the variable with the suffix \`_FILE\` (\`POSTHORN_API_KEY_FILE=/run/secrets/api-key\`).

${table(['Variable', 'Default', 'Meaning'], rows)}`
}

async function main(): Promise<void> {
  for (const { path, text } of generateDocuments()) {
    const file = fileURLToPath(new URL(path, root))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    process.stdout.write(`${path}\n`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
