// The hand-made service's tables and statements: every statement prepared, bulks in one statement, an index for each page.

const schema = `
  create table if not exists subscribers (
    subscriber_id text primary key, first_name text, email text, data jsonb not null default '{}');
  create table if not exists notifications (
    id uuid primary key, subscriber_id text not null, workflow text not null, payload jsonb not null, status text not null,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now()) with (fillfactor = 80);
  create index if not exists notifications_newest on notifications (created_at desc);
  create table if not exists messages (
    id uuid primary key default uuidv7(), notification_id uuid not null, subscriber_id text not null,
    channel text not null, subject text, content text not null, seen boolean not null default false,
    read boolean not null default false, created_at timestamptz not null default now());
  create index if not exists messages_feed on messages (subscriber_id, created_at desc) where channel = 'in_app';
  create index if not exists messages_by_notification on messages (notification_id)`

const addNotifications = {
  name: 'add-notifications',
  text: `insert into notifications (id, subscriber_id, workflow, payload, status)
    select id, subscriber_id, workflow, payload::jsonb, 'pending'
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as n (id, subscriber_id, workflow, payload)`,
}
/** A subscriber given inline is written only where something differs. */
const addWithPeople = {
  name: 'add-with-people',
  text: `with people as (
      insert into subscribers (subscriber_id, first_name, email, data)
      select subscriber_id, first_name, email, data::jsonb
      from unnest($5::text[], $6::text[], $7::text[], $8::text[]) as p (subscriber_id, first_name, email, data)
      on conflict (subscriber_id) do update
        set first_name = excluded.first_name, email = excluded.email, data = excluded.data
        where (subscribers.first_name, subscribers.email, subscribers.data)
          is distinct from (excluded.first_name, excluded.email, excluded.data))
    ${addNotifications.text}`,
}
const findSubscriber = {
  name: 'find-subscriber',
  text: 'select subscriber_id as "subscriberId", first_name as "firstName", email, data from subscribers where subscriber_id = $1',
}
const addInApp = {
  name: 'add-in-app',
  text: "insert into messages (notification_id, subscriber_id, channel, content) values ($1, $2, 'in_app', $3)",
}
const finish = {
  name: 'finish',
  text: `with mail as (
      insert into messages (notification_id, subscriber_id, channel, subject, content) values ($1, $2, 'email', $3, $4))
    update notifications set status = 'sent', updated_at = now() where id = $1`,
}
const feedPage = {
  name: 'feed-page',
  text: `select m.id, m.content, m.seen, m.read, m.created_at as "createdAt", n.workflow, n.payload, n.id as "notificationId"
    from messages m join notifications n on n.id = m.notification_id
    where m.subscriber_id = $1 and m.channel = 'in_app' order by m.created_at desc offset $2 limit $3`,
}
const feedCount = {
  name: 'feed-count',
  text: "select count(*)::int as count from messages where subscriber_id = $1 and channel = 'in_app'",
}
const activityPage = {
  name: 'activity-page',
  text: `select n.id, n.workflow, n.status, n.payload, n.created_at as "createdAt", n.updated_at as "updatedAt",
      jsonb_build_object('subscriberId', s.subscriber_id, 'firstName', s.first_name, 'email', s.email) as subscriber, m.steps
    from (select * from notifications order by created_at desc offset $1 limit $2) n
    left join subscribers s on s.subscriber_id = n.subscriber_id
    left join lateral (
      select jsonb_agg(jsonb_build_object('id', m.id, 'channel', m.channel, 'createdAt', m.created_at)) as steps
      from messages m where m.notification_id = n.id) m on true
    order by n.created_at desc`,
}

export async function createStore(pool) {
  await pool.query(schema)
  const run = (statement, values) => pool.query({ ...statement, values })
  const pageOf = (rows, page, limit) => ({
    data: rows.slice(0, limit),
    hasMore: rows.length > limit,
    pageSize: limit,
    page,
  })
  return {
    addNotifications: (rows) => {
      const values = [
        rows.map((row) => row.id),
        rows.map((row) => row.to.subscriberId),
        rows.map((row) => row.workflow),
        rows.map((row) => JSON.stringify(row.payload)),
      ]
      const people = peopleOf(rows)
      if (people.length === 0) return run(addNotifications, values)
      return run(addWithPeople, [
        ...values,
        people.map((to) => to.subscriberId),
        people.map((to) => to.firstName),
        people.map((to) => to.email),
        people.map((to) => JSON.stringify(to.data ?? {})),
      ])
    },
    subscriber: async (id) => (await run(findSubscriber, [id])).rows[0],
    addInApp: (id, subscriberId, content) => run(addInApp, [id, subscriberId, content]),
    finish: (id, subscriberId, { subject, html }) => run(finish, [id, subscriberId, subject, html]),
    feed: async (subscriberId, page, limit) => {
      const [found, counted] = await Promise.all([
        run(feedPage, [subscriberId, page * limit, limit + 1]),
        run(feedCount, [subscriberId]),
      ])
      return { ...pageOf(found.rows, page, limit), totalCount: counted.rows[0].count }
    },
    activity: async (page, limit) => pageOf((await run(activityPage, [page * limit, limit + 1])).rows, page, limit),
    close: () => pool.end(),
  }
}

/** Each once, and in one order for all: two bulks that name the same people must not wait for each other in a circle. */
function peopleOf(rows) {
  const people = new Map()
  for (const { to } of rows) if (to.email !== undefined) people.set(to.subscriberId, to)
  return [...people.values()].sort((a, b) => (a.subscriberId < b.subscriberId ? -1 : 1))
}
