// What a run needs in the service before it starts: workflows, subscribers, topics, tenants, integrations; all by the API.
import { mustCall } from './api.ts'
import type { EnvironmentLetter } from './people.ts'
import {
  emailOf,
  environmentLetters,
  hasSuppressions,
  knownIds,
  phoneOf,
  suppressedIds,
  tenantIds,
  tenantNameOf,
  topics,
} from './people.ts'
import { workflows } from './workflows.ts'

/** Where the providers are, as the service sees them: the sinks themselves, or proxies before them. */
export interface ProviderAddresses {
  readonly httpPort: number
  readonly smtpPort: number
}

const subscribersPerCall = 500
const subscriptionsPerCall = 100

export async function setUpService(baseUrl: string, providers: ProviderAddresses): Promise<void> {
  for (const environment of environmentLetters) {
    const ask = (method: string, path: string, body: unknown) => mustCall(baseUrl, { method, path, environment, body })
    for (const body of integrationsFor(environment, providers)) await ask('POST', '/v1/integrations', body)
    for (const [workflowId, { steps }] of Object.entries(workflows)) {
      await ask('POST', '/v1/workflows', { name: workflowId, workflowId, active: true, steps })
    }
    for (const ids of slices(knownIds, subscribersPerCall)) {
      const subscribers = ids.map((subscriberId) => ({
        subscriberId,
        email: emailOf(subscriberId),
        phone: phoneOf(subscriberId),
      }))
      await ask('POST', '/v1/subscribers/bulk', { subscribers })
    }
    for (const [key, members] of Object.entries(topics)) {
      await ask('POST', '/v2/topics', { key, name: key })
      for (const subscriptions of slices(members, subscriptionsPerCall)) {
        await ask('POST', `/v2/topics/${key}/subscriptions`, { subscriptions })
      }
    }
    for (const identifier of tenantIds) {
      await ask('POST', '/v1/tenants', { identifier, name: tenantNameOf(identifier) })
    }
    if (hasSuppressions(environment)) {
      const suppressions = suppressedIds.map((id) => ({ channel: 'email', address: emailOf(id), reason: 'bounced' }))
      await ask('POST', '/v1/suppressions/bulk', { suppressions })
    }
  }
}

/** The first of the channel takes what the others' conditions leave. */
function integrationsFor(environment: EnvironmentLetter, { httpPort, smtpPort }: ProviderAddresses): object[] {
  const base = `http://127.0.0.1:${httpPort}`
  const from = 'soak@soak.example'
  return [
    {
      ...{ providerId: 'sendgrid', channel: 'email', name: 'Single', active: true },
      credentials: { apiKey: 'SG.soak', from, baseUrl: `${base}/sendgrid` },
    },
    {
      ...{ providerId: 'postmark', channel: 'email', name: 'Batch', active: true },
      credentials: { apiKey: 'soak-token', from, baseUrl: `${base}/postmark` },
      conditions: when('batch'),
    },
    {
      ...{ providerId: 'nodemailer', channel: 'email', name: 'SMTP', active: true },
      credentials: { host: '127.0.0.1', port: String(smtpPort), from, ignoreTls: true },
      conditions: when('smtp'),
    },
    {
      ...{ providerId: 'twilio', channel: 'sms', name: 'SMS', active: true },
      credentials: { accountSid: 'ACsoak', token: 'soak-token', from: '+447700900999', baseUrl: `${base}/twilio` },
      // Development keeps the default, by which an SMS of unknown outcome is skipped.
      configurations: environment === 'p' ? { whenUnsure: 'retry' } : {},
    },
  ]
}

function when(via: string): object[] {
  const child = { field: 'via', value: via, operator: 'EQUAL', on: 'payload' }
  return [{ isNegated: false, type: 'GROUP', value: 'AND', children: [child] }]
}

function slices<Item>(items: readonly Item[], size: number): Item[][] {
  const parts: Item[][] = []
  for (let from = 0; from < items.length; from += size) parts.push(items.slice(from, from + size))
  return parts
}
