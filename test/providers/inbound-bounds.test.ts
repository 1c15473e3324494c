// Calls from outside that were made to be costly: read within bounds, or not at all, before anything is believed.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { mailgun } from '../../src/providers/email/mailgun.ts'
import { mandrill } from '../../src/providers/email/mandrill.ts'
import { postmark } from '../../src/providers/email/postmark.ts'
import { ses } from '../../src/providers/email/ses.ts'
import { isBelieved, receiptsIn } from '../../src/providers/inbound/inbound.ts'
import { formFieldsOf } from '../../src/providers/inbound/inbound-body.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { pusherBeams } from '../../src/providers/push/pusher-beams.ts'
import { nexmo } from '../../src/providers/sms/nexmo.ts'
import { twilio } from '../../src/providers/sms/twilio.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { inboundCallOf } from '../support/provider-contract.ts'
import { cpuMsOf, cpuMsUntil } from '../support/turn-cpu.ts'

/** A hundred times what it takes. */
const soonMs = 1_000
const megabytes = 20 * 1024 * 1024
const costly = {
  'a list of nothings': `[${'{},'.repeat(megabytes / 3 - 1)}1]`,
  'digits before a point': `[${'1'.repeat(megabytes)}.`,
  'a form of nothings': 'a&'.repeat(megabytes / 2),
}

async function askedAll({ receipts, replies }: Provider, body: string, type: string): Promise<boolean[]> {
  const proof = { key: 'a-key', account: { token: 'a-token' }, world: createFakeWorld() }
  const call = inboundCallOf({ body, headers: { 'content-type': type } })
  const asked: boolean[] = []
  await receipts?.greet?.(call, proof as never)
  for (const reader of [receipts, replies]) if (reader !== undefined) asked.push(await isBelieved(reader, call, proof))
  return asked
}

describe('Costly calls', () => {
  for (const provider of [mailgun, mandrill, ses, nexmo, twilio]) {
    for (const [name, body] of Object.entries(costly)) {
      it(`${provider.id} does not believe ${name}, and says so soon`, async () => {
        const tookMs = await cpuMsUntil(async () => {
          for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
            assert.ok((await askedAll(provider, body, type)).every((one) => !one))
          }
        })
        assert.ok(tookMs < soonMs, `${tookMs} ms`)
      })
    }
  }

  it('a form of as many fields as vendors send is read whole', () => {
    const text = Array.from({ length: 1_000 }, (_none, index) => `f${index}=v`).join('&')
    assert.equal([...formFieldsOf({ body: Buffer.from(text) })].length, 1_000)
    assert.equal([...formFieldsOf({ body: Buffer.from(`${text}&more=v`) })].length, 0)
  })

  it('a report keeps no more of its texts than a row should hold', () => {
    const long = 'x'.repeat(1_000_000)
    const [receipt] = receiptsIn(
      postmark,
      inboundCallOf({ body: { RecordType: 'Delivery', MessageID: long, Recipient: long, Details: long } }),
    )
    assert.deepEqual(
      [receipt?.providerMessageId?.length, receipt?.address?.length, receipt?.words?.length],
      [1_000, 1_000, 4_000],
    )
  })

  it('an event that names many people is not copied for each of them', () => {
    const users = Array.from({ length: 20_000 }, (_none, index) => `user-${index}`)
    const event = {
      metadata: { event_type: 'v1.PublishToUsersAttempt' },
      payload: { publish_id: 'pub-1', users_delivered_to_gateway: users },
    }
    let receipts: ReturnType<typeof receiptsIn> = []
    const tookMs = cpuMsOf(() => {
      receipts = receiptsIn(pusherBeams, inboundCallOf({ body: event }))
    })
    assert.ok(tookMs < soonMs, `${tookMs} ms`)
    assert.deepEqual([receipts.length, receipts.at(-1)?.address], [20_000, 'user-19999'])
    assert.ok(receipts.every(({ row }) => JSON.stringify(row).length <= 40_000))
  })

  it('Mandrill’s signature still counts for what it sends', async () => {
    const body = `mandrill_events=${encodeURIComponent('[{"event":"open","_id":"1"}]')}`
    const call = inboundCallOf({ body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
    const signed = `${call.url}mandrill_events[{"event":"open","_id":"1"}]`
    const signature = createHmac('sha1', 'a-key').update(signed).digest('base64')
    const world = createFakeWorld()
    assert.ok(mandrill.receipts)
    const signedCall = { ...call, headers: { ...call.headers, 'x-mandrill-signature': signature } }
    assert.equal(await isBelieved(mandrill.receipts, signedCall, { key: 'a-key', account: {}, world }), true)
  })
})
