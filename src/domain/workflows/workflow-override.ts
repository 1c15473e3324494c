// A tenant's override of a workflow: whether it runs for them, and on which channels.
import type { PreferenceSettings } from './workflow.ts'

export interface WorkflowOverride {
  readonly _id: string
  readonly workflowId: string
  readonly tenantId: string
  /** Null leaves the workflow's own. */
  readonly active: boolean | null
  readonly preferenceSettings: Partial<PreferenceSettings> | null
}

/** As callers read it. */
export interface StoredOverride extends WorkflowOverride {
  readonly workflowIdentifier: string
  readonly tenantIdentifier: string
  readonly _environmentId: string
  readonly _organizationId: string
  readonly createdAt: string
  readonly updatedAt: string
}
