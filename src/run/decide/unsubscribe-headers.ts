// Unsubscribe links: for the templates of e-mails, and as the headers with which mail programs offer one click (RFC 8058).
import type { Sql } from '../../db/sql.ts'
import type { Decision, SendDecision } from '../../domain/delivery/decision.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Envelope, ForProvider, MessageDraft } from '../../domain/messages/message.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { withToken } from '../../domain/preferences/stored-links.ts'
import type { Unsubscription } from '../../domain/preferences/unsubscribe-token.ts'
import { unsignedToken, unsubscribeUrlOf, writeUnsubscribeToken } from '../../domain/preferences/unsubscribe-token.ts'
import type { WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { World } from '../../world/world.ts'
import type { SigningSecrets } from '../cache/signing-secrets.ts'
import type { JobFacts } from './job-facts.ts'

export interface LinkSources {
  readonly db: Sql
  readonly signingSecrets: SigningSecrets
  /** The base URL of links in messages; undefined if the service has no URL that they could point to. */
  readonly linkBase: string | undefined
  readonly world: Pick<World, 'sealer'>
}

export interface UnsubscribeLinks {
  /** Undefined for critical workflows, from which no one can unsubscribe. */
  of(subscriberId: string, version: WorkflowVersion): UnsubscribeLink | undefined
}

export interface UnsubscribeLink {
  /** What templates see as `unsubscribe`: signed when it is first asked for, which most templates do not. */
  readonly inTemplates: { readonly url: string }
  /** As a stored mail holds it. */
  readonly storedUrl: string
  /** The value as it is stored: without the signature that a template may have been given. */
  stored<Value>(value: Value): Value
}

/** Undefined where no job needs one, or there is no address that mail could point to. */
export async function unsubscribeLinks(
  { db, signingSecrets, linkBase, world }: LinkSources,
  environment: Environment,
  jobs: readonly Job[],
  versions: ReadonlyMap<string, WorkflowVersion>,
  /** Mail that is only shown is signed at once. */
  isStored = true,
): Promise<UnsubscribeLinks | undefined> {
  if (linkBase === undefined || !jobs.some((job) => sendsOptionalEmail(job, versions.get(job.versionId)))) {
    return undefined
  }
  const key = (await signingSecrets.of(db, environment)).tokenKey('unsubscribe')
  // Nodes of the release before send what is stored: they are gone once the installation seals in the second form.
  const linkTo = isStored && world.sealer.form() === 2 ? unsignedLink : signedLink
  const known = new Map<string, UnsubscribeLink>()
  return {
    of: (subscriberId, { workflowId, definition }) => {
      if (definition.critical) return undefined
      const name = `${subscriberId}/${workflowId}`
      const link = known.get(name) ?? linkTo(linkBase, key, { environmentId: environment.id, subscriberId, workflowId })
      known.set(name, link)
      return link
    },
  }
}

function sendsOptionalEmail(job: Job, version: WorkflowVersion | undefined): boolean {
  const step = version?.definition.steps[job.step]
  return version?.definition.critical === false && step?.template.type === 'email'
}

function signedLink(base: string, key: Buffer, unsubscription: Unsubscription): UnsubscribeLink {
  let made: string | undefined
  const url = (): string => {
    made ??= unsubscribeUrlOf(base, writeUnsubscribeToken(unsubscription, key))
    return made
  }
  return {
    inTemplates: {
      get url() {
        return url()
      },
    },
    get storedUrl() {
      return url()
    },
    stored: (value) => value,
  }
}

/**
 * Templates are given the signed link all the same: they may encode it. What they wrote as it is loses the signature
 * again.
 */
function unsignedLink(base: string, key: Buffer, unsubscription: Unsubscription): UnsubscribeLink {
  const unsigned = unsignedToken(unsubscription)
  let signed: string | undefined
  return {
    inTemplates: {
      get url() {
        signed ??= writeUnsubscribeToken(unsubscription, key)
        return unsubscribeUrlOf(base, signed)
      },
    },
    storedUrl: unsubscribeUrlOf(base, unsigned),
    stored: (value) => (signed === undefined ? value : withToken(value, signed, unsigned)),
  }
}

/** The decision with no link in its messages that a reader of the database could use. */
export function withStoredLinks(
  links: UnsubscribeLinks | undefined,
  facts: Pick<JobFacts, 'subscriber' | 'version' | 'step'>,
  decision: Decision,
): Decision {
  if (links === undefined || facts.step.template.type !== 'email') return decision
  if (decision.kind === 'unreachable') {
    const link = links.of(facts.subscriber.id, facts.version)
    return link === undefined ? decision : { ...decision, message: link.stored(decision.message) }
  }
  return decision.kind === 'send' ? withUnsubscribeHeaders(links, facts, decision) : decision
}

/** The decision with the headers on its e-mails, unless the caller gave their own. */
export function withUnsubscribeHeaders(
  links: UnsubscribeLinks | undefined,
  { subscriber, version }: Pick<JobFacts, 'subscriber' | 'version'>,
  decision: SendDecision,
): SendDecision {
  if (links === undefined) return decision
  const link = links.of(subscriber.id, version)
  if (link === undefined) return decision
  const messages = link.stored(decision.messages)
  const isWanted = messages.some((draft) => variantsOf(draft).some(wantsHeaders))
  if (!isWanted) return messages === decision.messages ? decision : { ...decision, messages }
  const headers = {
    'List-Unsubscribe': `<${link.storedUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
  return { ...decision, messages: messages.map((draft) => withHeaders(draft, headers)) }
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
