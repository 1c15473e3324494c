// SMS, push and chat accounts whose vendors are a script, and subscribers who can be reached by them.
import { generateKeyPairSync } from 'node:crypto'
import { sql } from '../../src/db/sql.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { OutboundAnswer } from '../../src/world/world.ts'
import type { Json } from './app.ts'
import type { FlowScene } from './flow-scene.ts'
import { fresh } from './flow-scene.ts'

/** What a vendor does when it is asked for someone: a status, a whole answer, or no answer at all. */
export type VendorDoes = number | { status: number; body?: object; headers?: Record<string, string> } | 'cut'

export interface AskedVendor {
  /** The account. */
  readonly host: string
  /** The number, the device token, or the address. */
  readonly to: string
  readonly body: Json
  readonly headers: Headers
  readonly atMs: number
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })

/** An answer of Firebase's that calls the device gone. */
export const deadDevice = {
  status: 404,
  body: {
    error: {
      message: 'Requested entity was not found.',
      details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: 'UNREGISTERED' }],
    },
  },
}

export class VendorScript {
  readonly asked: AskedVendor[] = []
  readonly #scene: FlowScene
  readonly #does = new Map<string, VendorDoes[]>()
  #integrations: string[] = []
  /** How many calls are under way, and the most that ever were, by host. */
  readonly underWay = new Map<string, number>()
  readonly mostAtOnce = new Map<string, number>()
  /** Called before each answer, for what happens meanwhile. */
  meanwhile: ((asked: AskedVendor) => Promise<void> | void) | undefined

  constructor(scene: FlowScene) {
    this.#scene = scene
    scene.app.world.onFetch = (request) => this.#answer(request)
  }

  /** What is done for one recipient, one call after the other; the last one from then on. */
  does(to: string, ...does: VendorDoes[]): void {
    this.#does.set(to, does)
  }

  /** Whom was asked for, in order. */
  recipients(): string[] {
    return this.asked.map((one) => one.to)
  }

  async #create(body: Json): Promise<Json> {
    const made = await this.#scene.expect(201, 'POST', '/v1/integrations', {
      name: body.providerId,
      identifier: fresh(body.providerId),
      active: true,
      ...body,
    })
    this.#integrations.push(made._id)
    return made
  }

  twilio(host: string, more: object = {}): Promise<Json> {
    const credentials = {
      accountSid: 'ACtest',
      token: 'secret',
      from: '+14155550100',
      baseUrl: `https://${host}.example.com`,
    }
    return this.#create({ providerId: 'twilio', channel: 'sms', credentials, ...more })
  }

  firebase(project: string): Promise<Json> {
    const account = {
      type: 'service_account',
      project_id: project,
      client_email: `sender@${project}.iam.gserviceaccount.com`,
      private_key: pem,
      private_key_id: 'key-1',
    }
    return this.#create({
      providerId: 'fcm',
      channel: 'push',
      credentials: { serviceAccount: JSON.stringify(account) },
    })
  }

  chat(providerId: string): Promise<Json> {
    return this.#create({ providerId, channel: 'chat', credentials: {} })
  }

  async remove(integration: Json): Promise<void> {
    await this.#scene.expect(200, 'DELETE', `/v1/integrations/${integration._id}`)
    this.#integrations = this.#integrations.filter((one) => one !== integration._id)
  }

  /** A new subscriber with an entry of this integration. */
  async person(...entries: readonly { integration: Json; credentials: object }[]): Promise<string> {
    const subscriberId = fresh('person')
    await this.#scene.expect(201, 'POST', '/v2/subscribers', { subscriberId, phone: '+4915100000' })
    for (const { integration, credentials } of entries) {
      await this.#scene.expect(200, 'PUT', `/v1/subscribers/${subscriberId}/credentials`, {
        providerId: integration.providerId,
        integrationIdentifier: integration.identifier,
        credentials,
      })
    }
    return subscriberId
  }

  /** Forgets all accounts and whatever was still to be sent: the next test has its own. */
  async clear(): Promise<void> {
    await this.#scene.rows(sql`update jobs set due_at = null where due_at is not null`)
    for (const _id of [...this.#integrations]) await this.remove({ _id })
    this.#does.clear()
    this.asked.length = 0
    this.mostAtOnce.clear()
    this.meanwhile = undefined
  }

  async #answer(request: Request): Promise<OutboundAnswer> {
    const url = new URL(request.url)
    const text = await request.text()
    if (url.hostname === 'oauth2.googleapis.com') return replyOf(200, { access_token: 'token', expires_in: 3_599 })
    const body = request.headers.get('content-type')?.includes('json')
      ? JSON.parse(text)
      : Object.fromEntries(new URLSearchParams(text))
    const host =
      url.hostname === 'fcm.googleapis.com' ? (url.pathname.split('/')[3] ?? '') : (url.hostname.split('.')[0] ?? '')
    const to = body.To ?? body.message?.token ?? request.url
    const asked = { host, to, body, headers: request.headers, atMs: this.#scene.app.world.now().getTime() }
    this.asked.push(asked)
    const count = (this.underWay.get(host) ?? 0) + 1
    this.underWay.set(host, count)
    this.mostAtOnce.set(host, Math.max(count, this.mostAtOnce.get(host) ?? 0))
    try {
      await this.meanwhile?.(asked)
    } finally {
      this.underWay.set(host, (this.underWay.get(host) ?? 1) - 1)
    }
    const script = this.#does.get(to) ?? this.#does.get(host) ?? ['ok']
    const does = script.length > 1 ? script.shift() : script[0]
    if (does === 'cut') throw new OutboundError('unsure', 'The connection was cut')
    if (typeof does === 'number') return replyOf(does, {})
    if (typeof does === 'object') return replyOf(does.status, does.body ?? {}, does.headers)
    return body.To === undefined
      ? replyOf(200, { name: `m-${this.asked.length}`, ok: true })
      : replyOf(201, { sid: `SM${this.asked.length}` })
  }
}

const replyOf = (status: number, body: object, headers: Record<string, string> = {}): OutboundAnswer => ({
  status,
  headers: new Headers(headers),
  body: JSON.stringify(body),
})
