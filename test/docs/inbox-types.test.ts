// The TypeScript that docs/inbox.md prints for public packages is checked: against their own types where a folder has them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { projectRoot } from '../support/project-root.ts'
import { hasPackage, packagesFolder } from '../support/public-packages.ts'
import { blocksOf } from './blocks.ts'

const reactTypes = join(projectRoot, 'dashboard', 'node_modules', '@types', 'react')
const skip = !existsSync(reactTypes) && 'the packages of the dashboard are not installed'
const areInstalled = hasPackage('@novu/react') && hasPackage('@novu/js')

/** What the guide uses of the packages, for machines without them. */
const declared = `
interface Options {
  applicationIdentifier: string
  subscriber: string
  subscriberHash?: string
  socketUrl?: string
}
declare module '@novu/react' {
  export function Inbox(props: Options & { backendUrl?: string }): import('react').JSX.Element
}
declare module '@novu/js' {
  export class Novu {
    constructor(options: Options & { apiUrl?: string })
    on(name: 'notifications.notification_received', listener: (event: { result: { subject?: string } }) => void): void
  }
}
`
const options = {
  ...{ target: 'es2023', lib: ['es2023', 'dom'], module: 'esnext', moduleResolution: 'bundler', types: [] },
  ...{ strict: true, jsx: 'react-jsx', noEmit: true, skipLibCheck: true, preserveSymlinks: true },
}

/** What the compiler says of these files; empty where nothing is wrong. */
async function complaintsOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-docs-'))
  try {
    const modules = join(folder, 'node_modules')
    await mkdir(join(modules, '@types'), { recursive: true })
    await symlink(reactTypes, join(modules, '@types', 'react'))
    const type = join(reactTypes, '..', '..', 'csstype')
    if (existsSync(type)) await symlink(type, join(modules, 'csstype'))
    const installed = areInstalled ? readdirSync(join(packagesFolder, 'node_modules')) : []
    for (const name of installed.filter((one) => !['@types', 'csstype'].includes(one) && !one.startsWith('.'))) {
      await symlink(join(packagesFolder, 'node_modules', name), join(modules, name))
    }
    const all = areInstalled ? files : { ...files, 'declared.d.ts': declared }
    for (const [name, text] of Object.entries(all)) await writeFile(join(folder, name), text)
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: Object.keys(all) }),
    )
    const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
    const bin = join(compiler, '..', 'bin', 'tsc')
    const { stdout, stderr } = spawnSync(process.execPath, [bin, '-p', folder], { encoding: 'utf8' })
    return `${stdout}${stderr}`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const guide = blocksOf('docs/inbox.md', readFileSync(join(projectRoot, 'docs', 'inbox.md'), 'utf8'))
const printed = guide.filter(({ language }) => language === 'ts' || language === 'tsx')
const files = Object.fromEntries(printed.map(({ line, language, text }) => [`line-${line}.${language}`, text]))

test('what the guide prints for React, Next.js and JavaScript compiles as it stands there', { skip }, async () => {
  assert.deepEqual(printed.map(({ language }) => language).sort(), ['ts', 'tsx'])
  assert.equal(await complaintsOf(files), '')
})

test('a member that a package does not know is a mistake of the guide', { skip }, async () => {
  const wrong = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, text.replaceAll('applicationIdentifier', 'application')]),
  )
  const said = await complaintsOf(wrong)
  for (const name of Object.keys(files)) assert.ok(said.includes(name), said)
})
