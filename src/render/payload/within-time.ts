// Work that is interrupted when its time is over: a pattern, or a schema that doubles itself, may never end by itself.
import { createContext, Script } from 'node:vm'

const stage = createContext({ work: undefined as unknown })
const play = new Script('work()')

/** Of its time, work must have had this share of a processor: else others had it, and it begins again with more time. */
const shareMin = 0.5
/** On a machine that is busier nothing works. */
const shareLeast = 0.05
const attemptsMax = 3

/**
 * The work may be started several times: together they may take `totalMs`, should the processor be free again. Throws an
 * error that `isOutOfTime` recognises.
 */
export function withinTime<Result>(
  timeoutMs: number,
  work: () => Result,
  cpuMs = processMs,
  totalMs = Number.POSITIVE_INFINITY,
): Result {
  let limitMs = timeoutMs
  let leftMs = totalMs
  for (let attempt = 1; ; attempt += 1) {
    const begunMs = cpuMs()
    stage['work'] = work
    try {
      return play.runInContext(stage, { timeout: limitMs })
    } catch (error) {
      const spentMs = cpuMs() - begunMs
      const share = spentMs / limitMs
      leftMs -= spentMs
      if (!isOutOfTime(error) || share >= shareMin || attempt === attemptsMax || leftMs < 1) throw error
      limitMs = Math.ceil(Math.min(timeoutMs / Math.max(share, shareLeast), leftMs))
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
