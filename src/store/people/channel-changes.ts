// Which integration each channel entry of a call belongs to, for calls of manage and of accept.

import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { platformWord } from '../../domain/delivery/vendor.ts'
import type { Environment } from '../../domain/environment.ts'
import type { ChannelCredentials } from '../../domain/people/channel-settings.ts'
import { notFound, Problem } from '../../domain/problem.ts'
import type { ChannelChange } from './subscriber-channels.ts'

export interface ChannelInput {
  readonly providerId: string
  readonly integrationIdentifier?: string
  readonly credentials: ChannelCredentials
}

type Resolved = Omit<ChannelChange, 'subscriberId'>

/** For each list of inputs its changes, or the Problem of the first input that names an unknown integration. */
export async function channelChanges(
  db: Sql,
  environment: Environment,
  lists: readonly (readonly ChannelInput[])[],
): Promise<(Resolved[] | Problem)[]> {
  const providerIds = [...new Set(lists.flat().map((input) => platformWord(input.providerId)))]
  if (providerIds.length === 0) return lists.map(() => [])
  const integrations = await db.rows<{ id: string; identifier: string; providerId: string; active: boolean }>(sql`
    select id, identifier, provider_id as "providerId", active from integrations
    where environment_id = ${environment.id} and provider_id = any(${providerIds}::text[]) and deleted_at is null
    order by id desc`)
  const resolve = (input: ChannelInput): Resolved | Problem => {
    const providerId = platformWord(input.providerId)
    const ofProvider = integrations.filter((integration) => integration.providerId === providerId)
    const { integrationIdentifier: identifier, credentials } = input
    if (identifier === undefined) {
      // The newest, an active one first; without any, the credentials are stored for the first one to come.
      const integration = ofProvider.find((candidate) => candidate.active) ?? ofProvider[0]
      return { providerId, integrationId: integration?.id ?? null, credentials }
    }
    const named = ofProvider.find((candidate) => candidate.identifier === identifier)
    return named === undefined
      ? notFound(`There is no ${providerId} integration with the identifier "${identifier}"`)
      : { providerId, integrationId: named.id, credentials }
  }
  return lists.map((inputs) => {
    const changes: Resolved[] = []
    for (const input of inputs) {
      const change = resolve(input)
      if (change instanceof Problem) return change
      changes.push(change)
    }
    return changes
  })
}
