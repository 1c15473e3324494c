// Failures: each step that failed, with what went wrong; those that were sent again where they are asked for.
import { useSearch } from '@tanstack/react-router'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import type { FilterWords } from '../../ui/chip.tsx'
import { FilterChips, filtersIn } from '../../ui/chip.tsx'
import { Button } from '../../ui/controls.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { List, Muted } from '../../ui/list.tsx'
import { Empty, Notice, Page } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { exactTime, Time } from '../../ui/time.tsx'
import { useProviderName } from '../integrations/provider-names.ts'
import { ActivityTabs } from './activity-tabs.tsx'
import type { FailuresSearch } from './failures-query.ts'
import { failuresIn, failuresQuery } from './failures-query.ts'
import { Select } from './filter-select.tsx'
import { reasonWords } from './filters.tsx'
import { failureWords, personOf } from './outcome.ts'

type Failed = Schemas['FailedStep']
const pageSize = 50
const refreshMs = 10_000
/** The service reads no more of a time range. */
const failuresReadMax = 10_000

const whyOf = ({ code, detail, provider, redriven }: Failed, providerName: (id: string) => string): string =>
  `${redriven === true ? 'Sent again since: ' : ''}${failureWords(code, detail)}${provider === 'none' ? '' : ` (at ${providerName(provider)})`}`

const columnsWith = (providerName: (id: string) => string): readonly Column<Failed>[] => [
  {
    head: 'Step',
    cell: (one) => (
      <span className="flex min-w-0 items-center gap-2">
        <Icon name={iconOfStep(one.channel)} className={one.redriven === true ? 'text-ink-3' : 'text-red'} />
        <span className="sr-only">{nameOfStep(one.channel)}</span>
        <span className="flex min-w-0 flex-col">
          <bdi className="truncate font-medium">{one.workflow?.name ?? 'A deleted workflow'}</bdi>
          <bdi className="truncate text-ink-2 sm:hidden">{personOf(one)}</bdi>
          <bdi className="line-clamp-3 text-xs text-ink-3 lg:hidden">{whyOf(one, providerName)}</bdi>
        </span>
      </span>
    ),
  },
  {
    head: 'For',
    from: 'sm',
    width: '18%',
    cell: (one) => <bdi className="block truncate text-ink-2">{personOf(one)}</bdi>,
  },
  {
    head: 'Why',
    from: 'lg',
    width: '46%',
    cell: (one) => (
      // Why is what one came for: it takes a second line rather than being cut off.
      <bdi className="line-clamp-2 text-ink-2" title={whyOf(one, providerName)}>
        {whyOf(one, providerName)}
      </bdi>
    ),
  },
  {
    head: 'Failed',
    right: true,
    width: '112px',
    cell: (one) => (
      <Muted>
        <Time at={one.failedAt} />
      </Muted>
    ),
  },
]

const leads: Readonly<Record<string, string>> = {
  '': 'Each step that failed and was not sent again since, the newest first.',
  with: 'Each step that failed, also if it was sent again since, the newest first.',
  only: 'Each step that failed and was sent again since, the newest first.',
}

/** What a list that ends before its last failure says, with the way to what is older once all of it is loaded. */
function OlderOnes({ search, oldest }: { search: FailuresSearch; oldest: Failed | undefined }) {
  return (
    <Notice tone="info">
      {`Only the newest ${failuresReadMax.toLocaleString('en')} failures of a time are read, before they are filtered. `}
      {search.redriven === 'with' ? (
        // One kind may reach further back than the other.
        'To see older ones, choose those that were sent again, or those that were not.'
      ) : oldest === undefined ? (
        'The way to older ones is at the end of this list.'
      ) : (
        <EnvLink to="/activity/failures" search={{ ...search, before: oldest.failedAt }} className="underline">
          Show older ones
        </EnvLink>
      )}
    </Notice>
  )
}

export function FailuresPage() {
  const search = failuresIn(useSearch({ strict: false }) as FailuresSearch)
  const go = useGo()
  const providerName = useProviderName()
  const list = useAskRows(
    ['activity', 'failures', { ...search }],
    ({ page }) =>
      answerOf(client.GET('/v1/failures', { params: { query: { ...failuresQuery(search), page, limit: pageSize } } })),
    { everyMs: refreshMs },
  )
  const words: FilterWords = {
    channel: ['Step', nameOfStep],
    provider: ['At', (value) => (value === 'none' ? 'no provider' : providerName(value))],
    code: ['Because of', reasonWords],
    after: ['Since', exactTime],
    before: ['Until', exactTime],
  }
  const filters = filtersIn(search, words)
  // Where there are more failures than are read, none are counted.
  const isCapped = list.count !== undefined && list.total === undefined
  const isOfSome = [search.channel, search.provider, search.code].some(Boolean)
  const atLeast = isOfSome ? list.count?.replace('+', '') : failuresReadMax.toLocaleString('en')
  const count = isCapped ? `${atLeast}+` : list.total?.toLocaleString('en')
  return (
    <Page title="Failures" count={count} lead={leads[search.redriven ?? '']}>
      <ActivityTabs of="failures" />
      <div className="flex flex-wrap items-center gap-2">
        <Select
          label="Sent again"
          value={search.redriven ?? ''}
          options={[
            ['', 'Not sent again'],
            ['with', 'All failures'],
            ['only', 'Sent again'],
          ]}
          onText={(redriven) => go('/activity/failures', { ...search, redriven }, { replace: true })}
        />
      </div>
      <FilterChips
        filters={filters}
        words={words}
        onRemove={(name) => go('/activity/failures', { ...search, [name]: '' }, { replace: true })}
        onClear={() => go('/activity/failures')}
      />
      <List
        label="Failures"
        {...list.table}
        rows={10}
        columns={columnsWith(providerName)}
        // A step may have failed more than once.
        keyOf={({ _id, failedAt }) => `${_id} ${failedAt}`}
        onOpen={({ notificationId }) => go(`/activity/${notificationId}`)}
        empty={
          filters.length > 0 || search.redriven !== undefined ? (
            <Empty
              icon="search"
              title="No failure fits"
              action={<Button onClick={() => go('/activity/failures')}>Clear the filters</Button>}
            />
          ) : (
            <Empty icon="check" title="Nothing failed">
              A step that fails appears here, until it is sent again.
            </Empty>
          )
        }
      />
      {isCapped && <OlderOnes search={search} oldest={list.table.more() === undefined ? list.last : undefined} />}
    </Page>
  )
}
