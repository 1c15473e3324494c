// Writes configuration to an environment: what is there and the same stays as it is.
import { isDeepStrictEqual } from 'node:util'
import type { Target, Thing, Written } from './target.ts'
import { allOf, has, numberedItems, orLeft, sumOf, unchanged } from './target.ts'

const encoded = (text: unknown): string => encodeURIComponent(String(text))

/** Their providers by their identifiers; those that are written join them. */
export const integrationsOf = (target: Target): Promise<Map<string, unknown>> =>
  target.once('integrations', async () => {
    const all = await target.read<{ identifier: string; providerId: string }[]>('/v1/integrations')
    return new Map(all.map((one): [string, unknown] => [one.identifier, one.providerId]))
  })

/** One that is there is not touched: its credentials may be newer. */
export async function writeIntegration(target: Target, given: Thing): Promise<Written> {
  const { identifier, primary, ...body } = given
  const known = await integrationsOf(target)
  if (known.has(String(identifier))) return unchanged
  const named = { kind: 'integration', id: String(identifier) }
  const done = await orLeft(named, async () => {
    const { active = false } = given
    const made = await target.send<{ _id: string }>('POST', '/v1/integrations', { ...body, identifier, active })
    known.set(String(identifier), given['providerId'])
    if (primary === true) await target.send('POST', `/v1/integrations/${made._id}/set-primary`)
    const reason = 'Created without its secrets, and inactive: set them, and activate it.'
    return { changed: 1, left: given['active'] === undefined ? [{ ...named, reason }] : [] }
  })
  if (done.refused === undefined) return done
  return { ...done, left: done.left.map((one) => ({ ...one, reason: `${given['providerId']}: ${one.reason}` })) }
}

/** Feeds, layouts, translations and workflows, as POST /v1/configuration takes them. */
export function writeConfiguration(
  target: Target,
  parts: Readonly<Record<string, readonly Thing[]>>,
  named: { readonly kind: string; readonly id: string },
): Promise<Written> {
  return orLeft(named, async () => {
    const { changes } = await target.send<{ changes: readonly unknown[] }>('POST', '/v1/configuration', parts)
    return changes.length > 0
  })
}

/** In the form of API v2. What the service does not know is left out, and reported. */
export function writeWorkflow(target: Target, given: Thing): Promise<Written> {
  const { workflowId: id, ...body } = given
  const named = { kind: 'workflow', id: String(id) }
  return orLeft(named, async () => {
    const path = `/v2/workflows/${encoded(id)}`
    const before = await target.find<Thing>(path)
    const { body: after, warnings } =
      before === undefined
        ? await target.sendWarned<Thing>('POST', '/v2/workflows', given)
        : await target.sendWarned<Thing>('PUT', path, { preferences: { user: null }, ...body })
    const isSame = before !== undefined && after['updatedAt'] === before['updatedAt']
    return { changed: isSame ? 0 : 1, left: warnings.map((reason) => ({ ...named, reason })) }
  })
}

/** The own texts of workflows and layouts in a locale. */
export function writeOwnTexts(target: Target, locale: string, masterJson: Thing): Promise<Written> {
  const named = { kind: 'translation', id: locale }
  const path = '/v2/translations/master-json'
  return orLeft(named, async () => {
    const before = await target.find<Thing>(path, { locale })
    const { failed } = await target.send<{ failed: string[] }>('POST', path, { locale, masterJson })
    const after = await target.find<Thing>(path, { locale })
    return {
      changed: isDeepStrictEqual(before, after) ? 0 : 1,
      left: failed.map((one) => ({ ...named, reason: `${one} was not imported: it is not here.` })),
    }
  })
}

/** A secret one has no value in a file. */
export function writeVariable(target: Target, { key, isSecret, value }: Thing): Promise<Written> {
  const named = { kind: 'variable', id: String(key) }
  return orLeft(named, async () => {
    const path = `/v1/environment-variables/${encoded(key)}`
    const before = await target.find<{ isSecret: boolean; values: readonly { value: string }[] }>(path)
    const values = value === undefined ? {} : { values: [{ _environmentId: target.environmentId, value }] }
    if (before === undefined) await target.send('POST', '/v1/environment-variables', { key, isSecret, ...values })
    else if (isSecret === true || (!before.isSecret && before.values[0]?.value === value)) return false
    else await target.send('PATCH', path, { isSecret, ...values })
    const reason = 'Created without its value, which is secret: set it.'
    return { changed: 1, left: isSecret === true ? [{ ...named, reason }] : [] }
  })
}

/** A group, and the workflows in it. */
export function writeGroup(target: Target, { name, workflows }: Thing): Promise<Written> {
  const named = { kind: 'group', id: String(name) }
  return orLeft(named, async () => {
    const groups = await target.once('groups', async () => {
      const found = new Map<unknown, unknown>()
      for await (const one of numberedItems(target.read, '/v1/notification-groups')) found.set(one['name'], one['_id'])
      return found
    })
    const isThere = groups.has(name)
    if (!isThere) groups.set(name, (await target.send<Thing>('POST', '/v1/notification-groups', { name }))['_id'])
    const moves: Written[] = []
    for (const workflowId of workflows as readonly string[]) {
      const move = orLeft({ kind: 'workflow', id: workflowId }, async () => {
        const path = `/v1/workflows/${encoded(workflowId)}`
        const { _notificationGroupId: before } = await target.read<Thing>(path)
        if (before === groups.get(name)) return false
        await target.send('PATCH', path, { notificationGroupId: groups.get(name) })
        return true
      })
      moves.push(await move)
    }
    const { changed, left } = sumOf(moves)
    return { changed: !isThere || changed > 0 ? 1 : 0, left }
  })
}

export function writeOverride(target: Target, { workflowId, tenantId, ...settings }: Thing): Promise<Written> {
  return orLeft({ kind: 'override', id: `${workflowId} ${tenantId}` }, async () => {
    const path = `/v1/workflow-overrides/workflows/${encoded(workflowId)}/tenants/${encoded(tenantId)}`
    const before = await target.find<Thing>(path)
    if (before === undefined) await target.send('POST', '/v1/workflow-overrides', { workflowId, tenantId, ...settings })
    else if (has(before, settings)) return false
    else await target.send('PUT', path, settings)
    return true
  })
}

/** By its URL: the name of an endpoint is generated. */
export function writeEndpoint(target: Target, { enabled, ...given }: Thing): Promise<Written> {
  const named = { kind: 'endpoint', id: originOf(given['url']) }
  return orLeft(named, async () => {
    const all = await target.once('endpoints', () => allOf(target.read, '/v1/webhook-endpoints'))
    const before = all.find(({ url }) => url === given['url'])
    if (before !== undefined) {
      const isEnabled = before['state'] !== 'disabled'
      if (has(before, given) && isEnabled === enabled) return false
      await target.send('PATCH', `/v1/webhook-endpoints/${before['_id']}`, { ...given, enabled })
      return true
    }
    const made = await target.send<Thing>('POST', '/v1/webhook-endpoints', given)
    all.push(made)
    if (enabled === false) await target.send('PATCH', `/v1/webhook-endpoints/${made['_id']}`, { enabled })
    const reason = 'Created with a new secret: rotate it to see one, and give that to the receiver.'
    return { changed: 1, left: [{ ...named, reason }] }
  })
}

/** A path or a query may hold a token. */
function originOf(url: unknown): string {
  return URL.canParse(String(url)) ? new URL(String(url)).origin : String(url)
}

export function writeSettings(target: Target, { configurations }: Thing): Promise<Written> {
  return orLeft({ kind: 'settings', id: 'environment' }, async () => {
    const path = '/v1/environments/me'
    const before = await target.read<Thing>(path, { secrets: 'false' })
    if (has(before['configurations'] as Thing, configurations as Thing)) return false
    await target.send('PATCH', path, { configurations })
    return true
  })
}
