// Jobs that fail by a fault of ours: tried again for an hour, then buried; and those that end their process, found by running alone.
import { isInfrastructureError } from '../db/failure.ts'
import type { Db } from '../db/sql.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { afterFault } from '../queue/fault-policy.ts'
import type { Queue } from '../queue/queue.ts'
import { soloDeathsMax } from '../queue/suspicion.ts'
import { buryJobs } from '../record/recovery/bury.ts'
import { postponeFaulty } from '../store/jobs/settle.ts'
import type { World } from '../world/world.ts'
import type { Versions } from './cache/versions.ts'
import { laterSteps } from './decide/settle-decision.ts'

export interface JobFaults {
  /** One that threw while it ran alone. Throws only if the database does not respond. */
  putAside(environment: Environment, job: Job, error: unknown): Promise<void>
  /** Those whose process crashed each time they ran alone. */
  buryPoisonous(environment: Environment, jobs: readonly Job[]): Promise<void>
}

export interface FaultParts {
  readonly db: Db
  readonly world: World
  readonly queue: Queue
  readonly versions: Versions
}

export function createJobFaults({ db, world, queue, versions }: FaultParts): JobFaults {
  async function bury(environment: Environment, jobs: readonly Job[], words: string): Promise<void> {
    const known = await versions.of(
      db,
      environment,
      jobs.map((job) => job.versionId),
    )
    const burials = jobs.map((job) => {
      const version = known.get(job.versionId)
      return { job, words, laterSteps: version === undefined ? [] : laterSteps({ job, version }) }
    })
    await buryJobs(db, world, environment, queue, burials)
  }

  return {
    putAside: async (environment, job, error) => {
      // Errors of connections, timeouts and disks speak against no job.
      if (isInfrastructureError(error)) throw error
      const fate = afterFault(job, world.now())
      const words = error instanceof Error ? error.message : String(error)
      if (fate.kind === 'bury') await bury(environment, [job], words)
      else await postponeFaulty(db, environment, job, { waitMs: fate.waitMs, clock: queue.clock })
      world.log.error(
        { err: error, jobId: job.id, faults: job.faults + 1, fate },
        'A job failed because of an internal error',
      )
    },
    buryPoisonous: async (environment, jobs) => {
      await bury(environment, jobs, `The process crashed ${soloDeathsMax} times while it ran only this step`)
      const jobIds = jobs.map((job) => job.id)
      world.log.error({ jobIds }, 'Jobs were buried: each repeatedly crashed its process')
    },
  }
}
