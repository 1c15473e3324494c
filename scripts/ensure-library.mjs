// What programs import from the package: the client of the API with its types, made of docs/openapi.json, and the types of the inbox.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { binOf, ensureCompiled, filesBelow, projectRoot } from './ensure.mjs'
import { ensureDashboardInstalled } from './ensure-dashboard.mjs'

/** Raise the number when the recipe changes. */
const recipe = 'posthorn client 1'

const library = {
  recipe: 'posthorn library 1',
  folder: 'lib',
  rootDir: '.',
  commands: (root, into) => [
    [
      ...binOf(root, 'esbuild', 'esbuild'),
      'client/index.ts',
      ...['--bundle', '--format=esm', '--platform=neutral', '--target=es2022', '--log-level=warning'],
      `--outfile=${join(into, 'client', 'index.js')}`,
    ],
    [
      ...binOf(root, 'typescript', 'tsc'),
      ...['-p', 'client/tsconfig.json', '--noEmit', 'false', '--declaration', '--emitDeclarationOnly'],
      ...['--outDir', into],
    ],
  ],
  saying: 'Building the client …',
  failing: 'Building the client failed',
  sources: (root) =>
    ['client', 'inbox/client'].flatMap((folder) => filesBelow(join(root, folder)).map((path) => join(folder, path))),
  copied: () => false,
}

/** True when it built. */
export async function ensureLibraryBuilt(root = projectRoot) {
  await ensureClientGenerated(root)
  return ensureCompiled(library, root)
}

/** Makes client/generated of the OpenAPI document; true when it had changed. */
export async function ensureClientGenerated(root = projectRoot) {
  const text = readFileSync(join(root, 'docs', 'openapi.json'), 'utf8')
  const lock = readFileSync(join(root, 'dashboard', 'package-lock.json'))
  const stamp = createHash('sha256').update(recipe).update(lock).update(text).digest('hex')
  const folder = join(root, 'client', 'generated')
  const stampPath = join(folder, '.built')
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === stamp) return false
  await ensureDashboardInstalled(root, { whole: true })
  const document = documentForKeys(JSON.parse(text))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'calls.ts'), callsOf(document))
  writeFileSync(join(folder, 'api.ts'), await typesOf(root, document))
  writeFileSync(stampPath, stamp)
  return true
}

/** What a key may call. Streams are left out: a call has one answer. Errors are one class, so their answers need no types. */
export function documentForKeys(document) {
  const paths = {}
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const isForKeys = (operation.security ?? []).some((one) => 'ApiKey' in one)
      const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
      const isStream = successes.some(([, { content = {} }]) => 'text/event-stream' in content)
      if (!isForKeys || isStream) continue
      const responses = Object.fromEntries(successes.map(([status, reply]) => [status, withoutExamples(reply)]))
      paths[path] = { ...paths[path], [method]: { ...operation, responses } }
    }
  }
  return { ...document, paths }
}

/** They make half of the types' size, and the document has them. */
function withoutExamples({ content, ...reply }) {
  if (content === undefined) return reply
  const plain = Object.entries(content).map(([type, { schema }]) => [type, { schema }])
  return { ...reply, content: Object.fromEntries(plain) }
}

function callsOf({ paths }) {
  const lines = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { operationId }]) => `  ${operationId}: '${method.toUpperCase()} ${path}',\n`,
    ),
  )
  return `// Made of docs/openapi.json: what each operation calls.\nexport const calls: Readonly<Record<string, string>> = {\n${lines.join('')}}\n`
}

async function typesOf(root, document) {
  const entry = join(root, 'dashboard', 'node_modules', 'openapi-typescript', 'dist', 'index.mjs')
  const { default: openapiTypes, astToString } = await import(pathToFileURL(entry).href)
  return `// Made of docs/openapi.json by openapi-typescript.\n${astToString(await openapiTypes(document, { silent: true }))}`
}
