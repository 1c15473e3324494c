// Asking and changing, with the environment of the page in every key: what one environment answered is never shown in another.
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { callsGoTo } from './api.ts'
import { useEnvironment } from './session.tsx'
import { say, sayError } from './ui/toast.tsx'

/** More pages than so are not read again by themselves: each time would read them all. */
const fewPages = 3

/** Of a list that is read page by page; one answer is one page. */
export const isShort = (data: unknown): boolean =>
  ((data as { pages?: readonly unknown[] } | undefined)?.pages?.length ?? 1) <= fewPages

const readEvery =
  (everyMs: number) =>
  ({ state }: { state: { data: unknown } }): number | false =>
    isShort(state.data) && everyMs

type Key = readonly (string | number | undefined | Record<string, unknown>)[]

interface AskOptions {
  readonly everyMs?: number
  readonly enabled?: boolean
  /** While the next answer is on its way, the last one stays: for lists whose filter changes. */
  readonly keeps?: boolean
}

export function useAsk<Data>(key: Key, ask: () => Promise<Data>, { everyMs, enabled, keeps }: AskOptions = {}) {
  const { id } = useEnvironment()
  return useQuery({
    queryKey: [id, ...key],
    queryFn: ask,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(keeps === true ? { placeholderData: keepPreviousData } : {}),
  })
}

/** A list that is shown page by page; `fetchNextPage` adds one. */
export function useAskPages<Page extends { readonly hasMore: boolean }>(
  key: Key,
  ask: (page: number) => Promise<Page>,
) {
  const { id } = useEnvironment()
  return useInfiniteQuery({
    queryKey: [id, ...key],
    queryFn: ({ pageParam }) => ask(pageParam),
    initialPageParam: 0,
    getNextPageParam: ({ hasMore }, pages) => (hasMore ? pages.length : undefined),
  })
}

interface PageOfRows<Row> {
  readonly data: readonly Row[]
  /** Lists by cursor. */
  readonly next?: string | null
  /** Lists by page. */
  readonly hasMore?: boolean
  readonly totalCount?: number
}

interface Place {
  readonly page: number
  /** As a query takes it: nothing for the first page. */
  readonly cursor: { readonly after?: string }
}

const firstPlace: Place = { page: 0, cursor: {} }

/** A whole list, however long: as what a table takes, with a way to the next page. */
export function useAskRows<Row>(
  key: Key,
  ask: (at: Place) => Promise<PageOfRows<Row>>,
  { everyMs, enabled = true }: { everyMs?: number; enabled?: boolean } = {},
) {
  const { id } = useEnvironment()
  const asked = useInfiniteQuery({
    enabled,
    queryKey: [id, ...key],
    queryFn: ({ pageParam }) => ask(pageParam),
    initialPageParam: firstPlace,
    placeholderData: keepPreviousData,
    ...(everyMs === undefined ? {} : { refetchInterval: readEvery(everyMs) }),
    getNextPageParam: ({ next, hasMore }, pages): Place | undefined =>
      typeof next === 'string' || hasMore === true
        ? { page: pages.length, cursor: typeof next === 'string' ? { after: next } : {} }
        : undefined,
  })
  const loaded = asked.data?.pages.reduce((sum, { data }) => sum + data.length, 0)
  return {
    total: asked.data?.pages[0]?.totalCount,
    /** The last row that was read. */
    last: asked.data?.pages.findLast(({ data }) => data.length > 0)?.data.at(-1),
    /** As far as it was read, for lists that are not counted. */
    count: loaded === undefined ? undefined : `${loaded.toLocaleString('en')}${asked.hasNextPage ? '+' : ''}`,
    table: {
      of: asked,
      rowsOf: ({ pages }: { pages: readonly PageOfRows<Row>[] }): Row[] => pages.flatMap(({ data }) => data),
      more: () => (asked.hasNextPage ? () => void asked.fetchNextPage() : undefined),
      loadingMore: asked.isFetchingNextPage,
      moreError: asked.isFetchNextPageError ? asked.error : null,
    },
  }
}

/** Does something, says so, and asks again for whatever begins with one of `touches`. */
export function useChange<Input, Data>(
  change: (input: Input) => Promise<Data>,
  {
    touches = [],
    says,
    undo,
    onDone,
    quiet = false,
    leaves = false,
  }: {
    touches?: readonly string[]
    says?: string | ((data: Data, input: Input) => string)
    /** Takes it back: offered beside what is said. */
    undo?: (input: Input, data: Data) => Promise<unknown>
    onDone?: (data: Data, input: Input) => void
    /** The page shows the error itself. */
    quiet?: boolean
    /** The page is left for another: what it showed is gone, and must not be asked for again. */
    leaves?: boolean
  } = {},
) {
  const { id } = useEnvironment()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: async (data, input) => {
      // What no page shows is forgotten, so that the list one comes back to never shows what was just deleted.
      if (leaves) for (const name of touches) queries.removeQueries({ queryKey: [id, name], type: 'inactive' })
      await Promise.all(
        touches.map((name) =>
          queries.invalidateQueries({ queryKey: [id, name], refetchType: leaves ? 'none' : 'active' }),
        ),
      )
      // Once the page is of another environment, the call would be made there.
      const takeBack =
        undo === undefined || !callsGoTo(id)
          ? undefined
          : () => {
              if (!callsGoTo(id)) return
              void undo(input, data).then(() => {
                for (const name of touches) void queries.invalidateQueries({ queryKey: [id, name] })
                say('Undone')
              }, sayError)
            }
      if (says !== undefined) say(typeof says === 'string' ? says : says(data, input), 'good', takeBack)
      onDone?.(data, input)
    },
    ...(quiet ? {} : { onError: sayError }),
  })
}
