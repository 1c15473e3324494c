// The next version, and what it changes in the manifests and in the changelog.
import { SetupProblem } from './child.mjs'

const versionPattern = /^(\d+)\.(\d+)\.(\d+)$/

/** `kind` is patch, minor, major, or the version itself; it never goes back. */
export function nextVersion(current, kind) {
  const [major, minor, patch] = numbersOf(current)
  if (kind === 'patch') return `${major}.${minor}.${patch + 1}`
  if (kind === 'minor') return `${major}.${minor + 1}.0`
  if (kind === 'major') return `${major + 1}.0.0`
  if (!versionPattern.test(kind ?? '')) {
    throw new SetupProblem(`npm run release -- patch|minor|major|X.Y.Z (the version is ${current} now)`)
  }
  const difference = numbersOf(kind).map((number, index) => number - [major, minor, patch][index])
  if ((difference.find((one) => one !== 0) ?? 0) <= 0) throw new SetupProblem(`${kind} is not after ${current}.`)
  return kind
}

/** The text of package.json or of the lock file, where the version is the project's own at most twice, at the top. */
export function withVersion(text, current, version) {
  const ownVersion = new RegExp(`("name": "posthorn",\\n\\s*"version": )"${current.replaceAll('.', '\\.')}"`, 'g')
  const changed = text.replace(ownVersion, `$1"${version}"`)
  if (changed === text) throw new SetupProblem(`The version ${current} was not found in a manifest.`)
  return changed
}

/** What was unreleased becomes the section of the version, and an empty one stands above it. */
export function datedChangelog(text, version, date) {
  const heading = '## [Unreleased]\n'
  const at = text.indexOf(heading)
  if (at === -1) throw new SetupProblem('CHANGELOG.md has no section "## [Unreleased]".')
  const rest = text.slice(at + heading.length)
  const end = rest.search(/^## \[/m)
  if (rest.slice(0, end === -1 ? undefined : end).trim() === '') {
    throw new SetupProblem('CHANGELOG.md says nothing about what is new: there is nothing to release.')
  }
  return `${text.slice(0, at)}${heading}\n## [${version}] - ${date.toISOString().slice(0, 10)}\n${rest}`
}

const numbersOf = (version) => version.match(versionPattern).slice(1).map(Number)
