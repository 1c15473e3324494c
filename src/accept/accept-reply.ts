// A reply to an e-mail: stored, with the task that forwards it to the step's callback, before the vendor gets its
// response.
import { createHash } from 'node:crypto'
import type { Db } from '../db/sql.ts'
import { directLane } from '../domain/delivery/event.ts'
import type { Integration } from '../domain/delivery/integration.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import { readReplyAddress } from '../domain/messages/reply-address.ts'
import type { InboundMail } from '../providers/inbound/receipt.ts'
import { storableValue } from '../providers/words.ts'
import type { Queue } from '../queue/queue.ts'
import { appendDetails } from '../store/jobs/append.ts'
import { insertTasks } from '../store/jobs/tasks.ts'
import { lockReplied, writeReported } from '../store/messages/receipts.ts'
import { findSigningKeys } from '../store/operate/signing-versions.ts'
import type { World } from '../world/world.ts'

/** More are a loop of machines that answer each other, or abuse. */
const repliesPerMessageMax = 50

/** False when it answers no message of ours. */
export async function acceptReply(
  db: Db,
  world: World,
  environment: Environment,
  queue: Queue,
  { integration, mail }: { integration: Integration; mail: InboundMail },
): Promise<boolean> {
  const signing = await findSigningKeys(db, world.sealer, environment)
  const messageId = signing && readReplyAddress(mail.to, signing.tokenKeys('reply'))
  if (messageId === undefined) return false
  const isTaken = await db.transaction(async (tx) => {
    const now = world.now()
    const message = await lockReplied(tx, environment, messageId)
    const name = `reply ${identityOf(mail)}`
    // Reports about the message are in the same place.
    const known = Object.keys(message?.receipts ?? {}).filter((one) => one.startsWith('reply '))
    if (message === undefined || known.includes(name) || known.length >= repliesPerMessageMax) return false
    await writeReported(tx, environment, [{ id: message.id, receipts: { [name]: now.toISOString() } }], now)
    const raw = { from: mail.from, subject: mail.subject }
    const received = detail(now, 'replyReceived', { providerId: integration.providerId, raw })
    await appendDetails(tx, environment, [{ jobId: message.jobId, details: [received] }])
    const state = { messageId: message.id, calls: 0, mail: storableValue(mail) }
    await insertTasks(
      tx,
      environment,
      [{ id: world.newId(now), kind: 'reply', lane: directLane, dueAt: now, state }],
      now,
    )
    return true
  })
  if (isTaken) queue.poke()
  return isTaken
}

/**
 * A duplicate reply counts once, because a vendor repeats a request whose response it missed: identified by the mail's
 * own id, or by its content if it has none.
 */
function identityOf({ messageId, from, subject, text }: InboundMail): string {
  const said = messageId ?? JSON.stringify([from, subject, text])
  return createHash('sha256').update(said).digest('hex').slice(0, 32)
}
