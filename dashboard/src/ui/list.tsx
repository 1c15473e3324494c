// The skeleton of every list page: title, the one thing to do, search, and a table or what stands in for it.
import type { ReactNode } from 'react'
import { useState } from 'react'
import { EnvLink } from '../env-link.tsx'
import type { Scope } from '../session.tsx'
import { useMayChange } from '../session.tsx'
import type { Bulk } from './bulk.tsx'
import { Button } from './controls.tsx'
import type { IconName } from './icons.tsx'
import { Icon } from './icons.tsx'
import type { Asked } from './page.tsx'
import { Answered, Empty, Fault, Page } from './page.tsx'
import type { Column } from './table.tsx'
import { Table } from './table.tsx'

export interface ListProps<Data, Row> {
  readonly label: string
  readonly of: Asked<Data>
  readonly rowsOf: (data: Data) => readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly onOpen?: (row: Row) => void
  readonly canOpen?: (row: Row) => boolean
  readonly chosen?: string | undefined
  /** What belongs here, where there is nothing. */
  readonly empty: ReactNode
  readonly more?: ((data: Data) => (() => void) | undefined) | undefined
  readonly loadingMore?: boolean
  /** Why the next rows did not come. */
  readonly moreError?: Error | null
  readonly rows?: number
  /** What can be done to many of them. */
  readonly bulk?: Bulk<Row> | undefined
}

/** Below a list that is no table. */
export const MoreButton = ({
  more,
  busy,
  error,
}: {
  more: (() => void) | undefined
  busy: boolean
  error: Error | null
}) =>
  more === undefined ? null : (
    <div className="flex flex-wrap items-center justify-center gap-2 border-t border-line p-2">
      {!busy && <Fault error={error} />}
      <Button look="quiet" busy={busy} onClick={more}>
        Show more
      </Button>
    </div>
  )

/** A table in a card, once its rows are there. */
export function List<Data, Row>({ of, rowsOf, empty, more, rows, ...table }: ListProps<Data, Row>) {
  return (
    <div className="card overflow-hidden">
      <Answered of={of} {...(rows === undefined ? {} : { rows })}>
        {(data) => {
          const all = rowsOf(data)
          return all.length === 0 ? empty : <Table {...table} rows={all} more={more?.(data)} />
        }}
      </Answered>
    </div>
  )
}

interface Creates {
  readonly text: string
  /** What a session needs to be offered it. */
  readonly scope: Scope
  readonly busy?: boolean
  readonly onClick: () => void
}

interface Search {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onSearch: (text: string) => void
  /** Where nothing fits. */
  readonly none: string
  readonly hint?: string
}

export function ListPage<Data, Row>({
  title,
  count,
  lead,
  above,
  creates,
  search,
  empty,
  children,
  ...list
}: Omit<ListProps<Data, Row>, 'empty' | 'label'> & {
  title: string
  count?: number | string | undefined
  lead: string
  above?: ReactNode
  creates?: Creates
  search?: Search
  empty: { readonly icon: IconName; readonly title: string; readonly text?: string }
  children?: ReactNode
}) {
  const mayChange = useMayChange(creates?.scope)
  const create = mayChange && creates !== undefined && (
    <Button look="primary" icon="plus" busy={creates.busy === true} onClick={creates.onClick}>
      {creates.text}
    </Button>
  )
  const isSearched = search !== undefined && search.value !== ''
  return (
    <Page
      title={title}
      count={typeof count === 'number' ? count.toLocaleString('en') : count}
      lead={lead}
      above={above}
      actions={create || undefined}
    >
      {search !== undefined && <SearchBox key={search.value} {...search} />}
      <List
        {...list}
        label={title}
        empty={
          isSearched ? (
            <Empty
              icon="search"
              title={search.none}
              action={<Button onClick={() => search.onSearch('')}>Show all</Button>}
            >
              {search.hint}
            </Empty>
          ) : (
            <Empty icon={empty.icon} title={empty.title} action={create || undefined}>
              {empty.text}
            </Empty>
          )
        }
      />
      {children}
    </Page>
  )
}

export function SearchBox({ label, placeholder, value, onSearch }: Omit<Search, 'none'>) {
  const [text, setText] = useState(value)
  return (
    <form
      className="relative sm:max-w-sm"
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(text.trim())
      }}
    >
      <Icon name="search" size={14} className="absolute top-2.5 left-2.5 text-ink-3" />
      <input
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="field pl-8"
      />
    </form>
  )
}

/** Above the title of what was opened from a list. */
export const BackTo = ({ to, children }: { to: string; children: string }) => (
  <EnvLink to={to} className="mb-1 inline-flex items-center gap-1 text-xs text-ink-2 hover:text-ink">
    <Icon name="left" size={10} /> {children}
  </EnvLink>
)

/** A column of times, at the right. */
export const Muted = ({ children }: { children: ReactNode }) => <span className="text-ink-2">{children}</span>
