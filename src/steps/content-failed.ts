// A step whose content cannot be generated: the step fails, and the detail says which field to fix.
import type { Decision } from '../domain/delivery/decision.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import { RenderError } from '../domain/workflows/rendering.ts'

/** Runs what may throw a RenderError; any other error is a bug and is rethrown. */
export function orContentFailed(now: Date, decide: () => Decision): Decision {
  try {
    return decide()
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    const raw = { field: error.field, message: error.message }
    return { kind: 'fail', details: [detail(now, 'contentFailed', { raw })], stops: false }
  }
}
