// To whom an event owes something, and which e-mails and SMS, by the ids under which the sinks record them.
import type { EventEntry } from './ledger.ts'
import { isSuppressed, membersOf } from './people.ts'
import { workflowOf } from './workflows.ts'

type Owing = Pick<EventEntry, 'environment' | 'workflow' | 'marker' | 'recipients' | 'topic' | 'actor'>

/** An actor gets nothing through a topic. */
export function recipientsOf({ recipients, topic, actor }: Owing): readonly string[] {
  if (topic === undefined) return recipients.map(({ subscriberId }) => subscriberId)
  return membersOf(topic).filter((member) => member !== actor)
}

export function mailsOwed(event: Owing, recipient: string): string[] {
  if (isSuppressed(event.environment, recipient)) return []
  return workflowOf(event.workflow).owed.mails.map((step) => idOf(event, recipient, step))
}

export const smsOwed = (event: Owing, recipient: string): string[] =>
  workflowOf(event.workflow).owed.sms.map((step) => idOf(event, recipient, step))

export const idOf = ({ marker }: Pick<Owing, 'marker'>, recipient: string, step: string): string =>
  `${marker}:${recipient}:${step}`
