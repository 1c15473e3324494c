// The versions of a workflow: what changed from one to the next, and taking an old one back.
import { useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { ApiError, answerOf, client } from '../../api.ts'
import { useAsk, useAskPages, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, Choice } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Diff, DiffSize } from '../../ui/diff.tsx'
import { BackTo, MoreButton } from '../../ui/list.tsx'
import { Answered, Empty, Fault, Notice, Page, Section } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { exactTime, Time } from '../../ui/time.tsx'

type Version = Schemas['WorkflowVersion']
type Against = 'before' | 'current'
const pageSize = 50

/** One page, newest first. */
const versionsOf = (workflowId: string, query: { page: number; limit: number }) =>
  answerOf(client.GET('/v1/workflows/{workflowId}/versions', { params: { path: { workflowId }, query } }))

export function VersionsPage() {
  const { workflowId = '' } = useParams({ strict: false }) as { workflowId?: string }
  const search = useSearch({ strict: false }) as { version?: string; with?: Against }
  const go = useGo()
  const versions = useAskPages(['workflows', 'versions', workflowId], (page) =>
    versionsOf(workflowId, { page, limit: pageSize }),
  )
  const first = versions.data?.pages[0]
  const at = `/workflows/${workflowId}`
  return (
    <Page
      title="Versions"
      count={first?.totalCount?.toLocaleString('en')}
      lead="Every save is a version. Running notifications continue with the version they started with."
      above={<BackTo to={at}>{first?.data[0]?.name ?? 'Workflow'}</BackTo>}
    >
      <Answered of={versions}>
        {({ pages }) => {
          // A version saved meanwhile moves the others to later pages: none is listed twice.
          const data = [...new Map(pages.flatMap((page) => page.data).map((one) => [one.number, one])).values()]
          const asked = search.version ?? String(data[0]?.number)
          const chosen = data.find(({ number }) => String(number) === asked)
          const detail = (version: Version) => (
            <VersionDetail
              key={version.number}
              workflowId={workflowId}
              version={version}
              current={data.find(({ isCurrent }) => isCurrent)?.number ?? 0}
              onConflict={() => void versions.refetch()}
              against={search.with ?? 'before'}
              onAgainst={(next) =>
                go(`${at}/versions`, { ...search, version: String(version.number), with: next }, { replace: true })
              }
            />
          )
          return (
            <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[280px_minmax(0,1fr)]">
              <nav aria-label="Versions" className="card max-h-[75vh] overflow-y-auto max-lg:max-h-64">
                {data.map((one) => (
                  <Entry
                    key={one.number}
                    version={one}
                    isChosen={one === chosen}
                    onChoose={() => go(`${at}/versions`, { ...search, version: String(one.number) }, { replace: true })}
                  />
                ))}
                <MoreButton
                  more={versions.hasNextPage ? () => void versions.fetchNextPage() : undefined}
                  busy={versions.isFetchingNextPage}
                  error={versions.isFetchNextPageError ? versions.error : null}
                />
              </nav>
              {chosen === undefined ? (
                <OlderVersion workflowId={workflowId} asked={asked} newest={data[0]?.number ?? 0}>
                  {detail}
                </OlderVersion>
              ) : (
                detail(chosen)
              )}
            </div>
          )
        }}
      </Answered>
    </Page>
  )
}

/** A version that the address names and the list does not show yet. */
function OlderVersion({
  workflowId,
  asked,
  newest,
  children,
}: {
  workflowId: string
  asked: string
  newest: number
  children: (version: Version) => ReactNode
}) {
  // Numbers have no gaps, so a version's number says its place in the list.
  const page = newest - Number(asked)
  const isPossible = Number.isInteger(page) && page >= 0 && page < newest
  const found = useAsk(
    ['workflows', 'version', workflowId, asked, page],
    async () =>
      (await versionsOf(workflowId, { page, limit: 1 })).data.find(({ number }) => String(number) === asked) ?? null,
    { enabled: isPossible },
  )
  const missing = (
    <div className="card">
      <Empty icon="history" title={`There is no version ${asked}`} />
    </div>
  )
  if (!isPossible) return missing
  return <Answered of={found}>{(one) => (one === null ? missing : children(one))}</Answered>
}

function Entry({ version, isChosen, onChoose }: { version: Version; isChosen: boolean; onChoose: () => void }) {
  return (
    <button
      type="button"
      aria-current={isChosen}
      onClick={onChoose}
      className={`flex w-full items-center gap-2 border-b border-line px-4 py-2.5 text-left last:border-0 ${isChosen ? 'bg-accent-bg' : 'hover:bg-bg-2'}`}
    >
      <span className="min-w-0 flex-1">
        <span className="block font-medium">Version {version.number}</span>
        <span className="block text-xs text-ink-2">
          <Time at={version.createdAt} />, {version.steps === 1 ? '1 step' : `${version.steps} steps`}
        </span>
      </span>
      {version.isCurrent && <Badge tone="green">Current</Badge>}
    </button>
  )
}

function VersionDetail({
  workflowId,
  version,
  current,
  onConflict,
  against,
  onAgainst,
}: {
  workflowId: string
  version: Version
  /** The number of the current one, as the page shows it. */
  current: number
  onConflict: () => void
  against: Against
  onAgainst: (next: Against) => void
}) {
  const go = useGo()
  const mayChange = useMayChange('workflows:write')
  /** The version that was current when it was asked for. */
  const [restoringFrom, setRestoringFrom] = useState<number>()
  const isFirst = version.number === 1
  // The first has nothing before it, the current one nothing after it.
  const shown: Against = version.isCurrent ? 'before' : isFirst ? 'current' : against
  const from = shown === 'current' ? version.number : version.number - 1
  const diff = useAsk(
    ['workflows', 'diff', workflowId, from, shown === 'current' ? 'current' : version.number],
    () =>
      answerOf(
        client.GET('/v1/workflows/{workflowId}/versions/{version}/diff', {
          params: {
            path: { workflowId, version: String(from) },
            query: shown === 'current' ? {} : { to: String(version.number) },
          },
        }),
      ),
    { enabled: from > 0 },
  )
  const restore = useChange(
    (ifCurrent: number) =>
      answerOf(
        client.POST('/v1/workflows/{workflowId}/versions/{version}/restore', {
          params: { path: { workflowId, version: String(version.number) }, query: { ifCurrent } },
        }),
      ),
    {
      touches: ['workflows'],
      says: `Version ${version.number} is restored, as a new version`,
      leaves: true,
      quiet: true,
      onDone: () => go(`/workflows/${workflowId}`),
    },
  )
  const isOvertaken =
    (restoringFrom !== undefined && restoringFrom !== current) ||
    (restore.error instanceof ApiError && restore.error.status === 409)
  return (
    <Section
      title={`Version ${version.number}, ${exactTime(version.createdAt)}`}
      actions={
        <div className="flex flex-wrap items-center gap-2">
          {!version.isCurrent && !isFirst && (
            <Choice
              label="Compared with"
              value={shown}
              options={[
                ['before', 'What it changed'],
                ['current', 'Changed since'],
              ]}
              onChange={onAgainst}
            />
          )}
          {mayChange && !version.isCurrent && (
            <Button
              icon="history"
              onClick={() => {
                restore.reset()
                setRestoringFrom(current)
              }}
            >
              Restore
            </Button>
          )}
        </div>
      }
    >
      {from === 0 ? (
        <Empty icon="history" title="The first version">
          Save a change in the editor, and the difference is shown here.
        </Empty>
      ) : (
        <Answered of={diff}>
          {({ lines }) =>
            lines.length === 0 ? (
              <Empty icon="check" title="No difference">
                {shown === 'current'
                  ? 'The current version says the same.'
                  : 'Only what may be secret changed, or nothing that is written to files.'}
              </Empty>
            ) : (
              <div className="flex flex-col gap-2 p-4">
                <p className="flex items-center justify-between gap-2 text-ink-2">
                  {shown === 'current'
                    ? `From version ${version.number} to the current one`
                    : `From version ${from} to version ${version.number}`}
                  <DiffSize lines={lines} />
                </p>
                <Diff label="Difference" lines={lines} />
              </div>
            )
          }
        </Answered>
      )}
      {restoringFrom !== undefined && (
        <Dialog
          title={`Restore version ${version.number}`}
          onClose={() => setRestoringFrom(undefined)}
          footer={
            <>
              <Button onClick={() => setRestoringFrom(undefined)}>Keep the current one</Button>
              <Button
                look="primary"
                busy={restore.isPending}
                disabled={isOvertaken}
                onClick={() => restore.mutate(restoringFrom, { onError: onConflict })}
              >
                Restore
              </Button>
            </>
          }
        >
          <div className="flex flex-col gap-3">
            {isOvertaken ? (
              <Notice tone="warning">
                Someone else saved this workflow while you were looking. Nothing was restored: close this, look at the
                newest version, and restore again if you still want to.
              </Notice>
            ) : (
              <Fault error={restore.error} />
            )}
            <p className="text-ink-2">
              New events use the content of version {version.number} from then on. It is saved as a new version, so
              nothing is lost; running notifications continue with theirs.
            </p>
          </div>
        </Dialog>
      )}
    </Section>
  )
}
