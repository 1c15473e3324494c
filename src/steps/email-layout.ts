// Which layout an e-mail is put into: the trigger's word, then the template's, then the environment's default.
import type { StoredDetail } from '../domain/insight/execution-detail.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import type { EmailFrame, EmailLayouts } from '../domain/workflows/rendering.ts'
import type { NotificationStep } from '../domain/workflows/workflow.ts'

export interface ChosenFrame {
  readonly frame: EmailFrame
  readonly details: readonly StoredDetail[]
}

/** A missing layout is reported, and the default is used: an e-mail in the wrong layout is better than none. */
export function chooseFrame(
  step: NotificationStep,
  overrides: Readonly<Record<string, unknown>>,
  layouts: EmailLayouts | undefined,
  now: Date,
): ChosenFrame {
  const override = overriddenLayout(overrides, step)
  const wanted = override === undefined ? step.template.layoutId : override
  const standard: EmailFrame = layouts?.standard ?? 'builtIn'
  if (wanted === null || wanted === 'none') return { frame: 'none', details: [] }
  if (wanted === undefined || wanted === '') return { frame: standard, details: [] }
  const found = typeof wanted === 'string' ? layouts?.find(wanted) : undefined
  if (found === undefined) {
    return { frame: standard, details: [detail(now, 'layoutNotFound', { raw: { layoutId: wanted } })] }
  }
  // The workflow's layout can be read there; a trigger's cannot.
  if (override === undefined) return { frame: found, details: [] }
  const raw = { layoutId: found._id, identifier: found.identifier }
  return { frame: found, details: [detail(now, 'layoutSelected', { raw })] }
}

/** The step's setting takes precedence over the channel's, and that over the older way; undefined if none is set. */
function overriddenLayout(overrides: Readonly<Record<string, unknown>>, step: NotificationStep): unknown {
  const places = [
    ['steps', step._id, 'layoutId'],
    ['steps', step.uuid, 'layoutId'],
    ['channels', 'email', 'layoutId'],
    ['layoutIdentifier'],
  ]
  for (const place of places) {
    const value = valueAt(overrides, place)
    if (value !== undefined) return value
  }
  return undefined
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}
