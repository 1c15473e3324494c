// Where replies to an e-mail go: to the callback of its step, if there is one and the integration receives mail.
import type { Sql } from '../../db/sql.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { OutboundMessage } from '../../domain/messages/outbound-message.ts'
import { writeReplyAddress } from '../../domain/messages/reply-address.ts'
import type { SigningSecrets } from '../cache/signing-secrets.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { LaterMessage } from './outgoing.ts'

export interface ReplyParts {
  readonly db: Sql
  readonly signingSecrets: SigningSecrets
}

const wantsReplies = ({ step }: Pick<JobFacts, 'step'>): boolean =>
  step.template.type === 'email' && step.replyCallback?.active === true

/** The message with the reply address, unless it has its own. */
export async function withReplyAddress(
  { db, signingSecrets }: ReplyParts,
  environment: Environment,
  facts: Pick<JobFacts, 'step'>,
  { configurations }: Integration,
  message: OutboundMessage,
): Promise<OutboundMessage> {
  const domain = configurations?.inboundParseDomain
  if (!wantsReplies(facts) || domain === undefined || !('html' in message) || message.replyTo !== undefined)
    return message
  const key = (await signingSecrets.of(db, environment)).tokenKey('reply')
  return { ...message, replyTo: writeReplyAddress(message.id, domain, key) }
}

/** Why replies are not forwarded, recorded once per job. */
export function replyWarnings(
  facts: Pick<JobFacts, 'step'>,
  messages: readonly LaterMessage[],
  now: Date,
): StoredDetail[] {
  if (!wantsReplies(facts)) return []
  if ((facts.step.replyCallback?.url ?? '') === '') return [detail(now, 'replyCallbackMissing')]
  const isHeard = messages.every(({ integration }) => integration?.configurations?.inboundParseDomain !== undefined)
  return isHeard ? [] : [detail(now, 'replyDomainMissing')]
}
