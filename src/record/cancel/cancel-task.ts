// The task that cancels the rest of an event, page by page.
import { fanOutLane } from '../../domain/delivery/event.ts'
import { notificationIdOf } from '../../domain/derived-id.ts'
import type { NewTask } from '../../store/jobs/tasks.ts'
import type { CancelState } from './cancel-page.ts'

export const cancelTaskOf = (
  { eventId, versionId }: { readonly eventId: string; readonly versionId: string },
  state: CancelState,
  dueAt: Date,
): NewTask => ({
  id: cancelTaskId(eventId),
  kind: 'cancel',
  lane: fanOutLane,
  dueAt,
  state: { ...state, eventId, versionId },
})

/** Apart from the event's own id, which is that of its expansion. */
export const cancelTaskId = (eventId: string): string => notificationIdOf(eventId, 'cancel')
