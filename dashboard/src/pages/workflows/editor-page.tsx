// The workflow editor: the flow on the left, the chosen step in the middle, what would happen on the right.
import { useParams } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../../api.ts'
import { ApiError, answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, IconButton } from '../../ui/controls.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { DeleteByTyping, SaveButtons, SaveNotices } from '../../ui/edit-page.tsx'
import { Icon } from '../../ui/icons.tsx'
import { showTop } from '../../ui/in-sight.ts'
import { Menu } from '../../ui/menu.tsx'
import { Answered, useTitle } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import type { Draft, Json } from './draft.ts'
import { bodyOf, draftOf, earlierOf, forgetDraft, keepDraft, keptDraft, rebased } from './draft.ts'
import { Flow } from './flow.tsx'
import { GeneralForm } from './general-form.tsx'
import { Preview } from './preview.tsx'
import { Promote } from './promote.tsx'
import { PromotedTo } from './promoted-to.tsx'
import { VariablesContext } from './step-fields.tsx'
import { StepForm } from './step-form.tsx'
import { underKeysOf } from './step-keys.ts'
import { WorkflowAsText } from './workflow-as-text.tsx'

type Workflow = Schemas['Workflow']

/** As a save would send them; a member that was taken away and is there again is in another place, and means the same. */
const isSame = (one: Draft, other: Draft): boolean => ordered(bodyOf(one)) === ordered(bodyOf(other))

const ordered = (body: Json): string =>
  JSON.stringify(body, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )

export function EditorPage() {
  const { workflowId = '' } = useParams({ strict: false }) as { workflowId?: string }
  const workflow = useAsk(['workflows', 'one', workflowId], () =>
    answerOf(client.GET('/v1/workflows/{workflowId}', { params: { path: { workflowId } } })),
  )
  return (
    <Answered of={workflow}>
      {(one) => <Editor key={one._id} workflow={one} reload={() => workflow.refetch()} />}
    </Answered>
  )
}

function Editor({ workflow, reload }: { workflow: Workflow; reload: () => Promise<unknown> }) {
  useTitle(workflow.name)
  const go = useGo()
  const mayChange = useMayChange('workflows:write')
  const base = draftOf(workflow)
  const kept = keptDraft(workflow._id)
  const [draft, setDraft] = useState<Draft>(kept?.draft ?? base)
  const [madeFrom, setMadeFrom] = useState(kept?.updatedAt ?? workflow.updatedAt ?? '')
  const [chosen, setChosen] = useState<string>(draft.steps[0]?.key ?? 'general')
  const [isValid, setValid] = useState(true)
  /** A form begins again when its changes are discarded, or someone else saved others. */
  const [discards, setDiscards] = useState(0)
  const [panel, setPanel] = useState<'file' | 'promote' | 'delete'>()
  const [seen, setSeen] = useState(workflow)
  // Someone else's save is shown at once where nothing was changed here: there is nothing that would overwrite it.
  if (seen !== workflow) {
    setSeen(workflow)
    if (isSame(draft, draftOf(seen))) {
      setDraft({ ...base, steps: underKeysOf(draft.steps, base.steps) })
      setMadeFrom(workflow.updatedAt ?? '')
      if (!isSame({ ...draft, active: base.active }, base)) setDiscards(discards + 1)
    }
  }
  const isChanged = !isSame(draft, base)
  const isOvertaken = isChanged && madeFrom !== workflow.updatedAt
  useEffect(() => {
    if (isChanged) keepDraft(workflow._id, { draft, updatedAt: madeFrom })
    else forgetDraft(workflow._id)
  }, [workflow._id, draft, isChanged, madeFrom])
  const params = { params: { path: { workflowId: workflow._id } } }
  const put = async (body: Json): Promise<Workflow> => {
    // What was saved after this page last looked is not overwritten; what it has warned of is.
    const query = workflow.updatedAt === undefined ? {} : { ifUpdatedAt: workflow.updatedAt }
    const known = { params: { ...params.params, query } }
    try {
      const saved = await answerOf(client.PATCH('/v1/workflows/{workflowId}', { ...known, body: body as never }))
      return saved as Workflow
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) await reload()
      throw error
    }
  }
  const save = useChange((next: Draft) => put(bodyOf(next)), {
    touches: ['workflows'],
    says: 'Saved. New events use this version; running notifications keep theirs.',
    quiet: true,
    onDone: (saved, sent) => {
      setDraft((now) => rebased(now, sent, draftOf(saved)))
      setMadeFrom(saved.updatedAt ?? '')
    },
  })
  // The switch alone: what is not saved yet stays so.
  const turn = useChange((active: boolean) => put({ active }), {
    touches: ['workflows'],
    says: (_data, active) =>
      active ? 'It is live: new events run it' : 'It is off: new events are refused, running notifications go on',
    onDone: (saved, active) => {
      setDraft((now) => ({ ...now, active }))
      if (!isOvertaken) setMadeFrom(saved.updatedAt ?? '')
    },
  })
  const remove = useChange(() => answerOf(client.DELETE('/v1/workflows/{workflowId}', params)), {
    touches: ['workflows'],
    says: 'The workflow is deleted',
    leaves: true,
    onDone: () => {
      forgetDraft(workflow._id)
      go('/workflows')
    },
  })
  const discard = () => {
    setDraft(base)
    setMadeFrom(workflow.updatedAt ?? '')
    if (chosen !== 'general') setChosen(base.steps[0]?.key ?? 'general')
    setDiscards(discards + 1)
    save.reset()
  }
  const form = useRef<HTMLDivElement>(null)
  const choose = (key: string) => {
    setChosen(key)
    showTop(form.current)
  }
  const variables = workflow.triggers[0]?.variables.map(({ name }) => name) ?? []
  const step = draft.steps.find(({ key }) => key === chosen)
  const fields = save.error !== null && 'fields' in save.error ? (save.error.fields as Record<string, string>) : {}
  return (
    <div className="flex min-h-screen flex-col">
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-3 sm:px-6">
        <div className="min-w-0 flex-1 basis-56">
          <EnvLink to="/workflows" className="inline-flex items-center gap-1 text-xs text-ink-2 hover:text-ink">
            <Icon name="left" size={10} /> Workflows
          </EnvLink>
          <div className="flex flex-wrap items-center gap-2">
            <h1 dir="auto" className="min-w-0 text-lg font-semibold tracking-tight break-words">
              {draft.name}
            </h1>
            <Badge tone={workflow.active ? 'green' : 'grey'} icon={workflow.active ? 'check' : 'minus'}>
              {workflow.active ? 'Live' : 'Off'}
            </Badge>
            {isChanged ? (
              <Badge tone="amber">Not saved</Badge>
            ) : (
              <span className="text-xs text-ink-3">
                Saved {workflow.updatedAt !== undefined && <Time at={workflow.updatedAt} />}
              </span>
            )}
            <CopyText text={workflow.triggers[0]?.identifier ?? workflow._id} whole />
          </div>
          <PromotedTo workflow={workflow} />
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {mayChange && (
            <>
              <Button busy={turn.isPending} disabled={save.isPending} onClick={() => turn.mutate(!workflow.active)}>
                {workflow.active ? 'Switch off' : 'Switch on'}
              </Button>
              <SaveButtons
                isChanged={isChanged}
                isValid={isValid}
                save={save}
                onSave={() => save.mutate(draft)}
                onDiscard={discard}
              />
            </>
          )}
          <Menu
            label="More"
            button={<IconButton name="more" label="More" />}
            items={[
              { text: 'Versions', icon: 'history', onSelect: () => go(`/workflows/${workflow._id}/versions`) },
              { text: 'Promote to another environment', icon: 'promote', onSelect: () => setPanel('promote') },
              { text: 'View as file or API call', icon: 'code', onSelect: () => setPanel('file') },
              { text: 'Its activity', icon: 'activity', onSelect: () => go('/activity', { workflow: workflow._id }) },
              ...(mayChange
                ? ([
                    'line',
                    { text: 'Delete the workflow', icon: 'trash', danger: true, onSelect: () => setPanel('delete') },
                  ] as const)
                : []),
            ]}
          />
        </div>
      </header>
      {(save.error !== null || isOvertaken) && (
        <div className="flex flex-col gap-2 px-4 pt-3 sm:px-6">
          <SaveNotices what="workflow" isOvertaken={isOvertaken} save={save} />
        </div>
      )}
      <div className="grid flex-1 grid-cols-1 items-start gap-4 p-4 sm:px-6 lg:grid-cols-[230px_minmax(0,1fr)] xl:grid-cols-[210px_minmax(0,1fr)_minmax(320px,360px)] 2xl:grid-cols-[280px_minmax(0,1fr)_minmax(380px,460px)]">
        <Flow
          draft={draft}
          chosen={chosen}
          errors={fields}
          mayChange={mayChange}
          onChoose={choose}
          onChange={setDraft}
        />
        <VariablesContext value={variables}>
          <div ref={form} className="card min-w-0 scroll-mt-16 lg:scroll-mt-4">
            {step === undefined ? (
              <GeneralForm draft={draft} mayChange={mayChange} onChange={setDraft} />
            ) : (
              <StepForm
                key={`${step.key} ${discards}`}
                step={step}
                saved={step._id === undefined ? undefined : base.steps.find(({ _id }) => _id === step._id)}
                place={draft.steps.indexOf(step)}
                earlier={earlierOf(draft, step)}
                errors={fields}
                mayChange={mayChange}
                onValid={setValid}
                onChange={(next) =>
                  setDraft({ ...draft, steps: draft.steps.map((one) => (one.key === step.key ? next : one)) })
                }
              />
            )}
          </div>
        </VariablesContext>
        <div
          data-scrolls
          className="min-w-0 max-xl:lg:col-span-2 xl:sticky xl:top-0 xl:-mx-1 xl:max-h-dvh xl:overflow-y-auto xl:px-1 xl:pb-4"
        >
          <Preview
            workflowId={workflow._id}
            identifier={workflow.triggers[0]?.identifier ?? workflow._id}
            firstStepId={workflow.steps[0]?._id}
            draft={draft}
            chosen={step}
          />
        </div>
      </div>
      {panel === 'file' && (
        <WorkflowAsText workflow={workflow} draft={draft} isChanged={isChanged} onClose={() => setPanel(undefined)} />
      )}
      {panel === 'promote' && <Promote workflow={workflow} isChanged={isChanged} onClose={() => setPanel(undefined)} />}
      {panel === 'delete' && (
        <DeleteByTyping
          what="workflow"
          of={{
            word: workflow.triggers[0]?.identifier ?? workflow.name,
            means: 'It can no longer be triggered. Running notifications continue, and the activity is kept.',
            isPending: remove.isPending,
            onConfirm: () => remove.mutate(undefined),
          }}
          onClose={() => setPanel(undefined)}
        />
      )}
    </div>
  )
}
