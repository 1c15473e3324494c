// Webhook endpoints, and the log of what was sent to each.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { DeliveryStatus } from '../../domain/webhooks/webhook-delivery.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.ts'
import type { DeliveryRow } from '../../store/webhooks/webhook-deliveries.ts'
import { deliveryColumns } from '../../store/webhooks/webhook-deliveries.ts'
import type { EndpointRow } from '../../store/webhooks/webhook-endpoints.ts'
import { endpointColumns, endpointOf } from '../../store/webhooks/webhook-endpoints.ts'
import type { CursorPage, CursorQuery, List } from '../page/keyset-page.ts'
import { keysetPage } from '../page/keyset-page.ts'

export async function endpointsPage(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  query: CursorQuery,
): Promise<CursorPage<WebhookEndpoint>> {
  const list: List<EndpointRow> = {
    columns: endpointColumns,
    from: sql`from webhook_endpoints w`,
    where: [sql`w.environment_id = ${environment.id}`, sql`w.deleted_at is null`],
    id: sql`w.id`,
    orders: { _id: { column: sql`w.id`, cast: 'uuid' } },
    cursorOf: (row) => ({ value: row.id, id: row.id }),
  }
  const page = await keysetPage(db, list, query)
  return { ...page, data: page.data.map((row) => endpointOf(sealer, environment, row)) }
}

export async function deliveriesPage(
  db: Sql,
  environment: Environment,
  { endpointId, status, ...query }: CursorQuery & { endpointId: string; status?: DeliveryStatus | undefined },
): Promise<CursorPage<DeliveryRow>> {
  const list: List<DeliveryRow> = {
    columns: deliveryColumns,
    weight: sql`length(d.body::text)`,
    from: sql`from webhook_deliveries d`,
    where: [
      sql`d.environment_id = ${environment.id}`,
      sql`d.endpoint_id = ${endpointId}`,
      ...(status === undefined ? [] : [sql`d.status = ${status}`]),
    ],
    id: sql`d.id`,
    orders: { _id: { column: sql`d.id`, cast: 'uuid' } },
    cursorOf: (row) => ({ value: row.id, id: row.id }),
  }
  return keysetPage(db, list, query)
}
