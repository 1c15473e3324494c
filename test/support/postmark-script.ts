// A Postmark account whose vendor is a script: what it was sent, single or many at once, and the calls it makes to us.
import assert from 'node:assert/strict'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { OutboundAnswer } from '../../src/world/world.ts'
import type { Json, TestReply } from './app.ts'
import { type FlowScene, fresh } from './flow-scene.ts'

export const webhookKey = 'key-of-the-webhook'

export interface PostmarkCall {
  readonly path: string
  readonly mails: readonly Json[]
}

export class PostmarkScript {
  readonly calls: PostmarkCall[] = []
  /** What the account answers: a message each by default. */
  answer: ((call: PostmarkCall) => Json | 'cut') | undefined
  /** Other addresses than Postmark's: what they are asked, and how they answer. */
  elsewhere: ((request: Request) => Promise<OutboundAnswer>) | undefined
  /** Called before each answer, for what happens meanwhile. */
  meanwhile: (() => Promise<void>) | undefined
  readonly #scene: FlowScene
  readonly #made: string[] = []
  #integrationId = ''
  #environmentId = ''
  #ids = 0

  constructor(scene: FlowScene) {
    this.#scene = scene
    scene.app.world.onFetch = (request) => this.#answered(request)
  }

  async account(configurations: object = {}): Promise<string> {
    const made = await this.#scene.expect(201, 'POST', '/v1/integrations', {
      providerId: 'postmark',
      channel: 'email',
      name: fresh('Postmark'),
      active: true,
      credentials: { apiKey: 'token-of-postmark', from: 'hello@example.com' },
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: webhookKey, ...configurations },
    })
    this.#made.push(made._id)
    this.#integrationId = made._id
    this.#environmentId = made._environmentId
    return made._id
  }

  /** All its accounts: the next test has its own. */
  async remove(): Promise<void> {
    for (const id of this.#made.splice(0)) await this.#scene.expect(200, 'DELETE', `/v1/integrations/${id}`)
  }

  get address(): string {
    return `/v1/webhooks/${this.#environmentId}/${this.#integrationId}`
  }

  /** Postmark reports us something. */
  tells(body: unknown, { key = webhookKey, address = this.address } = {}): Promise<TestReply> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return this.#scene.app.call('POST', address, { body: JSON.stringify(body), headers, key: null })
  }

  async reports(body: unknown): Promise<Json[]> {
    const reply = await this.tells(body)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }

  async #answered(request: Request): Promise<OutboundAnswer> {
    const url = new URL(request.url)
    if (url.hostname !== 'api.postmarkapp.com') {
      assert.ok(this.elsewhere, `${url.href} was not expected`)
      return this.elsewhere(request)
    }
    const body = JSON.parse(await request.text())
    const call = { path: url.pathname, mails: Array.isArray(body) ? body : [body] }
    this.calls.push(call)
    await this.meanwhile?.()
    const answer = this.answer?.(call) ?? this.#taken(call)
    if (answer === 'cut') throw new OutboundError('unsure', 'The connection was cut')
    return { status: 200, headers: new Headers(), body: JSON.stringify(answer) }
  }

  #taken({ path, mails }: PostmarkCall): Json {
    const answers = mails.map(() => {
      this.#ids += 1
      return { ErrorCode: 0, Message: 'OK', MessageID: `pm-${this.#ids}`, To: '', SubmittedAt: '' }
    })
    return path === '/email/batch' ? answers : answers[0]
  }
}
