// What a recipient does with an unsubscribe link: looks at their preferences, stops one workflow's e-mail, saves choices.
import type { Db, Sql, Tx } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { SubscriberPreferences } from '../../domain/preferences/preference.ts'
import type { Boxes, ChosenWorkflow, Ticks } from '../../domain/preferences/preference-boxes.ts'
import { boxesOf, preferencesAfter, withoutEmailOf } from '../../domain/preferences/preference-boxes.ts'
import type { Unsubscription } from '../../domain/preferences/unsubscribe-token.ts'
import { findSubscribersById, lockPreferences, savePreferences } from '../../store/people/subscribers.ts'
import { findWorkflow } from '../../store/workflows/workflows.ts'
import type { World } from '../../world/world.ts'
import { reportPreferences } from './preference-news.ts'

export interface Choices {
  /** Undefined when it was deleted. */
  readonly workflow: { readonly name: string; readonly critical: boolean } | undefined
  readonly boxes: Boxes
}

/** Undefined when the subscriber is gone. */
export async function findChoices(
  db: Sql,
  environment: Environment,
  { subscriberId, workflowId }: Unsubscription,
): Promise<Choices | undefined> {
  const [subscribers, workflow] = await Promise.all([
    findSubscribersById(db, environment, [subscriberId]),
    chosenWorkflow(db, environment, workflowId),
  ])
  const [subscriber] = subscribers
  return subscriber && choicesOf(subscriber.preferences, workflow)
}

/** RFC 8058: a second time changes nothing. */
export function unsubscribe(
  db: Db,
  world: World,
  environment: Environment,
  unsubscription: Unsubscription,
): Promise<Choices | undefined> {
  const withoutEmail: Change = (before, _workflow, now) =>
    before.workflows?.[unsubscription.workflowId]?.channels?.email === false
      ? before
      : withoutEmailOf(before, unsubscription.workflowId, now)
  return change(db, world, environment, unsubscription, withoutEmail, true)
}

export function saveChoices(
  db: Db,
  world: World,
  environment: Environment,
  unsubscription: Unsubscription,
  ticks: Ticks,
): Promise<Choices | undefined> {
  return change(db, world, environment, unsubscription, (before, workflow, now) =>
    preferencesAfter(before, workflow, ticks, now),
  )
}

type Change = (before: SubscriberPreferences, workflow: ChosenWorkflow | undefined, now: Date) => SubscriberPreferences

function change(
  db: Db,
  world: World,
  environment: Environment,
  { subscriberId, workflowId }: Unsubscription,
  apply: Change,
  isOneClick = false,
): Promise<Choices | undefined> {
  return db.transaction(async (tx) => {
    const held = await lockById(tx, environment, subscriberId)
    if (held === undefined) return undefined
    const workflow = await chosenWorkflow(tx, environment, workflowId)
    const before = held.preferences ?? {}
    const now = world.now()
    const preferences = apply(before, workflow, now)
    if (preferences !== before) {
      await savePreferences(tx, environment, { id: subscriberId, preferences, now })
      const changed = { id: subscriberId, preferences }
      const left = emailLeft(boxesOf(before, workflow), boxesOf(preferences, workflow))
      if (left.everywhere) {
        await reportPreferences(tx, world, environment, { ...changed, workflows: [null], isUnsubscribed: true })
      }
      if (!left.everywhere || workflow !== undefined) {
        const isUnsubscribed = isOneClick || (left.workflow && !left.everywhere)
        const deletedWorkflowId = isOneClick && workflow === undefined ? workflowId : undefined
        const here = { ...changed, workflows: [workflow ?? null], isUnsubscribed, deletedWorkflowId }
        await reportPreferences(tx, world, environment, here)
      }
    }
    return choicesOf(preferences, workflow)
  })
}

/** Where the box of e-mail was ticked, and is not any more. */
function emailLeft(before: Boxes, after: Boxes): { readonly workflow: boolean; readonly everywhere: boolean } {
  const isTicked = (boxes: Boxes['workflow']): boolean =>
    boxes.some(({ channel, ticked }) => channel === 'email' && ticked)
  return {
    workflow: isTicked(before.workflow) && !isTicked(after.workflow),
    everywhere: isTicked(before.everywhere) && !isTicked(after.everywhere),
  }
}

/** Whoever has the same subscriberId today is a different person if the internal id differs. */
async function lockById(tx: Tx, environment: Environment, id: string) {
  const [subscriber] = await findSubscribersById(tx, environment, [id])
  const held = subscriber && (await lockPreferences(tx, environment, subscriber.subscriber_id))
  return held?.id === id ? held : undefined
}

async function chosenWorkflow(
  db: Sql,
  environment: Environment,
  id: string,
): Promise<(ChosenWorkflow & { identifier: string }) | undefined> {
  const row = await findWorkflow(db, environment, id)
  if (row === undefined) return undefined
  const { name, critical, preferenceSettings, steps } = row.definition
  return { id: row.id, identifier: row.identifier, name, critical, preferenceSettings, steps }
}

function choicesOf(preferences: SubscriberPreferences | null, workflow: ChosenWorkflow | undefined): Choices {
  const { name, critical } = workflow ?? {}
  return {
    workflow: name === undefined || critical === undefined ? undefined : { name, critical },
    boxes: boxesOf(preferences, workflow),
  }
}
