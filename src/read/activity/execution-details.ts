// Execution details as callers see them: the short form of a job's row, worded.
import { hash } from 'node:crypto'
import type { JobStatus } from '../../domain/delivery/job.ts'
import type { ExecutionDetail } from '../../domain/insight/activity.ts'
import type { DetailCode, StoredDetail } from '../../domain/insight/execution-detail.ts'
import { wordings } from '../../domain/insight/execution-detail.ts'
import type { StepType } from '../../domain/workflows/workflow.ts'

export interface DetailedJob {
  readonly id: string
  readonly status: JobStatus
  readonly details: readonly StoredDetail[]
  readonly created_at: Date
}

/** Oldest first. That a job was queued follows from its row. `isTest`: all of them belong to a test. */
export function executionDetailsOf(job: DetailedJob, type: StepType, isTest = false): ExecutionDetail[] {
  const queued: StoredDetail = { code: 'queued', at: job.created_at.toISOString() }
  const details = wasQueued(job, type) ? [queued, ...job.details] : job.details
  return details.map((stored, index) => worded(job.id, stored, index, isTest))
}

/** The steps behind a merged digest, or behind a failure that stops, get rows that were over from the start. */
function wasQueued(job: DetailedJob, type: StepType): boolean {
  const behindMerge = job.status === 'merged' && type !== 'digest'
  return !behindMerge && job.details[0]?.code !== 'previousFailed'
}

function worded(jobId: string, stored: StoredDetail, index: number, isTest: boolean): ExecutionDetail {
  const { detail, status, source } = wordings[stored.code as DetailCode]
  return {
    _id: detailIdOf(jobId, index),
    createdAt: stored.at,
    status,
    detail: stored.words ?? detail,
    isRetry: stored.isRetry ?? false,
    isTest: isTest || (stored.isTest ?? false),
    providerId: stored.providerId,
    raw: stored.raw || undefined,
    source,
  }
}

/** Details have no rows of their own; the same one has the same id whenever it is read. */
function detailIdOf(jobId: string, index: number): string {
  const tail = hash('sha1', `${jobId}/detail/${index}`)
  return `${jobId.slice(0, 13)}-7${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.slice(6, 18)}`
}
