// One part of a configuration that differs from what is stored, and how to change it.
import type { Db } from '../../db/sql.ts'
import { canonicalJson } from '../../domain/canonical-json.ts'
import type { Principal } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { invalid, Problem } from '../../domain/problem.ts'
import type { ConfigurationChange, StoredConfiguration } from '../../domain/workflows/configuration.ts'
import type { World } from '../../world/world.ts'

export interface PlannedChange extends ConfigurationChange {
  apply(): Promise<void>
}

/** Who changes what, and what there is. */
export interface PlanContext {
  readonly db: Db
  readonly world: World
  readonly principal: Principal
  readonly author: Author
  readonly stored: StoredConfiguration
}

/** Undefined when nothing differs. */
export function changeOf<Value extends object>(
  kind: ConfigurationChange['kind'],
  identifier: string,
  sides: { readonly before: Value | undefined; readonly after: Value | undefined },
  apply: () => Promise<void>,
): PlannedChange | undefined {
  const { before, after } = sides
  if (canonicalJson(before) === canonicalJson(after)) return undefined
  const action = before === undefined ? 'create' : after === undefined ? 'delete' : 'change'
  const shown = (side: Value | undefined): ConfigurationChange['before'] =>
    side === undefined ? null : (side as unknown as Readonly<Record<string, unknown>>)
  return { kind, identifier, action, before: shown(before), after: shown(after), apply }
}

/** Errors in a part are reported with its name. */
export async function within<Result>(place: string, work: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const errors = error.members['errors'] as FieldErrors | undefined
    const messages = errors === undefined ? [] : Object.values(errors).flatMap((one) => one.messages)
    throw invalid({ [place]: { messages: messages.length === 0 ? [error.message] : messages } })
  }
}
