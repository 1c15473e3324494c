// The audit log: who changed which part of the configuration, and proof that the log itself was not changed.
import { useSearch } from '@tanstack/react-router'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { Button } from '../../ui/controls.tsx'
import { Json } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { List } from '../../ui/list.tsx'
import { Empty, Notice } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { exactTime, Time } from '../../ui/time.tsx'
import { SettingsFrame } from './settings-frame.tsx'

type Entry = Schemas['AuditEntry']
const actions: Readonly<Record<string, string>> = {
  create: 'created',
  change: 'changed',
  delete: 'deleted',
  'set-primary': 'made primary',
  revoke: 'revoked',
  read: 'looked at',
}
const kindWords = (kind: string): string => kind.replaceAll('-', ' ')

const columns: readonly Column<Entry>[] = [
  { head: 'Who', from: 'sm', width: '28%', cell: (one) => <span className="block truncate">{one.keyName}</span> },
  {
    head: 'What',
    cell: (one) => (
      <span className="block truncate">
        <span className="text-ink-2">
          {actions[one.action] ?? one.action} {kindWords(one.resourceKind)}
        </span>{' '}
        <span className="font-medium">{one.resourceName}</span>
        <span className="block truncate text-xs text-ink-3 sm:hidden">{one.keyName}</span>
      </span>
    ),
  },
  {
    head: 'From',
    from: 'md',
    width: '150px',
    cell: (one) => <span className="font-mono text-xs text-ink-2">{one.address || '–'}</span>,
  },
  {
    head: 'When',
    right: true,
    width: '132px',
    cell: (one) => (
      <span className="text-ink-2">
        <Time at={one.at} />
      </span>
    ),
  },
]

export function AuditPage() {
  const { entry } = useSearch({ strict: false }) as { entry?: string }
  const go = useGo()
  const setShown = (one: Entry | undefined) =>
    go('/settings/audit', { entry: one === undefined ? undefined : String(one.seq) }, { stays: true })
  const list = useAskRows(['audit'], ({ cursor }) =>
    answerOf(client.GET('/v1/audit', { params: { query: { limit: 100, ...cursor } } })),
  )
  const entries = list.table.of.data === undefined ? [] : list.table.rowsOf(list.table.of.data)
  const shown = entries.find(({ seq }) => String(seq) === entry)
  const verify = useChange(() => answerOf(client.GET('/v1/audit/verify')))
  return (
    <SettingsFrame
      title="Audit log"
      lead="Who changed the configuration, from where and how. Each entry is chained to the one before it."
      actions={
        <Button icon="shield" busy={verify.isPending} onClick={() => verify.mutate(undefined)}>
          Verify the log
        </Button>
      }
    >
      {verify.data !== undefined &&
        (verify.data.ok ? (
          <Notice tone="good">
            {verify.data.checked.toLocaleString('en')} entries fit together{verify.data.complete ? '' : ' so far'}: none
            was changed or taken out.
          </Notice>
        ) : (
          <Notice tone="error">
            The log is broken at entry {verify.data.broken?.seq}: {verify.data.broken?.reason}.
          </Notice>
        ))}
      <List
        label="Audit log"
        {...list.table}
        columns={columns}
        keyOf={({ seq }) => String(seq)}
        onOpen={setShown}
        empty={<Empty icon="file" title="Nothing was changed yet" />}
      />
      {shown !== undefined && (
        <Dialog title={`Entry ${shown.seq}`} width="max-w-2xl" onClose={() => setShown(undefined)}>
          <div className="flex flex-col gap-4">
            <p>
              {shown.keyName} {actions[shown.action] ?? shown.action} {kindWords(shown.resourceKind)}{' '}
              <strong>{shown.resourceName}</strong>, {exactTime(shown.at)}.
            </p>
            {shown.before !== null && (
              <div>
                <h3 className="mb-1 text-xs font-medium text-ink-3">Before</h3>
                <Json label="before" value={shown.before} />
              </div>
            )}
            {shown.after !== null && (
              <div>
                <h3 className="mb-1 text-xs font-medium text-ink-3">After</h3>
                <Json label="after" value={shown.after} />
              </div>
            )}
          </div>
        </Dialog>
      )}
    </SettingsFrame>
  )
}
