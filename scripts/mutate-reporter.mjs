// Ends a process of scripts/mutate.mjs at its first failed test and names it: one is enough to find a mutant.
import { writeSync } from 'node:fs'

export default async function* firstFailure(events) {
  for await (const { type, data } of events) {
    if (
      type !== 'test:fail' ||
      (data.details?.type === 'suite' && data.details.error?.failureType === 'subtestsFailed')
    )
      continue
    if (process.env['MUTATE_GOES_ON'] === undefined) {
      writeSync(1, `${data.name}\n`)
      process.exit(3)
    }
    yield `${data.name}\n`
  }
}
