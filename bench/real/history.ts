// History made by SQL before a service starts: so many notifications of the last weeks, on either side.
import type { Database } from '../../src/db/connect.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { fillHistory, hotPeople, ordinaryPeople } from '../activity-rows.ts'
import { settle } from '../rows.ts'

const dayMs = 24 * 3_600_000
/** Well within what is kept by default. */
const spanMs = 60 * dayMs

export async function fillPosthorn(db: Database, rows: number): Promise<void> {
  const environment = await db.row<Environment>(sql`
    select id, organization_id as "organizationId", name from environments where name = 'Development'`)
  if (environment === undefined) throw new Error('There is no environment Development')
  await fillHistory(db, environment, rows, { firstMs: Date.now() - spanMs - dayMs, spanMs })
}

/** The same people, the same share of in-app and e-mail, the same span of time. */
export async function fillHandMade(db: Database, rows: number): Promise<void> {
  const people = hotPeople + ordinaryPeople(rows)
  await db.run(sql`
    insert into subscribers (subscriber_id, first_name, email)
    select 'user-' || n, 'Name' || n, 'person-' || n || '@example.com' from generate_series(0, ${people - 1}::int) n`)
  await db.run(sql`
    insert into notifications (id, subscriber_id, workflow, payload, status, created_at, updated_at)
    select uuidv7(at - now()),
      'user-' || case when n % 2 = 0 then n / 2 % ${hotPeople}::int
        else ${hotPeople}::int + n / 2 % ${ordinaryPeople(rows)}::int end,
      'workflow-' || n % 20, jsonb_build_object('order', n, 'total', '19.90'), 'sent', at, at
    from generate_series(0, ${rows - 1}::bigint) n
    cross join lateral (
      select now() - make_interval(secs => ${(spanMs + dayMs) / 1000}::float8 - n * ${spanMs / 1000 / rows}::float8)) t (at)`)
  await db.run(sql`
    insert into messages (notification_id, subscriber_id, channel, subject, content, created_at)
    select id, subscriber_id, case when (payload ->> 'order')::bigint % 2 = 0 then 'in_app' else 'email' end, 'Your order',
      'Order ' || (payload ->> 'order') || ' is on its way.', created_at
    from notifications`)
  await settle(db)
}
