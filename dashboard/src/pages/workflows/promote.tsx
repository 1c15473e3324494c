// Taking a workflow to another environment: what would change there is shown first. Both sides are asked with their own session.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client, clientOf } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useEnvironment, useSessions } from '../../session.tsx'
import { Button, buttonClass, Choice } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Diff, DiffSize } from '../../ui/diff.tsx'
import { Answered, Empty, Failed, Fault, Loading, Notice } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'

type Workflow = Schemas['Workflow']
type Change = Schemas['ConfigurationChange']
const resources: Readonly<Record<Change['kind'], string>> = {
  workflow: 'Workflow',
  layout: 'Layout',
  feed: 'Feed',
  translation: 'Texts',
}

export function Promote({
  workflow,
  isChanged,
  onClose,
}: {
  workflow: Workflow
  isChanged: boolean
  onClose: () => void
}) {
  const here = useEnvironment()
  const sessions = useSessions()
  const environments = useAsk(['environments'], () => answerOf(client.GET('/v1/environments')))
  const others = environments.data?.filter(({ _id }) => _id !== here.id) ?? []
  const [chosen, setChosen] = useState<string>()
  const target = others.find(({ _id }) => _id === chosen) ?? others.find(({ name }) => /prod/i.test(name)) ?? others[0]
  const isOpen = sessions.data?.some(({ environment }) => environment._id === target?._id) === true
  return (
    <Dialog title={`Promote ${workflow.name}`} width="max-w-3xl" onClose={onClose}>
      <Answered of={environments}>
        {() =>
          target === undefined ? (
            <Empty icon="promote" title="There is no other environment">
              Create one with the API, or with <code className="font-mono text-xs">npx posthorn environments</code>.
            </Empty>
          ) : (
            <div className="flex flex-col gap-4">
              {isChanged && <Notice tone="info">The saved version is promoted; your changes are not in it yet.</Notice>}
              {others.length > 1 && (
                <Choice
                  label="To which environment"
                  value={target._id}
                  options={others.map(({ _id, name }) => [_id, name] as const)}
                  onChange={setChosen}
                />
              )}
              {isOpen ? (
                <Plan key={target._id} workflow={workflow} target={target} onClose={onClose} />
              ) : (
                <Empty
                  icon="key"
                  title={`You are not signed in to ${target.name}`}
                  action={
                    <Link
                      to="/sign-in"
                      search={{ environment: target.name, to: `/${here.slug}/workflows/${workflow._id}` } as never}
                      className={buttonClass('primary')}
                    >
                      Sign in to {target.name}
                    </Link>
                  }
                >
                  Changing an environment takes a key of that environment.
                </Empty>
              )}
            </div>
          )
        }
      </Answered>
    </Dialog>
  )
}

function Plan({
  workflow,
  target,
  onClose,
}: {
  workflow: Workflow
  target: Schemas['Environment']
  onClose: () => void
}) {
  const queries = useQueryClient()
  const there = clientOf(target._id)
  const identifier = workflow.triggers[0]?.identifier ?? ''
  const exported = useAsk(['workflows', 'export', workflow._id, workflow.updatedAt], () =>
    answerOf(client.GET('/v1/configuration', { params: { query: { workflows: [identifier] } } })),
  )
  // Texts of other workflows stay there.
  const { notes: _notes, translations = [], ...parts } = exported.data ?? { notes: [] }
  const given = { ...parts, translations: translations.map((one) => ({ ...one, merge: true })) }
  const send = (body: typeof given, dryRun: boolean) =>
    answerOf(there.POST('/v1/configuration', { body: { ...body, dryRun, lines: dryRun } as never }))
  const plan = useQuery({
    // Another export is another plan: layouts and texts change without the workflow.
    queryKey: [target._id, 'promotion', workflow._id, workflow.updatedAt, exported.dataUpdatedAt],
    enabled: exported.data !== undefined,
    staleTime: 0,
    queryFn: async () => ({ planned: given, ...(await send(given, true)) }),
  })
  const promote = useChange((planned: typeof given) => send(planned, false), {
    says: `${workflow.name} is promoted to ${target.name}`,
    quiet: true,
    onDone: () => {
      void queries.invalidateQueries({ queryKey: [target._id] })
      onClose()
    },
  })
  const error = exported.error ?? plan.error
  if (error !== null) return <Failed error={error} />
  if (plan.data === undefined) return <Loading rows={4} />
  const { planned, changes, notes } = plan.data
  if (changes.length === 0)
    return (
      <Empty icon="check" title={`${target.name} is up to date`}>
        It has this version already, with the layouts and feeds it uses.
      </Empty>
    )
  return (
    <div className="flex flex-col gap-4">
      <p className="text-ink-2">
        This is what changes in {target.name}. Credentials of integrations are never taken along.
      </p>
      <Fault error={promote.error} />
      {notes.map((note) => (
        <Notice key={note} tone="warning">
          {note}
        </Notice>
      ))}
      {changes.map((change) => (
        <section key={`${change.kind}${change.identifier}`} className="flex flex-col gap-2">
          <h3 className="flex flex-wrap items-center gap-2">
            <span className="font-medium">{resources[change.kind]}</span>
            <span className="font-mono text-xs text-ink-2">{change.identifier}</span>
            <Badge tone={change.action === 'create' ? 'green' : 'blue'}>
              {change.action === 'create' ? 'New there' : 'Changes'}
            </Badge>
            <span className="ml-auto">
              <DiffSize lines={change.lines ?? []} />
            </span>
          </h3>
          <Diff label={`What changes in ${change.identifier}`} lines={change.lines ?? []} />
        </section>
      ))}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Not now</Button>
        <Button look="primary" icon="promote" busy={promote.isPending} onClick={() => promote.mutate(planned)}>
          Promote to {target.name}
        </Button>
      </div>
    </div>
  )
}
