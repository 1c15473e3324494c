// One process of scripts/mutate.mjs: runs test files and, where asked, notes after each which code it ran. Ends at the first failure.
import { AsyncResource } from 'node:async_hooks'
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { after, before, describe } from 'node:test'

const { files, coverage } = JSON.parse(process.env['MUTATE_RUN'])
const session = coverage === undefined ? undefined : new Session()
const covered = {}
if (session !== undefined) {
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
}

/** The ranges that were run since the last look, of files in the folders that are mutated. */
async function take(name, tookMs) {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const scripts = result.filter(({ url }) => coverage.folders.some((folder) => url.includes(folder)))
  const ranges = scripts.map(({ url, functions }) => [
    url.replace(/^.*\/\.tests[^/]*\//, ''),
    functions.flatMap((one) => one.ranges.map(({ startOffset, endOffset, count }) => [startOffset, endOffset, count])),
  ])
  covered[name] = { tookMs, ranges: Object.fromEntries(ranges) }
}

const outside = new AsyncResource('mutate')
for (const { name, url } of files) {
  let imported
  outside.runInAsyncScope(() =>
    describe(name, () => {
      let startedAt
      before(async () => {
        startedAt = performance.now()
        if (session !== undefined) await session.post('Profiler.takePreciseCoverage')
      })
      imported = import(url)
      if (session !== undefined) after(() => take(name, performance.now() - startedAt))
      return imported
    }),
  )
  await imported
}
if (session !== undefined) process.on('exit', () => writeFileSync(coverage.into, JSON.stringify(covered)))
