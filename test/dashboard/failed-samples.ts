// Failures of several kinds, for pages that show them: refused by a provider, an account that is not accepted, an address that is
// none, a template and a condition that cannot be computed, a service that does not know a custom step.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DashboardScene } from './service.ts'

/** By the number that a message is for. */
const refusedNumber = '+4915100000400'
const unpaidNumber = '+4915100000401'
/** More than a template may do. */
const endless = '{% for i in (1..100000000) %}{{ i }}{% endfor %}'
const payload = { total: 90 }
const askedMax = 2_000

const isNinety = {
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children: [{ on: 'payload', field: 'total', operator: 'EQUAL', value: endless }],
}

/** The service must be allowed to call 127.0.0.1. Answers with how to stop what was started for it. */
export async function failSome(scene: DashboardScene): Promise<() => void> {
  const vendor = createServer(async (request, answer) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const status = body.includes(refusedNumber.slice(1)) ? 400 : body.includes(unpaidNumber.slice(1)) ? 401 : 404
    answer.writeHead(status, { 'content-type': 'application/json' }).end('{"message":"No"}')
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`
  await scene.call('POST', '/v1/integrations', {
    providerId: 'generic-sms',
    channel: 'sms',
    name: 'Gateway',
    active: true,
    credentials: { baseUrl: `${url}/send`, apiKeyRequestHeader: 'x-api-key', apiKey: 'sample', from: 'Acme' },
  })
  const sms = { name: 'SMS', template: { type: 'sms', content: 'Your code is 4711.' } }
  const mail = (content: string) => ({
    name: 'Mail',
    template: { type: 'email', subject: 'Your receipt', contentType: 'customHtml', content },
  })
  const bell = { name: 'Bell', template: { type: 'in_app', content: 'Your share is ready.' } }
  for (const [name, step] of [
    ['Sign-in code', sms],
    ['Receipt', mail(`<p>Each of you pays ${endless}.</p>`)],
    ['Shared bill', { ...bell, filters: [isNinety] }],
    ['Invitation', mail('<p>Come in.</p>')],
    ['Sync to CRM', { name: 'CRM', template: { type: 'custom' }, metadata: { type: 'http', url: `${url}/crm` } }],
  ] as const)
    await scene.call('POST', '/v1/workflows', { name, active: true, steps: [step] })
  const trigger = (name: string, to: unknown, more: object = {}) =>
    scene.call('POST', '/v1/events/trigger', { name, to, payload, ...more })
  for (const [subscriberId, phone] of [
    ['alan', refusedNumber],
    ['katherine', refusedNumber],
    ['edsger', unpaidNumber],
  ])
    await trigger('sign-in-code', { subscriberId, phone })
  await trigger('receipt', 'barbara')
  await trigger('shared-bill', 'margaret')
  await trigger('invitation', 'radia', { overrides: { email: { to: 'nowhere' } } })
  await trigger('sync-to-crm', 'grace')
  for (let asked = 0, found = 0; found < 7; asked += 1) {
    found = (await scene.call('GET', '/v1/failures?limit=1')).totalCount
    if (asked > askedMax) throw new Error(`Only ${found} steps failed`)
  }
  return () => vendor.close()
}
