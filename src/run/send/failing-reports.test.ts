// That an integration fails is written once: by one outcome of a batch, and by one batch of a node.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobOutcome } from '../../record/job-outcome.ts'
import { createFailingReports } from './failing-reports.ts'

const outcome = (jobId: string, ...newsIds: (string | undefined)[]): JobOutcome =>
  ({
    settlement: { job: { id: jobId } },
    results: newsIds.map((id) => (id === undefined ? {} : { failing: { id } })),
  }) as unknown as JobOutcome

const reportedIn = (outcomes: readonly JobOutcome[]): string[] =>
  outcomes.flatMap(({ results }) => results.flatMap(({ failing }) => failing?.id ?? []))

test('each failure is reported by one outcome, and by no later batch', async () => {
  const reports = createFailingReports()
  const seen: string[][] = []
  const write = async (outcomes: readonly JobOutcome[]): Promise<ReadonlySet<string>> => {
    seen.push(reportedIn(outcomes))
    return new Set(outcomes.map(({ settlement }) => settlement.job.id))
  }
  const first = reports.once([outcome('1', 'a', 'a'), outcome('2', 'a', undefined), outcome('3', 'b')], write)
  await Promise.all([first, reports.once([outcome('4', 'a')], write)])
  await reports.once([outcome('5', 'b'), outcome('6', 'c')], write)
  assert.deepEqual(seen, [['a', 'b'], [], ['c']])
})

test('one that was not written is reported by the next', async () => {
  const reports = createFailingReports()
  await assert.rejects(reports.once([outcome('1', 'a')], () => Promise.reject(new Error('away'))))
  const seen: string[] = []
  const lost = async (outcomes: readonly JobOutcome[]): Promise<ReadonlySet<string>> => {
    seen.push(...reportedIn(outcomes))
    return new Set()
  }
  await reports.once([outcome('2', 'a')], lost)
  await reports.once([outcome('3', 'a')], lost)
  assert.deepEqual(seen, ['a', 'a'])
})
