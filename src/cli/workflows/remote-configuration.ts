// The configuration of an environment, read from and written to a running service.

import type { Configuration, ConfigurationChange } from '../../domain/workflows/configuration.ts'
import { comparableSides } from '../../render/workflow-text/change-texts.ts'
import type { ApiClient, Query } from '../api-client.ts'
import { ApiError } from '../api-client.ts'
import { UsageError } from '../command.ts'
import type { PlannedChange } from './change-plan.ts'
import { plannedChange } from './change-plan.ts'

const path = '/v1/configuration'
/** For hundreds of workflows, each of which is a transaction. */
const applyWaitMs = 300_000

export interface Own {
  readonly _id: string
  readonly name: string
}

export const ownEnvironment = async (client: ApiClient): Promise<Own> =>
  (await client.call<Own>('GET', '/v1/environments/me?secrets=false')).body

export const exported = async (client: ApiClient, query: Query = {}): Promise<Configuration> =>
  (await client.call<Configuration>('GET', path, { query, waitMs: applyWaitMs })).body

export type GivenParts = Partial<Omit<Configuration, 'notes' | 'translations'>> & {
  readonly translations?: readonly (Configuration['translations'][number] & { readonly merge?: boolean })[]
  readonly deleteWorkflows?: boolean
}

export interface Planned {
  readonly changes: readonly PlannedChange[]
  readonly notes: readonly string[]
  apply(): Promise<void>
}

/** What would change. `files` says where a workflow comes from, for error messages. */
export async function planned(
  client: ApiClient,
  given: GivenParts,
  files: ReadonlyMap<string, string> = new Map(),
): Promise<Planned> {
  const send = async (dryRun: boolean) => {
    const call = { body: { ...given, dryRun }, waitMs: applyWaitMs }
    const { body } = await client
      .call<{ changes: ConfigurationChange[]; notes: string[] }>('POST', path, call)
      .catch((error: unknown) => {
        throw withFile(error, files)
      })
    return body
  }
  const { changes, notes } = await send(true)
  return {
    changes: changes.flatMap((change) => shownChange(change) ?? []),
    notes,
    apply: async () => void (await send(false)),
  }
}

function shownChange(change: ConfigurationChange): PlannedChange | undefined {
  const { before, after } = comparableSides(change)
  return plannedChange(`${change.kind} ${change.identifier}`, before, after)
}

/** The service names a workflow, its author knows the file. */
function withFile(error: unknown, files: ReadonlyMap<string, string>): unknown {
  if (!(error instanceof ApiError) || error.status !== 422) return error
  const { errors } = (error.body ?? {}) as { errors?: Record<string, { messages?: string[] }> }
  const [place, found] = Object.entries(errors ?? {})[0] ?? []
  const file = place?.startsWith('workflows.') === true ? files.get(place.slice('workflows.'.length)) : undefined
  if (file === undefined || found?.messages === undefined) return error
  return new UsageError(`${file}: ${found.messages.join('\n  ')}`)
}
