// docs/reliability.md, from the results.
import type { Run } from './results.ts'

export async function writeReport(_runs: readonly Run[], _allBuilds: boolean): Promise<string> {
  return 'not yet'
}
