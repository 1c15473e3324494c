// Where a workflow was promoted to: the environments that one is signed in to, since when, and which version they have.
import { useQueries, useQueryClient } from '@tanstack/react-query'
import type { Client, Schemas } from '../../api.ts'
import { ApiError, answerOf, clientOf } from '../../api.ts'
import { useEnvironment, useSessions } from '../../session.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Time } from '../../ui/time.tsx'
import { isSameFiles } from './struck-out.ts'

type Workflow = Schemas['Workflow']
type Caller = Client

interface Promotion {
  /** The number that the version there has here; undefined when it is none of ours. */
  readonly number?: number | undefined
  /** How many were saved here since. */
  readonly behind: number
  /** When it was saved there. */
  readonly at: string
}

const staleMs = 60_000
/** What was promoted longer ago is another version all the same. */
const versionsMax = 100

/** As files, which say nothing of one environment; whether it is switched on there is no part of a version. */
async function filesOf(caller: Caller, workflowId: string, version: string) {
  const { files } = await answerOf(
    caller.GET('/v1/workflows/{workflowId}/versions/{version}/files', { params: { path: { workflowId, version } } }),
  )
  return files.map(({ path, text }, place) => ({ path, text: place === 0 ? text.replace(/^active: .*\n/m, '') : text }))
}

const versionsOf = (caller: Caller, workflowId: string, limit: number) =>
  answerOf(
    caller.GET('/v1/workflows/{workflowId}/versions', { params: { path: { workflowId }, query: { page: 0, limit } } }),
  )

/** The workflow with the same identifier; null when there is none. */
async function twinOf(there: Caller, identifier: string): Promise<Workflow | null> {
  // Searched for first: that there is none is the usual case, and browsers report a 404 as an error.
  const found = await answerOf(there.GET('/v1/workflows', { params: { query: { query: identifier, limit: 100 } } }))
  const twin = found.data.find(({ triggers }) => triggers[0]?.identifier === identifier)
  if (twin !== undefined || !found.hasMore) return twin ?? null
  try {
    return await answerOf(there.GET('/v1/workflows/{workflowId}', { params: { path: { workflowId: identifier } } }))
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** What is here: asked for once, however many environments it is compared with. */
interface Own {
  versions(): ReturnType<typeof versionsOf>
  files(version: string): ReturnType<typeof filesOf>
}

/** Null when it is not there. */
async function promotionOf(there: Caller, workflow: Workflow, own: Own): Promise<Promotion | null> {
  const twin = await twinOf(there, workflow.triggers[0]?.identifier ?? '')
  if (twin === null) return null
  const [newest, theirs, ours] = await Promise.all([
    versionsOf(there, twin._id, 1),
    filesOf(there, twin._id, 'current'),
    own.versions(),
  ])
  const at = newest.data[0]?.createdAt ?? ''
  const current = ours.data.find(({ isCurrent }) => isCurrent)?.number ?? 0
  if (isSameFiles(theirs, await own.files('current'))) return { number: current, behind: 0, at }
  // What was promoted then was the newest of its time.
  const then = ours.data.find(({ number, createdAt }) => number !== current && createdAt <= at)?.number
  const isIt = then !== undefined && isSameFiles(theirs, await own.files(String(then)))
  return isIt ? { number: then, behind: current - then, at } : { behind: 0, at }
}

export function PromotedTo({ workflow }: { workflow: Workflow }) {
  const here = useEnvironment()
  const sessions = useSessions()
  const others = (sessions.data ?? []).map(({ environment }) => environment).filter(({ _id }) => _id !== here.id)
  const queries = useQueryClient()
  const once = <Data,>(what: string, queryFn: () => Promise<Data>): Promise<Data> =>
    queries.fetchQuery({
      queryKey: [here.id, 'promoted', workflow._id, workflow.updatedAt, what],
      queryFn,
      staleTime: staleMs,
    })
  // Asked for after others have answered, when the page may be of another environment.
  const ours = clientOf(here.id)
  const own: Own = {
    versions: () => once('versions', () => versionsOf(ours, workflow._id, versionsMax)),
    files: (version) => once(version, () => filesOf(ours, workflow._id, version)),
  }
  const asked = useQueries({
    queries: others.map(({ _id }) => ({
      queryKey: [_id, 'promoted', workflow._id, workflow.updatedAt],
      queryFn: () => promotionOf(clientOf(_id), workflow, own),
      staleTime: staleMs,
    })),
  })
  if (others.length === 0) return null
  return (
    <ul aria-label="Other environments" className="flex flex-wrap gap-x-3 text-xs text-ink-3">
      {others.map(({ _id, name }, place) => (
        <li key={_id} className="inline-flex items-center gap-1">
          <Icon name="promote" size={12} />
          <Words name={name} promotion={asked[place]?.data} isUnknown={asked[place]?.isError === true} />
        </li>
      ))}
    </ul>
  )
}

function Words({
  name,
  promotion,
  isUnknown,
}: {
  name: string
  promotion: Promotion | null | undefined
  isUnknown: boolean
}) {
  if (promotion === null) return <>Not in {name} yet</>
  if (promotion === undefined) return isUnknown ? <>What {name} has is not known</> : <>{name} …</>
  const { number, behind, at } = promotion
  const saves = behind === 1 ? '1 save' : `${behind} saves`
  return (
    <span>
      {number === undefined
        ? `${name} has another version, saved `
        : behind === 0
          ? `${name} has this version, promoted `
          : `${name} has version ${number}, ${saves} behind, promoted `}
      <Time at={at} />
    </span>
  )
}
