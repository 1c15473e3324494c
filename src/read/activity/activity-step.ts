// A step as activities show it: without what authorised it.
import type { ActivityStep, ActivityVariant } from '../../domain/insight/activity.ts'
import { stepWithoutSecrets } from '../../domain/workflows/shown-secrets.ts'
import type { NotificationStep, StepVariant } from '../../domain/workflows/workflow.ts'

/** For every key: what a run did is shown without what authorised it. */
export function activityStepOf(whole: NotificationStep): ActivityStep {
  const step = stepWithoutSecrets(whole)
  return { ...variantOf(step), variants: step.variants.map(variantOf) }
}

function variantOf(step: StepVariant): ActivityVariant {
  const { layoutId, feedId, ...template } = step.template
  return {
    _id: step._id,
    _templateId: step._templateId,
    _parentId: step._parentId ?? null,
    ...(step.name === undefined ? {} : { name: step.name }),
    active: step.active,
    filters: step.filters,
    template: {
      ...template,
      ...(layoutId === undefined ? {} : { _layoutId: layoutId }),
      ...(feedId === undefined ? {} : { _feedId: feedId }),
    },
    ...(step.metadata === undefined ? {} : { metadata: step.metadata }),
    ...(step.replyCallback === undefined ? {} : { replyCallback: step.replyCallback }),
  }
}
