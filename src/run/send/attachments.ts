// Files that go out with an e-mail: read when it is sent, a bounded amount at once, and never kept with the message.
import type { Sql } from '../../db/sql.ts'
import type { TriggeredEvent } from '../../domain/delivery/event.ts'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { uncalled } from '../../domain/delivery/outcome.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Envelope } from '../../domain/messages/message.ts'
import type { Attachment } from '../../domain/messages/outbound-message.ts'
import { attachmentBytes, findAttachments } from '../../store/events/attachments.ts'
import type { World } from '../../world/world.ts'
import type { ByteBudget } from './byte-budget.ts'

/** As bytes, as text and in the request a file takes some six times its size. */
export const fileBytesAtOnceMax = 48 * 1024 * 1024
/** Well within what a call may take, so that its lease holds. */
export const fileWaitMs = 10_000

export interface FileParts {
  readonly db: Sql
  readonly world: Pick<World, 'log'>
  /** What files may take of memory while they are sent. */
  readonly fileBudget: ByteBudget
}

/** Sends with the event's attachments, if it has any; their memory is released when the call has finished. */
export async function withFiles(
  { db, world, fileBudget }: FileParts,
  environment: Environment,
  { event, envelope }: { event: TriggeredEvent; envelope: Envelope },
  send: (envelope: Envelope) => Promise<Outcome>,
): Promise<Outcome> {
  if (event.attachments === 0 || !('attachments' in envelope)) return send(envelope)
  let giveBack: (() => void) | undefined
  try {
    giveBack = await fileBudget.take(await attachmentBytes(db, environment, event.id))
    if (giveBack === undefined) return uncalled('Too many large attachments are being sent')
    const found = await findAttachments(db, environment, { eventId: event.id, channel: 'email' })
    return await send({ ...envelope, attachments: found.map(attachmentOf) })
  } catch (error) {
    world.log.warn({ err: error, eventId: event.id }, 'Could not read the attachments of an event')
    return uncalled('The attachments of the event could not be read')
  } finally {
    giveBack?.()
  }
}

function attachmentOf(file: Awaited<ReturnType<typeof findAttachments>>[number]): Attachment {
  const { name, mime, content, cid, disposition } = file
  return {
    name,
    mime,
    content: content.toString('base64'),
    ...(cid === null ? {} : { cid }),
    ...(disposition === null ? {} : { disposition }),
  }
}
