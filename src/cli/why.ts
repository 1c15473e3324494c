// posthorn why: explains in sentences what happened to a notification, or why a subscriber was not notified.
import type { Why, WhyAbsent } from '../domain/insight/why.ts'
import type { ApiClient } from './api-client.ts'
import { clientFor } from './api-client.ts'
import type { Command, Terminal } from './command.ts'
import { CommandFailed } from './command.ts'
import { readOptions, serviceUsage, timestampOf, wrongCall } from './terminal/arguments.ts'
import { tableLines, wrapped } from './terminal/table.ts'
import { visible, visibleJson } from './terminal/visible-text.ts'

export const whyCommand: Command = {
  name: 'why',
  about: 'Explains in sentences what happened to a notification, or why a subscriber was not notified.',
  examples: [
    'posthorn why 019b7ca9-9316-7165-8eff-b3fe562c5055',
    'posthorn why --subscriber ada --workflow order-shipped --at 5m',
  ],
  usage: [
    `why NOTIFICATION-ID ${serviceUsage}`,
    `why --subscriber ID [--workflow ID] [--at TIMESTAMP|5m] ${serviceUsage}`,
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readOptions(whyCommand, args, {
      subscriber: { type: 'string' },
      workflow: { type: 'string' },
      at: { type: 'string' },
    })
    const [id, ...more] = positionals
    const { subscriber, workflow } = values
    const isOfSubscriber = subscriber !== undefined
    const isMixed = !isOfSubscriber && (workflow !== undefined || values.at !== undefined)
    if (more.length > 0 || (id !== undefined) === isOfSubscriber || isMixed) throw wrongCall(whyCommand)
    const at = timestampOf('--at', values.at, new Date())?.toISOString()
    const client = await clientFor(terminal, values)
    const found = isOfSubscriber
      ? await whyOfSubscriber(client, { subscriber, workflow, at })
      : await whyOf(client, id ?? '')
    if (values.json) terminal.print(visibleJson(found))
    else for (const line of whyLines(found, terminal)) terminal.print(line)
  },
}

export async function whyOf(client: ApiClient, notificationId: string): Promise<Why> {
  return (await client.call<Why>('GET', `/v1/notifications/${encodeURIComponent(notificationId)}/why`)).body
}

interface Asked {
  readonly subscriber: string
  readonly workflow: string | undefined
  readonly at: string | undefined
}

/** Without a workflow: of the last notification of any. */
async function whyOfSubscriber(client: ApiClient, { subscriber, workflow, at }: Asked): Promise<Why | WhyAbsent> {
  if (workflow !== undefined) {
    const path = `/v1/subscribers/${encodeURIComponent(subscriber)}/why`
    return (await client.call<Why | WhyAbsent>('GET', path, { query: { workflow, at } })).body
  }
  const query = { subscriberIds: subscriber, before: at, limit: 1 }
  const { body } = await client.call<{ data: { _id: string }[] }>('GET', '/v1/notifications', { query })
  const [newest] = body.data
  if (newest !== undefined) return whyOf(client, newest._id)
  throw new CommandFailed(
    `There is no notification for ${subscriber}${at === undefined ? '' : ` at or before ${at}`}. Add --workflow to see the reason.`,
  )
}

export function whyLines(why: Why | WhyAbsent, { width }: Pick<Terminal, 'width'>): string[] {
  const { workflow, subscriberId, at } = why
  const title = `${workflow.identifier} for ${subscriberId || '(erased)'}${at === undefined ? '' : `, ${at}`}`
  const ids = 'notificationId' in why ? [`notification ${why.notificationId}, transaction ${why.transactionId}`] : []
  const rows = why.steps.map(({ name, type, status, sentence }) => [name || type, type, status, sentence])
  const reasons = 'reasons' in why ? why.reasons.map(({ sentence }) => `- ${sentence}`) : []
  return [
    visible(title),
    ...ids.map(visible),
    '',
    ...wrapped(visible(why.summary), width),
    ...(rows.length === 0 ? [] : ['', ...tableLines(['STEP', 'TYPE', 'STATUS', 'WHY'], rows, { width })]),
    ...reasons.flatMap((reason) => wrapped(visible(reason), width)),
  ]
}
