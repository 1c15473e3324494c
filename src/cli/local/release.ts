// posthorn release: shows what is due after a restore, and lets it be sent or cancels it.
import type { Environment } from '../../domain/environment.ts'
import { releaseSending } from '../../manage/recovery/sending-hold.ts'
import type { SendingHoldView } from '../../read/operate/sending-hold.ts'
import { findSendingHold } from '../../read/operate/sending-hold.ts'
import type { Organization } from '../../store/operate/organizations.ts'
import { listOrganizations } from '../../store/operate/organizations.ts'
import { listHeldEnvironments } from '../../store/operate/sending-holds.ts'
import type { Command, Terminal } from '../command.ts'
import { UsageError } from '../command.ts'
import { parsed } from '../terminal/arguments.ts'
import { confirmed } from '../terminal/confirm.ts'
import { visible, visibleJson } from '../terminal/visible-text.ts'
import { commandAuthor } from './author.ts'
import { withStore } from './with-store.ts'

export const releaseCommand: Command = {
  name: 'release',
  about:
    'Shows what is due after a restore, and after a question lets it be sent, or cancels the events that it is of. Local: it concerns all environments; a key with the scope full releases its own with POST /v1/environments/me/hold/release.',
  examples: [
    'posthorn release --dry-run     # shows what is due',
    'posthorn release               # shows it, asks, and sends it',
    'posthorn release --cancel      # shows it, asks, and cancels its events as a whole',
    'posthorn release --environment Production --organization Acme',
  ],
  usage: ['release [--cancel] [--environment NAME-OR-ID] [--organization NAME] [--dry-run] [--yes] [--json]'],
  run: async (terminal, args) => {
    const { values } = parsed({
      args: [...args],
      options: {
        cancel: { type: 'boolean', default: false },
        environment: { type: 'string' },
        organization: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    })
    await withStore(terminal, async ({ db, world }) => {
      const [organizations, all] = [await listOrganizations(db), await listHeldEnvironments(db)]
      const held = chosen(namedIn(organizations, all), values)
      const views = []
      for (const { environment, name } of held) {
        views.push({ environment: name, ...(await findSendingHold(db, environment)) })
      }
      const say = values.json && !values['dry-run'] ? terminal.note : terminal.print
      if (values.json && values['dry-run']) return terminal.print(visibleJson(views))
      if (held.length === 0) return say('Nothing is held: sending goes on in all environments.')
      for (const view of views) for (const line of linesOf(view)) say(line)
      if (values['dry-run']) return
      if (!(await confirmed(terminal, questionOf(values.cancel), values.yes, 'Nothing was released'))) {
        return terminal.note('Nothing was released.')
      }
      const released = []
      for (const { environment, name } of held) {
        const call = { cancel: values.cancel, author: commandAuthor(), idempotency: undefined }
        released.push({ ...(await releaseSending(db, world, environment, call)).body, environment: name })
      }
      if (values.json) return terminal.print(visibleJson(released))
      for (const { environment, canceledEvents } of released) print(terminal, environment, canceledEvents)
    })
  },
}

interface Named {
  readonly environment: Environment
  readonly organization: string
  /** As it is shown: with its organization, where there are several. */
  readonly name: string
}

function namedIn(organizations: readonly Organization[], environments: readonly Environment[]): Named[] {
  const nameOf = new Map(organizations.map(({ id, name }) => [id, name]))
  return environments.map((environment) => {
    const organization = nameOf.get(environment.organizationId) ?? environment.organizationId
    const name = organizations.length > 1 ? `${organization}/${environment.name}` : environment.name
    return { environment, organization, name }
  })
}

/** All of them, those of an organization, or exactly one: a name that several have would release what was not meant. */
function chosen(
  held: readonly Named[],
  { environment, organization }: { environment?: string; organization?: string },
): readonly Named[] {
  const own = organization === undefined ? held : held.filter((one) => one.organization === organization)
  if (organization !== undefined && own.length === 0) {
    throw new UsageError(`Sending is not held in any environment of the organization "${organization}"`)
  }
  if (environment === undefined) return own
  const found = own.filter(({ environment: { id, name }, name: whole }) => [id, name, whole].includes(environment))
  if (found.length === 1) return found
  if (found.length === 0) throw new UsageError(`Sending is not held in "${environment}"`)
  const those = found.map((one) => `${one.name} (${one.environment.id})`).join(', ')
  throw new UsageError(
    `Several organizations have an environment "${environment}": ${those}. Name one with --organization, or by its id. Nothing was released.`,
  )
}

const questionOf = (cancels: boolean): string =>
  cancels ? 'Cancel the events that were accepted before the restore and have something due?' : 'Send what is due?'

function print(terminal: Terminal, environment: string, canceledEvents: number): void {
  const canceled = canceledEvents === 0 ? '' : ` ${canceledEvents} events were cancelled.`
  terminal.print(`${visible(environment)} is released.${canceled}`)
}

function linesOf(view: SendingHoldView & { readonly environment: string }): string[] {
  const { due, examples, fanOuts, otherTasks, auditEntries, acceptedSince, later, laterOfDue } = view
  const total = due.reduce((sum, { count }) => sum + count, 0)
  return [
    view.movedAt !== null
      ? `${visible(view.environment)}: held since ${view.heldAt} by \`posthorn move\`. Release it only if that move did not succeed: otherwise the server sends this too.`
      : `${visible(view.environment)}: held since ${view.heldAt}, restored from a backup of ${view.backupAt}`,
    total === 0
      ? '  Nothing is due that was accepted before the restore.'
      : `  ${total} steps are due that were accepted before the restore. What was sent after the backup is among them.`,
    ...due.map(
      (one) =>
        `    ${one.count}  ${visible(one.workflow)}, ${visible(one.step)} (${one.type}), oldest ${one.oldestDueAt}`,
    ),
    ...examples.map(
      (one) =>
        `      ${visible(one.transactionId)}  ${visible(one.workflow)} to ${visible(one.subscriberId)}, accepted ${one.acceptedAt}`,
    ),
    ...some(fanOuts, 'events whose recipients are still being found'),
    ...some(acceptedSince, 'steps of events accepted since the restore; these were never sent'),
    ...some(
      otherTasks,
      'webhooks, replies and other tasks; they run either way, and receivers know repeats by their id',
    ),
    ...some(auditEntries, 'entries of the audit log for its streams; they are sent either way, with the ids they had'),
    ...some(
      laterOfDue,
      'steps that wait for a later time, of events that have something due; `--cancel` cancels them too, as it cancels whole events',
    ),
    ...some(later - laterOfDue, 'other steps that wait for a later time; they run then, released or cancelled'),
  ]
}

const some = (count: number, what: string): string[] => (count === 0 ? [] : [`  ${count} ${what}`])
