// What tests of why start from: asking it of a notification, and the sentence and reasons of a step.
import assert from 'node:assert/strict'
import type { Json } from './app.ts'
import type { FlowScene } from './flow-scene.ts'

export const whyOf = (scene: FlowScene, notification: Json): Promise<Json> =>
  scene.expect(200, 'GET', `/v1/notifications/${notification._id}/why`)

/** What is said of a step: its status, its sentence, and the data of one of its reasons. */
export function assertStep(why: Json, place: number, expected: { status: string; says: RegExp; code?: string }): Json {
  const step = why.steps[place]
  assert.equal(step.status, expected.status, JSON.stringify(step))
  assert.match(step.sentence, expected.says)
  if (expected.code === undefined) return {}
  const reason = step.reasons.findLast((one: Json) => one.code === expected.code)
  assert.ok(reason, `${expected.code} is not among ${JSON.stringify(step.reasons)}`)
  return reason.data
}
