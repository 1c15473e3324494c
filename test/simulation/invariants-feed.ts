// In-app messages: each exactly once; digests complete, delays not early, throttles exact, cancelled events silent.
import type { Ledger, SimulatedEvent, SimulatedWorkflow } from './ledger.ts'
import { isAcknowledged, waitBefore, wasCancelAsked } from './ledger.ts'
import type { Written, WrittenMessage } from './written.ts'

export function feedMistakes(ledger: Ledger, written: Written): string[] {
  const workflows = [...new Set(ledger.events.map((event) => event.workflow))]
  return workflows.flatMap((workflow) => {
    const events = ledger.events.filter((event) => event.workflow === workflow)
    const messages = written.messages.filter(
      (one) => one.channel === 'in_app' && one.workflow === workflow.identifier && one.status !== null,
    )
    return [
      ...repeated(messages),
      ...(workflow.steps.includes('in_app') ? ofPeople({ ledger, workflow, events, messages }) : []),
    ]
  })
}

interface Scene {
  readonly ledger: Ledger
  readonly workflow: SimulatedWorkflow
  readonly events: readonly SimulatedEvent[]
  readonly messages: readonly WrittenMessage[]
}

/** One message for a step of a notification. */
function repeated(messages: readonly WrittenMessage[]): string[] {
  const seen = new Set<string>()
  return messages.flatMap((one) => {
    const key = `${one.jobId} ${one.step}`
    if (seen.has(key)) return [`event ${one.number} has a second in-app message for ${one.to}`]
    seen.add(key)
    return []
  })
}

function ofPeople(scene: Scene): string[] {
  const people = new Set(scene.events.flatMap((event) => event.recipients))
  return [...people].flatMap((person) => {
    const events = scene.events.filter((event) => event.recipients.includes(person))
    const own = { ...scene, events, messages: scene.messages.filter((one) => one.to === person) }
    return scene.workflow.steps.includes('throttle') ? throttled(own, person) : eachOnce(own, person)
  })
}

/** Each event is in the text of exactly one message; one that was cancelled in at most one. */
function eachOnce({ ledger, workflow, events, messages }: Scene, person: string): string[] {
  return events.flatMap((event) => {
    const holding = messages.filter((one) => one.numbers.includes(event.number))
    const name = `event ${event.number} (${workflow.steps.join(', ')}) for ${person}`
    const mistakes: string[] = []
    if (holding.length > 1) mistakes.push(`${name} is in ${holding.length} in-app messages`)
    for (const one of holding) {
      const times = one.numbers.filter((number) => number === event.number).length
      if (times > 1) mistakes.push(`${name} is ${times} times in one in-app message`)
      if (one.status !== 'sent') mistakes.push(`${name}: the in-app message is ${one.status}`)
      const earliestMs = event.triedAtMs + waitBefore(ledger, workflow, one.step)
      if (one.createdAt.getTime() < earliestMs) mistakes.push(`${name}: the in-app message came early`)
      if (event.canceledAtMs !== undefined && one.createdAt.getTime() > event.canceledAtMs)
        mistakes.push(`${name}: in-app message after the cancel`)
    }
    if (holding.length === 0 && isAcknowledged(event) && !wasCancelAsked(event))
      mistakes.push(`${name} has no in-app message`)
    return mistakes
  })
}

/** A throttle lets exactly its number through; those cancelled, or not acknowledged, may or may not have counted. */
function throttled({ ledger, events, messages }: Scene, person: string): string[] {
  const certain = events.filter((event) => isAcknowledged(event) && !wasCancelAsked(event)).length
  const least = Math.min(ledger.throttleMax - Math.min(ledger.throttleMax, events.length - certain), certain)
  const exact = events.length === certain ? Math.min(ledger.throttleMax, certain) : undefined
  const passed = messages.length
  if (exact !== undefined && passed !== exact) return [`a throttle of ${exact} let ${passed} through for ${person}`]
  if (passed > ledger.throttleMax || passed < least) return [`a throttle let ${passed} through for ${person}`]
  return []
}
