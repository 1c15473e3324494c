// posthorn retention: shows which months have expired and what keeps the rest, and drops them.
import { parseArgs } from 'node:util'
import { noRows } from '../../domain/operate/retention.ts'
import type { RetentionResult } from '../../manage/operate/retention.ts'
import { applyRetention } from '../../manage/operate/retention.ts'
import type { OldMonth, RetentionPlan } from '../../manage/operate/retention-plan.ts'
import { keptWords, planRetention } from '../../manage/operate/retention-plan.ts'

import type { Command } from '../command.ts'
import { UsageError } from '../command.ts'
import { withStore } from './with-store.ts'

export const retentionCommand: Command = {
  name: 'retention',
  about:
    'Drops the months of data that have expired, as the service does every hour, or shows which those are. Local: it concerns all organizations, and an API key belongs to one.',
  examples: ['posthorn retention --dry-run', 'posthorn retention'],
  usage: ['retention [--dry-run] [--json]'],
  run: async (terminal, args) => {
    const { dryRun, json } = optionsOf(args)
    const { config, print } = terminal
    const days = config.retentionDays
    await withStore(terminal, async ({ db, world }) => {
      if (dryRun) {
        const plan = await planRetention(db, world, days)
        for (const line of json ? [JSON.stringify(plan)] : planLines(plan)) print(line)
        return
      }
      const progress = (line: string): void => {
        if (!json) print(line)
      }
      const result = await applyRetention(db, world, days, { progress })
      print(json ? JSON.stringify({ days, ...result }) : resultLine(result))
    })
  },
}

function optionsOf(args: readonly string[]): { dryRun: boolean; json: boolean } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { 'dry-run': { type: 'boolean' }, json: { type: 'boolean' } },
    })
    return { dryRun: values['dry-run'] === true, json: values.json === true }
  } catch (error) {
    throw new UsageError(`posthorn retention accepts only --dry-run and --json: ${(error as Error).message}`)
  }
}

function planLines(plan: RetentionPlan): string[] {
  if (plan.cutoffAt === null) return ['POSTHORN_RETENTION_DAYS is off: everything is kept.']
  const going = plan.months.filter((month) => month.keptBy === null)
  const strays = Object.values(plan.strays).reduce((sum, count) => sum + count, 0)
  return [
    `Data is kept for ${plan.days} days, since ${plan.cutoffAt}. Whole months are dropped, by the time of their events.`,
    ...plan.months.map(monthLine),
    ...plan.leftovers.map((name) => `${name} would be dropped: an earlier run detached it from its table`),
    ...(strays === 0 ? [] : [`${strays} rows that belong to no month would be deleted`]),
    going.length === 0
      ? 'No month would be dropped now.'
      : `${going.length} of ${plan.months.length} old months would be dropped now.`,
  ]
}

function monthLine({ month, rows, bytes, keptBy }: OldMonth): string {
  if (keptBy !== null) return `${month} would be kept: ${keptWords(keptBy)}`
  const { events, notifications, jobs, messages } = rows ?? noRows
  return `${month} would be dropped: ${events} events, ${notifications} notifications, ${jobs} steps, ${messages} messages, ${bytes} bytes`
}

function resultLine({ isElsewhere, dropped, kept, busy, strays, references }: RetentionResult): string {
  if (isElsewhere) return 'Another node is dropping old data right now; nothing was done here.'
  const alone = Object.values(strays).reduce((sum, count) => sum + count, 0)
  const stay = kept.length + busy.length
  return `Done: ${dropped.length} months dropped, ${stay} old months kept, ${alone + references} other rows deleted.`
}
