// Stories of lists: tables with few and many rows, what is done to many, and a detail beside the list.
import { useState } from 'react'
import { Beside } from '../ui/beside.tsx'
import { BulkBar, RowTick } from '../ui/bulk.tsx'
import { FilterChip } from '../ui/chip.tsx'
import { Button } from '../ui/controls.tsx'
import { List, MoreButton, Muted, SearchBox } from '../ui/list.tsx'
import { Empty, Section } from '../ui/page.tsx'
import { useSelection } from '../ui/selection.ts'
import { Status } from '../ui/status.tsx'
import type { Column } from '../ui/table.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import type { Story } from './story.tsx'

interface Thing {
  readonly id: number
  readonly at: string
}

const states = ['sent', 'captured', 'delayed', 'failed', 'skipped']
const made = (count: number): Thing[] =>
  Array.from({ length: count }, (_, id) => ({ id, at: new Date(Date.now() - id * 600_000).toISOString() }))
const nameOf = ({ id }: Thing): string => `Thing ${id + 1}`
const keyOf = ({ id }: Thing): string => String(id)

const columns: readonly Column<Thing>[] = [
  { head: 'Status', width: '124px', cell: ({ id }) => <Status state={states[id % states.length] ?? 'sent'} /> },
  { head: 'Name', cell: (one) => <span className="block truncate font-medium">{nameOf(one)}</span> },
  {
    head: 'Words',
    from: 'md',
    cell: () => (
      <span className="block truncate text-ink-2">Words that are longer than there is room for on most screens</span>
    ),
  },
  {
    head: 'When',
    from: 'sm',
    right: true,
    width: '132px',
    cell: ({ at }) => (
      <Muted>
        <Time at={at} />
      </Muted>
    ),
  },
]

/** Each third thing is refused, so that a result with failures can be looked at. */
const bulk = {
  of: 'things',
  one: 'thing',
  nameOf,
  actions: [
    {
      text: 'Try',
      icon: 'again' as const,
      does: 'Every third one is refused.',
      touches: [],
      act: async ([one]: readonly Thing[]) => {
        await new Promise((resolve) => setTimeout(resolve, 150))
        if (one !== undefined && one.id % 3 === 2) throw new Error(`${nameOf(one)} cannot be tried.`)
      },
    },
    {
      text: 'Delete',
      icon: 'trash' as const,
      does: 'They are gone.',
      typed: 'delete',
      touches: [],
      act: () => Promise.resolve(),
    },
  ],
}

function Tables() {
  const [open, setOpen] = useState<string>()
  const [many] = useState(() => made(400))
  return (
    <>
      <div className="card overflow-hidden">
        <Table
          label="Few things"
          rows={many.slice(0, 6)}
          columns={columns}
          keyOf={keyOf}
          chosen={open}
          bulk={bulk}
          onOpen={(one) => setOpen(keyOf(one))}
        />
      </div>
      <div className="card overflow-hidden">
        <Table label="Many things" rows={many} columns={columns} keyOf={keyOf} onOpen={() => undefined} />
      </div>
    </>
  )
}

const Lists = () => (
  <>
    <SearchBox label="Search things" placeholder="A part of the name" value="" onSearch={() => undefined} />
    <div className="flex flex-wrap gap-1.5">
      <FilterChip name="Channel" value="E-mail" onRemove={() => undefined} />
      <FilterChip name="Since" value="a time that is written with a great many words" onRemove={() => undefined} />
    </div>
    <List
      label="No things"
      of={{ data: [] as Thing[], error: null, refetch: () => undefined }}
      rowsOf={(data) => data}
      columns={columns}
      keyOf={keyOf}
      empty={<Empty icon="search" title="No things yet" action={<Button>New thing</Button>} />}
    />
    <MoreButton more={() => undefined} busy={false} error={new Error('The next rows did not come.')} />
  </>
)

/** A list that is no table. */
function Entries() {
  const [rows] = useState(() => made(4))
  const selection = useSelection(rows, keyOf)
  return (
    <ul className="card divide-y divide-line">
      {rows.map((one) => (
        <li key={one.id} className="flex items-center gap-2">
          <RowTick
            label={`Choose ${nameOf(one)}`}
            checked={selection.has(keyOf(one))}
            onToggle={(isRange) => selection.toggle(keyOf(one), isRange)}
          />
          {nameOf(one)}
        </li>
      ))}
      <li>
        <BulkBar bulk={bulk} selection={selection} keyOf={keyOf} />
      </li>
    </ul>
  )
}

const Details = () => (
  <Beside
    detail={
      <Section title="The detail">
        <p className="p-4">40 % of a wide screen; a page of its own on a narrow one.</p>
      </Section>
    }
  >
    <Section title="The list">
      <p className="p-4">It stays while one walks through it.</p>
    </Section>
  </Beside>
)

export const listStories: readonly Story[] = [
  { name: 'Tables', shows: Tables },
  { name: 'Lists', shows: Lists },
  { name: 'Entries that are chosen', shows: Entries },
  { name: 'A detail beside its list', shows: Details },
]
