// posthorn release: shows what is due after a restore, and lets it be sent or cancels it.
import { releaseSending } from '../../manage/recovery/sending-hold.ts'
import type { SendingHoldView } from '../../read/operate/sending-hold.ts'
import { findSendingHold } from '../../read/operate/sending-hold.ts'
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
    'Shows what is due after a restore, and after a question lets it be sent, or cancels it. Local: it concerns all environments; a key with the scope full releases its own with POST /v1/environments/me/hold/release.',
  examples: [
    'posthorn release --dry-run     # shows what is due',
    'posthorn release               # shows it, asks, and sends it',
    'posthorn release --cancel      # shows it, asks, and cancels it',
  ],
  usage: ['release [--cancel] [--environment NAME] [--dry-run] [--yes] [--json]'],
  run: async (terminal, args) => {
    const { values } = parsed({
      args: [...args],
      options: {
        cancel: { type: 'boolean', default: false },
        environment: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    })
    await withStore(terminal, async ({ db, world }) => {
      const all = await listHeldEnvironments(db)
      const held = all.filter(({ name }) => values.environment === undefined || name === values.environment)
      if (values.environment !== undefined && held.length === 0) {
        throw new UsageError(`Sending is not held in "${values.environment}"`)
      }
      const views = []
      for (const environment of held) {
        views.push({ environment: environment.name, ...(await findSendingHold(db, environment)) })
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
      for (const environment of held) {
        const call = { cancel: values.cancel, author: commandAuthor(), idempotency: undefined }
        released.push((await releaseSending(db, world, environment, call)).body)
      }
      if (values.json) return terminal.print(visibleJson(released))
      for (const { environment, canceledEvents } of released) print(terminal, environment, canceledEvents)
    })
  },
}

const questionOf = (cancels: boolean): string =>
  cancels ? 'Cancel what was accepted before the restore and is due?' : 'Send what is due?'

function print(terminal: Terminal, environment: string, canceledEvents: number): void {
  const canceled = canceledEvents === 0 ? '' : ` ${canceledEvents} events were cancelled.`
  terminal.print(`${visible(environment)} is released.${canceled}`)
}

function linesOf(view: SendingHoldView & { readonly environment: string }): string[] {
  const { due, examples, fanOuts, otherTasks, acceptedSince, later } = view
  const total = due.reduce((sum, { count }) => sum + count, 0)
  return [
    `${visible(view.environment)}: held since ${view.heldAt}, restored from a backup of ${view.backupAt}`,
    `  ${total} steps are due that were accepted before the restore. What was sent after the backup is among them.`,
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
    ...some(otherTasks, 'webhooks, replies and other tasks'),
    ...some(later, 'steps that wait for a later time; they run then, released or cancelled'),
  ]
}

const some = (count: number, what: string): string[] => (count === 0 ? [] : [`  ${count} ${what}`])
