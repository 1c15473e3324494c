// A person of whom everything is kept that can be, and a search for what is left of them in every table.
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from './app.ts'
import { FlowScene } from './flow-scene.ts'
import { delay, digest, email, inApp } from './workflow-scene.ts'

/** Words that stand nowhere else. */
export const marker = {
  subscriberId: 'zoraida-1815',
  firstName: 'Zoraida',
  lastName: 'Quillfeather',
  email: 'zoraida.q@mailbox.example',
  phone: '+4930777111222',
  token: 'device-token-of-zoraida',
  secret: 'the-zebra-is-purple',
  file: 'A letter for Quillfeather',
} as const

export class PersonScene {
  readonly app: TestApp
  readonly flow: FlowScene
  readonly transactions: Record<string, string> = {}

  constructor(app: TestApp) {
    this.app = app
    this.flow = new FlowScene(app)
  }

  /** Others are notified of some of it too; their data must stay. */
  async live(): Promise<void> {
    const { flow } = this
    const { subscriberId, firstName, lastName, phone, token } = marker
    await flow.subscribers('bob')
    await flow.expect(201, 'POST', '/v2/subscribers', {
      ...{ subscriberId, firstName, lastName, phone, email: marker.email },
      data: { note: `${firstName} likes zebras` },
    })
    const credentials = { providerId: 'fcm', credentials: { deviceTokens: [token] } }
    await flow.expect(200, 'PUT', `/v1/subscribers/${subscriberId}/credentials`, credentials)
    await flow.topic('news', [subscriberId, 'bob'])
    const address = { channel: 'email', address: marker.email, reason: 'bounced', note: `${firstName} wrote` }
    await flow.expect(201, 'POST', '/v1/suppressions', address)
    await this.#tell()
    await this.#mention()
    await flow.work()
  }

  async #tell(): Promise<void> {
    const { flow, transactions } = this
    const { subscriberId, firstName, lastName } = marker
    const payload = { orderId: marker.secret }
    const both = await flow.workflow([inApp('Hello {{ subscriber.firstName }}: {{ payload.orderId }}'), email()])
    const attachments = [{ name: 'letter.txt', mime: 'text/plain', file: Buffer.from(marker.file).toString('base64') }]
    const alone = { payload: { ...payload, attachments }, transactionId: 'alone' }
    transactions['alone'] = await flow.trigger(both, subscriberId, alone)
    const given = { subscriberId, firstName, lastName }
    transactions['shared'] = await flow.trigger(both, [given, 'bob'], { payload: { orderId: 'for all' } })
    transactions['topic'] = await flow.trigger(
      both,
      { type: 'Topic', topicKey: 'news' },
      { payload: { orderId: 'news' } },
    )
    const gathering = await flow.workflow([digest(), inApp('{{ step.total_count }} things')])
    transactions['digest'] = await flow.trigger(gathering, subscriberId, { payload })
    const waiting = await flow.workflow([delay(), inApp('Later {{ payload.orderId }}')])
    transactions['delayed'] = await flow.trigger(waiting, subscriberId, { payload })
    const throttle = {
      template: { type: 'throttle' },
      metadata: { type: 'fixed', amount: 1, unit: 'hours', threshold: 1 },
    }
    const throttled = await flow.workflow([throttle, inApp('Rarely')])
    transactions['throttled'] = await flow.trigger(throttled, subscriberId, { payload })
  }

  /** Where the person is mentioned in what others are notified. */
  async #mention(): Promise<void> {
    const { flow, transactions } = this
    const { subscriberId, firstName } = marker
    const simple = await flow.workflow([inApp('Simple')])
    const topic = { type: 'Topic', topicKey: 'news', exclude: [subscriberId] }
    transactions['excluded'] = await flow.trigger(simple, topic)
    transactions['actor'] = await flow.trigger(simple, 'bob', { actor: { subscriberId, firstName } })
    const many = Array.from({ length: 120 }, (_, index) => `reader-${index}`)
    const channels = [{ providerId: 'fcm', integrationIdentifier: 'no-such', credentials: { deviceTokens: ['x'] } }]
    transactions['many'] = await flow.trigger(simple, [...many, { subscriberId, firstName, channels }])
  }

  /** Rows of every table that hold one of the words, as text or as the hex of bytes. */
  async traces(words: readonly string[] = Object.values(marker)): Promise<string[]> {
    const { db } = this.app.database
    const tables = await db.rows<{ name: string }>(sql`
      select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind = 'r' order by c.relname`)
    const patterns = words.flatMap((word) => [`%${word}%`, `%${Buffer.from(word).toString('hex')}%`])
    const found = await Promise.all(
      tables.map(({ name }) =>
        db.rows<{ text: string }>({
          text: `select t::text as text from ${name} t where t::text ilike any($1)`,
          values: [patterns],
        }),
      ),
    )
    return tables.flatMap(({ name }, index) => (found[index] ?? []).map(({ text }) => `${name}: ${text.slice(0, 300)}`))
  }

  async erasure(id: string): Promise<Json> {
    return this.flow.expect(200, 'GET', `/v1/erasures/${id}`)
  }
}
