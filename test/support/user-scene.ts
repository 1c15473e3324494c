// What tests of users start from: people who are invited, set a password, and call as the dashboard does.
import assert from 'node:assert/strict'
import type { Environment } from '../../src/domain/environment.ts'
import type { UserRole } from '../../src/domain/operate/user.ts'
import { createUser } from '../../src/manage/operate/users.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import type { TestApp, TestReply } from './app.ts'
import { testAuthor } from './test-author.ts'

export const sessionsPath = '/v1/dashboard/sessions'
export const dashboardHeader = { 'x-posthorn-dashboard': '*', host: 'localhost:3000' }
export const goodPassword = 'correct horse battery staple'

/** Cookies by the environment that they are for. */
export type Cookies = ReadonlyMap<string, string>

export function cookiesOf({ headers }: Pick<TestReply, 'headers'>): Cookies {
  const given = [headers['set-cookie'] ?? []].flat().map((one) => String(one).split(';')[0] ?? '')
  return new Map(given.map((cookie) => [/^posthorn_session_([^=]+)=/.exec(cookie)?.[1] ?? cookie, cookie]))
}

export class UserScene {
  readonly app: TestApp

  constructor(app: TestApp) {
    this.app = app
  }

  async environment(name: string): Promise<Environment> {
    const found = (await listEnvironments(this.app.database.db)).find((one) => one.name === name)
    return found ?? assert.fail(name)
  }

  /** As the command does it; answers with the part of the link after the `#`. */
  async invited(email: string, role: UserRole, environment?: Environment): Promise<{ id: string; link: string }> {
    const at = environment ?? (await this.environment('Development'))
    const call = { user: { email, role }, author: testAuthor, idempotency: undefined }
    const { body } = await createUser(this.app.database.db, this.app.world, at, call)
    return { id: body._id, link: body.link.split('#')[1] ?? '' }
  }

  setPassword(body: object): Promise<TestReply> {
    return this.app.call('POST', '/v1/dashboard/password', { key: null, body, headers: dashboardHeader })
  }

  signIn(email: string, password = goodPassword): Promise<TestReply> {
    return this.app.call('POST', sessionsPath, { key: null, body: { email, password }, headers: dashboardHeader })
  }

  /** Someone who is signed in, and calls with their cookies. */
  async person(email: string, role: UserRole, environment?: Environment): Promise<Person> {
    const { id, link } = await this.invited(email, role, environment)
    const reply = await this.setPassword({ link, password: goodPassword })
    assert.equal(reply.status, 201, reply.text)
    return this.caller(id, reply)
  }

  caller(id: string, reply: TestReply): Person {
    const cookies = cookiesOf(reply)
    const [first = ''] = cookies.keys()
    const call: Person['call'] = (method, path, { body, environmentId = first } = {}) =>
      this.app.call(method, path, {
        key: null,
        headers: { cookie: cookies.get(environmentId) ?? '', 'x-posthorn-dashboard': environmentId },
        ...(body === undefined ? {} : { body }),
      })
    return { id, cookies, call }
  }
}

export interface Person {
  readonly id: string
  readonly cookies: Cookies
  /** In the first environment, unless another is named. */
  call(method: string, path: string, options?: { body?: unknown; environmentId?: string }): Promise<TestReply>
}
