// Work that is interrupted when its time is over: a pattern, or a schema that doubles itself, may never end by itself.
import { createContext, Script } from 'node:vm'

const stage = createContext({ work: undefined as unknown })
const play = new Script('work()')

/** Of its time, work must have had this share of a processor: else others had it, and it begins again with more time. */
const shareMin = 0.5
/** On a machine that is busier nothing works. */
const shareLeast = 0.05
const attemptsMax = 3

/** The work may be started several times. Throws an error that `isOutOfTime` recognises. */
export function withinTime<Result>(timeoutMs: number, work: () => Result, cpuMs = processMs): Result {
  let limitMs = timeoutMs
  for (let attempt = 1; ; attempt += 1) {
    const begunMs = cpuMs()
    stage['work'] = work
    try {
      return play.runInContext(stage, { timeout: limitMs })
    } catch (error) {
      const share = (cpuMs() - begunMs) / limitMs
      if (!isOutOfTime(error) || share >= shareMin || attempt === attemptsMax) throw error
      limitMs = Math.ceil(timeoutMs / Math.max(share, shareLeast))
    } finally {
      stage['work'] = undefined
    }
  }
}

function processMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

export function isOutOfTime(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}
