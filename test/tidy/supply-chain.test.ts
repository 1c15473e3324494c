// What is installed: named safely in the lock file, without scripts, under licences that allow it; exceptions do not grow old.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Json } from '../support/app.ts'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile } from './rules/sources.ts'

interface Exception {
  readonly name: string
  readonly addedAt: string
  readonly reason: string
}
type Exceptions = Readonly<Record<'installScripts' | 'licences' | 'advisories', readonly Exception[]>>
interface SupplyChain {
  readonly exceptionDaysMax: number
  supplyChainMistakes(given: { lock: Json; npmrc: string; exceptions: Exceptions; now: Date }): string[]
  unlistedAdvisories(audit: Json, exceptions: Exceptions): string[]
  billOfMaterials(lock: Json, options?: { all?: boolean }): Json
}

// Imported by address: the script is plain JavaScript.
const script = pathToFileURL(join(projectRoot, 'scripts', 'supply-chain.mjs')).href
const { supplyChainMistakes, unlistedAdvisories, billOfMaterials }: SupplyChain = await import(script)

const lock = JSON.parse(readProjectFile('package-lock.json'))
const npmrc = readProjectFile('.npmrc')
const exceptions: Exceptions = JSON.parse(readProjectFile('.ci/exceptions.json'))
const none: Exceptions = { installScripts: [], licences: [], advisories: [] }
const integrity = `sha512-${'A'.repeat(86)}==`
const now = new Date('2026-11-16T00:00:00Z')
const goodNpmrc = 'fund=false\n'

test('every locked package has its hash, no place written in, no script that is needed, and a licence that is allowed', () => {
  assert.deepEqual(supplyChainMistakes({ lock, npmrc, exceptions, now: new Date() }), [])
})

test('a lock that names a place, lacks a hash, brings a script or another licence is refused, package by package', () => {
  const packages = {
    '': {},
    'node_modules/good': { integrity, license: '(GPL-3.0 OR MIT)' },
    'node_modules/placed': { integrity, license: 'MIT', resolved: 'https://packages.example/placed.tgz' },
    'node_modules/bare': { license: 'MIT' },
    'node_modules/weak': { integrity: 'sha1-AAAA', license: 'MIT' },
    'node_modules/linked': { link: true, license: 'MIT' },
    'node_modules/scripted': { integrity, license: 'ISC', hasInstallScript: true },
    'node_modules/a/node_modules/copyleft': { integrity, license: 'AGPL-3.0' },
    'node_modules/both': { integrity, license: 'MIT AND GPL-2.0' },
    'node_modules/silent': { integrity },
  }
  const found = supplyChainMistakes({ lock: { packages }, npmrc: goodNpmrc, exceptions: none, now })
  assert.deepEqual(
    found.map((line) => line.split(' ')[0]),
    ['placed', 'bare', 'weak', 'linked', 'scripted', 'a/node_modules/copyleft', 'both', 'silent'].map(
      (name) => `node_modules/${name}`,
    ),
  )
})

test('npm is given no registry to ask', () => {
  const mistakes = (text: string) => supplyChainMistakes({ lock: { packages: {} }, npmrc: text, exceptions: none, now })
  assert.deepEqual(mistakes(goodNpmrc), [])
  assert.equal(mistakes(`${goodNpmrc}registry=https://packages.example\n`).length, 1)
  assert.equal(mistakes(`${goodNpmrc}//packages.example/:_authToken=x\n`).length, 1)
})

test('an exception has a reason, is used, and is looked at again after half a year', () => {
  const packages = { 'node_modules/scripted': { integrity, license: 'MIT', hasInstallScript: true } }
  const judged = (change: Partial<Exception>) =>
    supplyChainMistakes({
      lock: { packages },
      npmrc: goodNpmrc,
      exceptions: {
        ...none,
        installScripts: [
          { name: 'scripted', addedAt: '2026-11-01', reason: 'It is not needed by anything.', ...change },
        ],
      },
      now,
    })
  assert.deepEqual(judged({}), [])
  assert.match(judged({ addedAt: '2026-05-01' })[0] ?? '', /look at it again/)
  assert.match(judged({ addedAt: 'soon' })[0] ?? '', /look at it again/)
  assert.match(judged({ reason: 'because' })[0] ?? '', /no reason/)
  assert.match(judged({ name: 'gone' }).at(-1) ?? '', /not installed/)
})

test('an advisory counts unless it is listed', () => {
  const via = [{ name: 'a', severity: 'high', title: 'Stalls', url: 'https://example.com/advisories/GHSA-1' }, 'b']
  const audit = { vulnerabilities: { a: { via }, b: { via: ['a'] } } }
  assert.deepEqual(unlistedAdvisories(audit, none), ['high: a: Stalls (https://example.com/advisories/GHSA-1)'])
  const listed = { ...none, advisories: [{ name: 'GHSA-1', addedAt: '2026-11-01', reason: 'x'.repeat(20) }] }
  assert.deepEqual(unlistedAdvisories(audit, listed), [])
})

test('the bill of materials names every package of production with its hash, licence and what it needs', () => {
  const bill = billOfMaterials(lock)
  assert.deepEqual([bill.bomFormat, bill.specVersion, bill.metadata.component.name], ['CycloneDX', '1.5', 'posthorn'])
  const production = Object.entries<Json>(lock.packages).filter(([path, one]) => path !== '' && one.dev !== true)
  const refs = new Set(bill.components.map((one: Json) => one['bom-ref']))
  assert.equal(refs.size, bill.components.length)
  for (const [path, { version }] of production) {
    assert.ok(refs.has(`${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`), path)
  }
  for (const component of bill.components) {
    assert.match(component.hashes[0].content, /^[0-9a-f]{128}$/)
    assert.equal(component.licenses.length, 1, component.name)
  }
  const root = bill.dependencies.find((one: Json) => one.ref === bill.metadata.component['bom-ref'])
  const { dependencies, optionalDependencies } = lock.packages['']
  assert.equal(root.dependsOn.length, Object.keys({ ...dependencies, ...optionalDependencies }).length)
  for (const { ref, dependsOn } of bill.dependencies)
    for (const on of dependsOn) assert.ok(refs.has(on), `${ref} needs ${on}`)
  assert.ok(!JSON.stringify(bill).includes('registry'))
  assert.ok(billOfMaterials(lock, { all: true }).components.length > bill.components.length)
})
