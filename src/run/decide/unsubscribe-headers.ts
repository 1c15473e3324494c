// Unsubscribe links: for the templates of e-mails, and as the headers with which mail programs offer one click (RFC 8058).
import type { Sql } from '../../db/sql.ts'
import type { SendDecision } from '../../domain/delivery/decision.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Envelope, ForProvider, MessageDraft } from '../../domain/messages/message.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { unsubscribeUrlOf, writeUnsubscribeToken } from '../../domain/preferences/unsubscribe-token.ts'
import type { WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { SigningSecrets } from '../cache/signing-secrets.ts'
import type { JobFacts } from './job-facts.ts'

export interface LinkSources {
  readonly db: Sql
  readonly signingSecrets: SigningSecrets
  /** The base URL of links in messages; undefined if the service has no URL that they could point to. */
  readonly linkBase: string | undefined
}

export interface UnsubscribeLinks {
  /** Undefined for critical workflows, from which no one can unsubscribe. */
  of(subscriberId: string, version: WorkflowVersion): UnsubscribeLink | undefined
}

/** What templates see as `unsubscribe`. */
export interface UnsubscribeLink {
  /** Signed when it is first asked for: most templates do not. */
  readonly url: string
}

/** Undefined where no job needs one, or there is no address that mail could point to. */
export async function unsubscribeLinks(
  { db, signingSecrets, linkBase }: LinkSources,
  environment: Environment,
  jobs: readonly Job[],
  versions: ReadonlyMap<string, WorkflowVersion>,
): Promise<UnsubscribeLinks | undefined> {
  if (linkBase === undefined || !jobs.some((job) => sendsOptionalEmail(job, versions.get(job.versionId)))) {
    return undefined
  }
  const key = (await signingSecrets.of(db, environment)).tokenKey('unsubscribe')
  return {
    of: (subscriberId, { workflowId, definition }) =>
      definition.critical
        ? undefined
        : linkTo(() => {
            const unsubscription = { environmentId: environment.id, subscriberId, workflowId }
            return unsubscribeUrlOf(linkBase, writeUnsubscribeToken(unsubscription, key))
          }),
  }
}

function sendsOptionalEmail(job: Job, version: WorkflowVersion | undefined): boolean {
  const step = version?.definition.steps[job.step]
  return version?.definition.critical === false && step?.template.type === 'email'
}

function linkTo(make: () => string): UnsubscribeLink {
  let made: string | undefined
  return {
    get url() {
      made ??= make()
      return made
    },
  }
}

/** The decision with the headers on its e-mails, unless the caller gave their own. */
export function withUnsubscribeHeaders(
  links: UnsubscribeLinks | undefined,
  { subscriber, version }: Pick<JobFacts, 'subscriber' | 'version'>,
  decision: SendDecision,
): SendDecision {
  if (links === undefined) return decision
  const isWanted = decision.messages.some((draft) => variantsOf(draft).some(wantsHeaders))
  const link = isWanted ? links.of(subscriber.id, version) : undefined
  if (link === undefined) return decision
  const headers = {
    'List-Unsubscribe': `<${link.url}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
  return { ...decision, messages: decision.messages.map((draft) => withHeaders(draft, headers)) }
}

type Addressed = Pick<EmailMessage, 'to' | 'cc' | 'headers'>

/** The e-mail as it is for all, and as single providers are given it; nothing of other channels. */
function variantsOf({ channel, envelope }: MessageDraft): Addressed[] {
  if (channel !== 'email' || envelope === undefined) return []
  const overrides = Object.values(envelope.forProviders ?? {})
  return [envelope, ...overrides.map(({ message }) => ({ ...envelope, ...message }))] as Addressed[]
}

/**
 * Only mail to one person: whoever sees the button must be the one it applies to. Blind copies are the caller's own
 * record and do not count.
 */
function wantsHeaders({ to, cc, headers }: Addressed): boolean {
  return to.length === 1 && cc.length === 0 && !Object.keys(headers).some((name) => /^list-unsubscribe/i.test(name))
}

type Headers = Readonly<Record<string, string>>

const headersWith = (message: Addressed, headers: Headers): Headers =>
  wantsHeaders(message) ? { ...message.headers, ...headers } : message.headers

function withHeaders(draft: MessageDraft, headers: Headers): MessageDraft {
  if (draft.channel !== 'email' || draft.envelope === undefined) return draft
  const envelope = draft.envelope as Envelope & Addressed
  const { forProviders } = envelope
  const all = { ...envelope, headers: headersWith(envelope, headers) }
  if (forProviders === undefined) return { ...draft, envelope: all }
  const overrides = Object.entries(forProviders).map(([providerId, override]): [string, ForProvider] => {
    if (override.message === undefined) return [providerId, override]
    // Each is judged by its own recipients, and its own headers replace the common ones.
    const own = headersWith({ ...envelope, ...override.message }, headers)
    return [providerId, { ...override, message: { ...override.message, headers: own } }]
  })
  return { ...draft, envelope: { ...all, forProviders: Object.fromEntries(overrides) } }
}
