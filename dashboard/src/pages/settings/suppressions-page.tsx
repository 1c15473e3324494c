// Suppressions: addresses that nothing is sent to.
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Client, Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { each } from '../../ui/bulk-actions.ts'
import { Button, IconButton, SelectField, TextField } from '../../ui/controls.tsx'
import { nameOfStep } from '../../ui/icons.tsx'
import { List, SearchBox } from '../../ui/list.tsx'
import { Empty } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { SettingsFrame } from './settings-frame.tsx'

type Suppression = Schemas['Suppression']
const reasons: Readonly<Record<string, string>> = {
  bounced: 'Bounced',
  complained: 'Complained',
  opted_out: 'Opted out',
  manual: 'Added manually',
}

const removed = (one: Suppression, api: Client = client) =>
  answerOf(
    api.DELETE('/v1/suppressions/{channel}/{address}', {
      params: { path: { channel: one.channel as 'email', address: one.address } },
    }),
  )

export function SuppressionsPage() {
  const mayChange = useMayChange('subscribers:write')
  const [address, setAddress] = useState('')
  const [channel, setChannel] = useState<'email' | 'sms'>('email')
  const { q: prefix = '' } = useSearch({ strict: false }) as { q?: string }
  const go = useGo()
  const setPrefix = (q: string) => go('/settings/suppressions', { q })
  const list = useAskRows(['suppressions', 'list', prefix], ({ cursor }) =>
    answerOf(
      client.GET('/v1/suppressions', {
        params: { query: { limit: 100, ...cursor, ...(prefix === '' ? {} : { addressPrefix: prefix }) } },
      }),
    ),
  )
  const add = useChange(
    () => answerOf(client.POST('/v1/suppressions', { body: { channel, address: address.trim() } })),
    { touches: ['suppressions'], says: 'Nothing is sent to it from now on', onDone: () => setAddress('') },
  )
  const remove = useChange((one: Suppression) => removed(one), {
    touches: ['suppressions'],
    says: 'It may be written to again',
    undo: ({ channel: of, address: gone, reason, note }) =>
      answerOf(client.POST('/v1/suppressions', { body: { channel: of, address: gone, reason, note } as never })),
  })
  const columns: readonly Column<Suppression>[] = [
    { head: 'Address', cell: (one) => <span className="block truncate font-medium">{one.address}</span> },
    { head: 'Channel', from: 'sm', width: '110px', cell: (one) => nameOfStep(one.channel) },
    {
      head: 'Why',
      width: '112px',
      cell: (one) => <span className="text-ink-2">{reasons[one.reason] ?? one.reason}</span>,
    },
    {
      head: 'Since',
      from: 'sm',
      right: true,
      width: '132px',
      cell: (one) => (
        <span className="text-ink-2">
          <Time at={one.createdAt} />
        </span>
      ),
    },
    {
      head: 'Remove',
      from: 'sm',
      right: true,
      width: '88px',
      cell: (one) =>
        mayChange ? (
          <IconButton name="trash" label={`Remove ${one.address}`} onClick={() => remove.mutate(one)} />
        ) : null,
    },
  ]
  return (
    <SettingsFrame
      title="Suppressions"
      lead="Addresses that bounced, complained or opted out: nothing is sent to them."
    >
      {mayChange && (
        <form
          className="card flex flex-wrap items-end gap-3 p-4"
          onSubmit={(event) => {
            event.preventDefault()
            if (address.trim() !== '') add.mutate(undefined)
          }}
        >
          <div className="w-32">
            <SelectField
              label="Channel"
              value={channel}
              options={[
                ['email', 'E-mail'],
                ['sms', 'SMS'],
              ]}
              onText={(next) => setChannel(next as 'email')}
            />
          </div>
          <div className="min-w-48 flex-1">
            <TextField
              label="Address"
              placeholder={channel === 'email' ? 'ann@example.com' : '+49…'}
              value={address}
              maxLength={320}
              onText={setAddress}
            />
          </div>
          <Button type="submit" busy={add.isPending} disabled={address.trim() === ''} className="h-[34px]">
            Suppress
          </Button>
        </form>
      )}
      <SearchBox
        key={prefix}
        label="Search suppressions"
        placeholder="Beginning of an address"
        value={prefix}
        onSearch={setPrefix}
      />
      <List
        label="Suppressions"
        {...list.table}
        columns={columns}
        bulk={
          mayChange
            ? {
                of: 'addresses',
                one: 'address',
                nameOf: ({ address: name }) => name,
                actions: [
                  {
                    text: 'Remove',
                    icon: 'trash',
                    does: 'The addresses may be written to again.',
                    typed: 'remove',
                    touches: ['suppressions'],
                    act: each(removed),
                  },
                ],
              }
            : undefined
        }
        keyOf={(one) => `${one.channel}${one.address}`}
        empty={
          prefix === '' ? (
            <Empty icon="ban" title="No address is suppressed">
              Addresses that bounce or complain are added by themselves when a provider reports them.
            </Empty>
          ) : (
            <Empty
              icon="search"
              title="No suppressed address begins like this"
              action={<Button onClick={() => setPrefix('')}>Show all</Button>}
            />
          )
        }
      />
    </SettingsFrame>
  )
}
