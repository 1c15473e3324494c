// Retention: how long what happened is kept, and what goes next.
import type { ReactNode } from 'react'
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { Answered, Section } from '../../ui/page.tsx'
import { exactTime } from '../../ui/time.tsx'
import { SettingsFrame } from './settings-frame.tsx'

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const nameOfMonth = (month: string): string => monthName.format(new Date(`${month}-01T00:00:00Z`))

export function RetentionPage() {
  const retention = useAsk(['retention'], () => answerOf(client.GET('/v1/retention')))
  return (
    <SettingsFrame
      title="Retention"
      lead="Events, notifications and messages are deleted a whole month at a time. Workflows, people and settings are kept."
    >
      <Section title="What is kept">
        <Answered of={retention} rows={4}>
          {({ retentionDays, oldestEventAt, nextDrop, keptMonths, lastDroppedAt }) => (
            <dl className="divide-y divide-line">
              <Fact name="For how long">
                {retentionDays === null ? 'For ever' : `${retentionDays.toLocaleString('en')} days`}
                <span className="block text-xs text-ink-3">
                  Set with <code className="font-mono">POSTHORN_RETENTION_DAYS</code> where the service runs.
                </span>
              </Fact>
              <Fact name="Oldest event here">
                {oldestEventAt === null ? 'There is none yet' : exactTime(oldestEventAt)}
              </Fact>
              <Fact name="Deleted next">
                {nextDrop === null
                  ? 'Nothing'
                  : `${nameOfMonth(nextDrop.month)}, within an hour after ${exactTime(nextDrop.at)}`}
              </Fact>
              {keptMonths.length > 0 && (
                <Fact name="Kept for longer">
                  {keptMonths.map(nameOfMonth).join(', ')}
                  <span className="block text-xs text-ink-3">
                    Something in them still has to run, to return from a snooze or to be sent by a digest.
                  </span>
                </Fact>
              )}
              <Fact name="Last deletion">{lastDroppedAt === null ? 'None yet' : exactTime(lastDroppedAt)}</Fact>
            </dl>
          )}
        </Answered>
      </Section>
    </SettingsFrame>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-1 gap-1 px-4 py-3 sm:grid-cols-[200px_minmax(0,1fr)]">
      <dt className="text-ink-2">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  )
}
