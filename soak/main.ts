// npm run soak: every scene, or those that are named; results, a table, and exit code 1 when anything was lost.
import { readOptions, UsageProblem, usage } from './options.ts'
import { writeReport } from './report.ts'
import { describeRun, readRuns, type SceneResult, writeRun } from './results.ts'
import { runScene } from './run.ts'
import type { Scene } from './scene.ts'
import { scenes } from './scenes/all.ts'
import { passed, tellResult } from './table.ts'

const say = (text: string): boolean => process.stdout.write(text)

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2))
  if (options.list) {
    for (const { name, what, unavailable } of scenes) say(`${name.padEnd(26)} ${what} ${unavailable?.() ?? ''}\n`)
    return 0
  }
  if (options.report) {
    say(`${await writeReport(await readRuns(options.results), options.allBuilds)}\n`)
    return 0
  }
  const chosen = chooseScenes(options.scenes)
  say(`seed ${options.seed}\n`)
  const results: SceneResult[] = []
  for (const scene of chosen) {
    say(`${scene.name}: ${scene.what}\n`)
    const result = await runScene(scene, options)
    results.push(result)
    say(tellResult(result))
    // After every scene, so that a run that is broken off has not been for nothing.
    const build = results.find((one) => one.build !== '')?.build ?? ''
    await writeRun(options.results, describeRun(options.seed, build, results))
  }
  const failed = results.filter((result) => !passed(result))
  say(
    failed.length === 0
      ? `\npassed; seed ${options.seed}\n`
      : `\nFAILED: ${failed.map(({ scene }) => scene).join(', ')}; seed ${options.seed}\n`,
  )
  return failed.length === 0 ? 0 : 1
}

function chooseScenes(names: readonly string[]): readonly Scene[] {
  if (names.length === 0) return scenes
  return names.map((name) => {
    const found = scenes.find((scene) => scene.name === name)
    if (found === undefined) throw new UsageProblem(`There is no scene ${name}; --list names them`)
    return found
  })
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageProblem)) throw error
  process.stderr.write(`${error.message}\n\n${usage}\n`)
  process.exitCode = 1
}
