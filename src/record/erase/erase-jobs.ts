// Where the steps of a person's notifications can be: their ids follow from the notification and the position in its
// workflow.
import { jobIdOf } from '../../domain/derived-id.ts'
import { stepsPerWorkflowMax } from '../../domain/workflows/workflow.ts'

const places = Array.from({ length: stepsPerWorkflowMax }, (_, place) => place)

/** Whatever the workflow looked like. */
export function jobIdsOf(notifications: readonly { readonly id: string; readonly eventId: string }[]): string[] {
  return notifications.flatMap(({ id, eventId }) => places.map((place) => jobIdOf(eventId, id, place)))
}
