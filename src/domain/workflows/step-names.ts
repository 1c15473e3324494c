// What a step can be called by in conditions and templates: its uuid, its id, or the slug of its name.
import { slugOf } from '../delivery/integration.ts'
import type { NotificationStep } from './workflow.ts'

type Named = Pick<NotificationStep, 'uuid' | '_id' | 'name'>

/** The surest name first. */
export function namesOfStep({ uuid, _id, name }: Named): string[] {
  const slug = name === undefined ? '' : slugOf(name)
  return [uuid, _id, ...(slug === '' ? [] : [slug])]
}

/** The place of the step that is called so; a surer name wins, then the earlier step. */
export function placeOfStep(steps: readonly Named[], name: string): number | undefined {
  const found = [0, 1, 2].map((sureness) => steps.findIndex((step) => namesOfStep(step)[sureness] === name))
  return found.find((place) => place !== -1)
}
