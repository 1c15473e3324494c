// What tests of the outbox start from: workflows on every channel, messages kept for people, and questions asked of the outbox.
import assert from 'node:assert/strict'
import type { Json, TestApp, TestReply } from './app.ts'
import { FlowScene, fresh } from './flow-scene.ts'

export const mailStep = (subject: string, content = '<p>Hello {{ subscriber.firstName }}</p>'): Json => ({
  template: { type: 'email', subject, contentType: 'customHtml', content },
})
export const smsStep = (content: string): Json => ({ template: { type: 'sms', content } })

export class OutboxScene extends FlowScene {
  constructor(app: TestApp) {
    super(app)
    // Nothing that is captured may leave the house: whoever is asked fails the test.
    app.world.onFetch = (request) => assert.fail(`${request.url} was asked`)
  }

  /** Someone with an e-mail address and a number. */
  async person(name = fresh('person'), more: object = {}): Promise<string> {
    const address = { email: `${name}@example.org`, phone: '+4915112345', firstName: 'Ann', ...more }
    await this.expect(201, 'POST', '/v2/subscribers', { subscriberId: name, ...address })
    return name
  }

  get(path: string, key?: string): Promise<TestReply> {
    return this.app.call('GET', `/v1/outbox${path}`, key === undefined ? {} : { key })
  }

  async list(query: Record<string, string> = {}): Promise<Json> {
    const reply = await this.get(`?${new URLSearchParams(query)}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }

  /** What fits, by what it is called, in the order of the alphabet: messages of one time have no other. */
  async found(query: Record<string, string>): Promise<string[]> {
    return (await this.list({ limit: '100', ...query })).data.map(nameOf).sort()
  }

  /** The newest that fits. */
  async newest(query: Record<string, string>): Promise<Json> {
    const [item] = (await this.list(query)).data
    return this.expect(200, 'GET', `/v1/outbox/${item?._id ?? assert.fail(`nothing fits ${JSON.stringify(query)}`)}`)
  }

  /** Whether the environment keeps what it would send. */
  async capture(capture: boolean): Promise<void> {
    await this.expect(200, 'PATCH', '/v1/environments/me', { configurations: { capture } })
  }

  async integration(body: Json): Promise<Json> {
    return this.expect(201, 'POST', '/v1/integrations', {
      name: body.providerId,
      identifier: fresh(body.providerId),
      active: true,
      ...body,
    })
  }
}

const nameOf = ({ subject, title, preview }: Json): string => subject ?? title ?? preview
