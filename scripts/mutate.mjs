// npm run mutate: makes small mistakes in compiled files, one at a time, and sees whether a test that runs the place fails.
// Options: --seed N, --count N (mutants tried at most), --minutes N, and paths to mutate (the stages and the jobs' statements).
import './node-version.mjs'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { runScript, startChild, stopChild, unlessInterrupted, within } from './child.mjs'
import { ensureBuilt, ensureInstalled, ensureTestsCompiled, filesBelow, projectRoot } from './ensure.mjs'
import { mutantsOf } from './mutate-operators.mjs'
import { startCluster, stopCluster, testEnvironment } from './test-cluster.mjs'

const usualPaths = ['src/record', 'src/queue', 'src/deliver', 'src/accept', 'src/store/jobs']
/** Which tests are asked: those that drive the whole pipeline in process, and the units. Plans and sweeps take too long. */
const asked = /^(?:src\/(?:record|queue|deliver|accept|run)\/|test\/flow\/|test\/store\/(?!.*plans))/
const tooLong =
  /year|cancel-random|simulate|fan-out|retention|counts|capture|cancel-large|node-life|crash-loops|broadcast/
const processesAtOnce = 2
/** So much of the tests that run a place is asked, by what they took when they were measured. */
const askedMsMax = 30_000
const hangsMs = 120_000

await runScript(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '100' },
      minutes: { type: 'string', default: '15' },
    },
  })
  await ensureInstalled()
  await ensureBuilt()
  await ensureTestsCompiled()
  const folders = positionals.length === 0 ? usualPaths : positionals
  const cluster = startCluster()
  try {
    const address = await unlessInterrupted(cluster.ready)
    const coverage = await coverageOf(folders, address)
    const endsAt = Date.now() + Number(values.minutes) * 60_000
    const mutants = ofEachKind(shuffled(allMutants(folders), Number(values.seed))).slice(0, Number(values.count))
    const results = await tryAll(mutants, coverage, address, endsAt)
    report(results, allMutants(folders).length)
    return 0
  } finally {
    await stopCluster(cluster)
  }
})

/** Which test runs which part of the mutated files; measured once, since it takes minutes, and kept until a file changes. */
async function coverageOf(folders, address) {
  const kept = join(projectRoot, '.tests', 'mutate-coverage.json')
  const built = readFileSync(join(projectRoot, '.tests', '.built'), 'utf8')
  const key = `${built} ${folders.join(' ')}`
  if (existsSync(kept)) {
    const known = JSON.parse(readFileSync(kept, 'utf8'))
    if (known.key === key) return known.tests
  }
  const tests = ['src', 'test']
    .flatMap((folder) => filesBelow(join(projectRoot, '.tests', folder)).map((path) => `${folder}/${path}`))
    .filter((path) => path.endsWith('.test.js') && asked.test(path) && !tooLong.test(path))
  const groups = []
  for (let start = 0; start < tests.length; start += 12) groups.push(tests.slice(start, start + 12))
  const measured = {}
  await atOnce(groups, async (group, lane) => {
    const into = join(projectRoot, '.tests', `mutate-coverage-${lane}.json`)
    rmSync(into, { force: true })
    const result = await run('.tests', group, address, { folders: folders.map((one) => `/${one}`), into })
    if (existsSync(into)) Object.assign(measured, JSON.parse(readFileSync(into, 'utf8')))
    console.log(`measured ${Object.keys(measured).length} of ${tests.length} test files${result.output}`)
  })
  writeFileSync(kept, JSON.stringify({ key, tests: measured }))
  return measured
}

/** Runs test files of a compiled tree in one process: without coverage it ends at the first failure. */
async function run(tree, tests, address, coverage) {
  const files = tests.map((name) => ({ name, url: pathToFileURL(join(projectRoot, tree, name)).href }))
  const reporter = pathToFileURL(join(projectRoot, 'scripts', 'mutate-reporter.mjs')).href
  const child = startChild(
    process.execPath,
    [`--test-reporter=${reporter}`, '--test-timeout=60000', join(projectRoot, 'scripts', 'mutate-run.mjs')],
    {
      cwd: projectRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...testEnvironment(),
        POSTHORN_TEST_CLUSTER: address,
        MUTATE_RUN: JSON.stringify({ files, coverage }),
        ...(coverage === undefined ? {} : { MUTATE_GOES_ON: '1' }),
      },
    },
  )
  let output = ''
  for (const stream of [child.child.stdout, child.child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const isOver = await within(coverage === undefined ? hangsMs : 4 * hangsMs, child.ended)
  if (!isOver) await stopChild(child, 1_000)
  const { code } = await child.ended
  return { code: isOver ? code : 'hangs', output }
}

function allMutants(folders) {
  const listed = folders.flatMap((folder) =>
    folder.endsWith('.ts')
      ? [folder.replace(/\.ts$/, '.js')]
      : filesBelow(join(projectRoot, '.tests', folder)).map((path) => `${folder}/${path}`),
  )
  const paths = listed.filter((path) => path.endsWith('.js') && !path.endsWith('.test.js'))
  return paths.flatMap((path) => {
    const text = readFileSync(join(projectRoot, '.tests', path), 'utf8')
    return mutantsOf(text).map((mutant) => ({ ...mutant, path, line: lineAt(text, mutant.start) }))
  })
}

function lineAt(text, at) {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, text.indexOf('\n', at)).trim()
}

/** The tests that run a place, the quickest first, up to the time that is given to one mutant. */
function testsFor({ path, start }, coverage) {
  const found = Object.entries(coverage).flatMap(([name, { tookMs, ranges }]) =>
    runs(ranges[path] ?? [], start) ? [{ name, tookMs }] : [],
  )
  let sumMs = 0
  return found
    .sort((one, other) => one.tookMs - other.tookMs)
    .filter(({ tookMs }, index) => {
      sumMs += tookMs
      return index < 3 || sumMs <= askedMsMax
    })
    .map(({ name }) => name)
}

/** The innermost range decides. What is run as the file is loaded counts as run where anything of the file is. */
function runs(ranges, at) {
  let inner
  for (const range of ranges) {
    if (range[0] > at || range[1] <= at) continue
    if (inner === undefined || range[1] - range[0] <= inner[1] - inner[0]) inner = range
  }
  if (inner === undefined || inner[0] === 0) return ranges.some(([start, , count]) => start > 0 && count > 0)
  return inner[2] > 0
}

async function tryAll(mutants, coverage, address, endsAt) {
  const results = []
  const trees = Array.from({ length: processesAtOnce }, (_, lane) => `.tests-mutant-${lane}`)
  for (const tree of trees) {
    rmSync(join(projectRoot, tree), { recursive: true, force: true })
    execFileSync('cp', ['-a', join(projectRoot, '.tests'), join(projectRoot, tree)])
  }
  try {
    await atOnce(mutants, async (mutant, lane) => {
      if (Date.now() > endsAt) return
      const tests = testsFor(mutant, coverage)
      const result = tests.length === 0 ? { code: 'not run' } : await tryOne(mutant, trees[lane], tests, address)
      const fate = result.code === 0 ? 'survived' : result.code === 'not run' ? 'not run' : 'killed'
      results.push({ ...mutant, fate })
      const by = fate === 'killed' ? ` by ${result.code === 'hangs' ? 'hanging' : result.output.split('\n')[0]}` : ''
      console.log(
        `${fate}${by}\n  ${mutant.path} ${mutant.operator}: "${mutant.was}" → "${mutant.is}"\n  ${mutant.line}`,
      )
    })
  } finally {
    for (const tree of trees) rmSync(join(projectRoot, tree), { recursive: true, force: true })
  }
  return results
}

async function tryOne({ path, start, end, is }, tree, tests, address) {
  const file = join(projectRoot, tree, path)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.slice(0, start) + is + text.slice(end))
  try {
    return await run(tree, tests, address)
  } finally {
    writeFileSync(file, text)
  }
}

async function atOnce(items, work) {
  const left = [...items]
  const lane = async (_, number) => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item, number)
  }
  await Promise.all(Array.from({ length: processesAtOnce }, lane))
}

/** Fisher and Yates, by the generator of the tests. */
function shuffled(items, seed) {
  const list = [...items]
  let state = seed >>> 0
  const below = (bound) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound)
  }
  for (let at = list.length - 1; at > 0; at -= 1) {
    const other = below(at + 1)
    ;[list[at], list[other]] = [list[other], list[at]]
  }
  return list
}

/** One of each operator in turn: the few that take a guard out of a statement matter more than the many comparisons. */
function ofEachKind(mutants) {
  const kinds = new Map()
  for (const mutant of mutants) kinds.set(mutant.operator, [...(kinds.get(mutant.operator) ?? []), mutant])
  const lists = [...kinds.values()]
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}

function report(results, possible) {
  const count = (fate) => results.filter((one) => one.fate === fate).length
  console.log(
    `${results.length} of ${possible} mutants tried: ${count('killed')} killed, ${count('survived')} survived, ` +
      `${count('not run')} in places that no asked test runs`,
  )
  for (const { fate, path, operator, was, is, line } of results) {
    if (fate !== 'killed') console.log(`${fate}: ${path} ${operator} "${was}" → "${is}" in: ${line}`)
  }
}
