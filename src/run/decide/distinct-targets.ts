// Distinguishes the messages of one job: each target has its own id.
import type { Job } from '../../domain/delivery/job.ts'
import { messageIdOf } from '../../domain/derived-id.ts'
import type { MessageDraft } from '../../domain/messages/message.ts'

/** Ids of a job's messages differ in 24 bits: of a hundred devices two share one now and then, and one must step aside. */
export function withDistinctTargets(
  { eventId, id }: Pick<Job, 'eventId' | 'id'>,
  drafts: readonly MessageDraft[],
): readonly MessageDraft[] {
  if (drafts.length < 2) return drafts
  const taken = new Set<string>()
  return drafts.map((draft) => {
    let { target } = draft
    while (taken.has(messageIdOf(eventId, id, target))) target += '+'
    taken.add(messageIdOf(eventId, id, target))
    return target === draft.target ? draft : { ...draft, target }
  })
}
