// A release: the next version, and what it changes.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../support/project-root.ts'
import { readProjectFile } from '../tidy/rules/sources.ts'

interface Versions {
  nextVersion(current: string, kind: string | undefined): string
  withVersion(text: string, current: string, version: string): string
  datedChangelog(text: string, version: string, date: Date): string
}
const address = pathToFileURL(join(projectRoot, 'scripts', 'release-version.mjs')).href
const { nextVersion, withVersion, datedChangelog }: Versions = await import(address)

test('the next version follows the kind of release, and never goes back', () => {
  assert.equal(nextVersion('0.1.9', 'patch'), '0.1.10')
  assert.equal(nextVersion('0.1.9', 'minor'), '0.2.0')
  assert.equal(nextVersion('0.1.9', 'major'), '1.0.0')
  assert.equal(nextVersion('0.1.9', '0.10.0'), '0.10.0')
  assert.throws(() => nextVersion('0.1.9', '0.1.9'), /0\.1\.9 is not after 0\.1\.9/)
  assert.throws(() => nextVersion('0.2.0', '0.1.99'), /not after/)
  for (const kind of [undefined, 'big', '1.2', 'v1.2.3'])
    assert.throws(() => nextVersion('0.1.9', kind), /patch\|minor/)
})

test('both manifests get the version, and only where it is the project’s own', () => {
  const { version } = JSON.parse(readProjectFile('package.json'))
  for (const name of ['package.json', 'package-lock.json']) {
    const text = readProjectFile(name)
    const changed = withVersion(text, version, '99.1.2')
    assert.equal(JSON.parse(changed).version, '99.1.2')
    assert.equal(JSON.parse(changed).packages?.[''].version ?? '99.1.2', '99.1.2')
    assert.equal(changed.split('99.1.2').length - 1, name === 'package.json' ? 1 : 2)
  }
})

test('what was unreleased is dated, and an empty section is nothing to release', () => {
  const text = '# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [0.1.0] - 2026-01-01\n\n- First.\n'
  const dated = datedChangelog(text, '0.2.0', new Date('2026-11-16T20:00:00Z'))
  assert.equal(dated, text.replace('[Unreleased]\n', '[Unreleased]\n\n## [0.2.0] - 2026-11-16\n'))
  assert.throws(() => datedChangelog(dated, '0.3.0', new Date()), /nothing to release/)
  assert.match(datedChangelog(readProjectFile('CHANGELOG.md'), '9.9.9', new Date(0)), /^## \[9\.9\.9\] - 1970-01-01$/m)
})
