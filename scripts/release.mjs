// npm run release -- patch|minor|major|X.Y.Z: a new version, a dated changelog, the package, and its checks.
// It uses no registry of its own accord and sends nothing anywhere: the last lines say which commands publish.
import './node-version.mjs'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly, runScript, runToEnd, SetupProblem } from './child.mjs'
import { projectRoot } from './ensure.mjs'
import { buildAll, pack } from './pack.mjs'
import { datedChangelog, nextVersion, withVersion } from './release-version.mjs'

const image = 'deploy/kubernetes/posthorn.yaml'
const chart = 'deploy/helm/posthorn/Chart.yaml'
const files = ['package.json', 'package-lock.json', 'CHANGELOG.md', image, chart]
const pathOf = (name) => join(projectRoot, name)

if (process.argv[1] === import.meta.filename) await runScript(release)

async function release() {
  const before = new Map(files.map((name) => [name, readFileSync(pathOf(name), 'utf8')]))
  const current = JSON.parse(before.get('package.json')).version
  const version = nextVersion(current, process.argv[2])
  await throwUnlessReleasable(version)
  const changelog = datedChangelog(before.get('CHANGELOG.md'), version, new Date())
  let isDone = false
  try {
    for (const name of ['package.json', 'package-lock.json']) {
      writeFileSync(pathOf(name), withVersion(before.get(name), current, version))
    }
    writeFileSync(pathOf('CHANGELOG.md'), changelog)
    writeFileSync(pathOf(image), before.get(image).replace(`posthorn:${current}`, `posthorn:${version}`))
    writeFileSync(pathOf(chart), before.get(chart).replaceAll(/(?<=ersion: )\d+\.\d+\.\d+$/gm, version))
    await buildAll()
    for (const script of [['check.mjs'], ['test.mjs', 'test/package/', 'test/deploy/', 'test/tidy/']])
      await runOrThrow(script)
    const path = await pack()
    isDone = true
    console.log(`\n${path} is version ${version}. To publish it:\n`)
    console.log(`  git commit -m "release: ${version}" ${files.join(' ')} && git tag v${version}`)
    console.log(`  git push origin HEAD v${version}      # CI publishes the tag with provenance: docs/package.md`)
  } finally {
    // A release that failed leaves the project as it was.
    if (!isDone) for (const [name, text] of before) writeFileSync(pathOf(name), text)
  }
}

async function throwUnlessReleasable(version) {
  const git = async (...args) => (await runQuietly('git', args, { cwd: projectRoot })).output.trim()
  if ((await git('status', '--porcelain')) !== '') {
    throw new SetupProblem('There are changes that are not committed: what is packed would be in no commit.')
  }
  if ((await git('tag', '--list', `v${version}`)) !== '') throw new SetupProblem(`The tag v${version} exists already.`)
}

async function runOrThrow([script, ...args]) {
  const code = await runToEnd(process.execPath, [join('scripts', script), ...args], { cwd: projectRoot })
  if (code !== 0) throw new SetupProblem(`${script} failed; no version was made.`)
}
