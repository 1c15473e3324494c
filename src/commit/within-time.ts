// Work that is ended where it stands when its time is over: a pattern, or a schema that doubles itself, need never end on its own.
import { createContext, Script } from 'node:vm'

const stage = createContext({ work: undefined as unknown })
const play = new Script('work()')

/** Of its time, work must have had this share of a processor: else others had it, and it begins again. */
const shareMin = 0.5
const attemptsMax = 10

/** The work may be begun several times. Throws what `isOutOfTime` knows. */
export function withinTime<Result>(timeoutMs: number, work: () => Result): Result {
  for (let attempt = 1; ; attempt += 1) {
    const began = process.cpuUsage()
    stage['work'] = work
    try {
      return play.runInContext(stage, { timeout: timeoutMs })
    } catch (error) {
      const { user, system } = process.cpuUsage(began)
      const isShort = (user + system) / 1_000 < shareMin * timeoutMs
      if (!isOutOfTime(error) || !isShort || attempt === attemptsMax) throw error
    } finally {
      stage['work'] = undefined
    }
  }
}

export function isOutOfTime(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}
