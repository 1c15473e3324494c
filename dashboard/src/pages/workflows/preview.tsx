// What would happen: the workflow as it stands in the editor, or as it is saved, simulated for a person and a payload, without sending
// anything.
import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useEnvironment, useMayChange } from '../../session.tsx'
import { Button, TextField } from '../../ui/controls.tsx'
import { Icon, iconOfStep } from '../../ui/icons.tsx'
import { showWithin } from '../../ui/in-sight.ts'
import { JsonField } from '../../ui/json-field.tsx'
import { Bubble, EmailView } from '../../ui/message-frame.tsx'
import { Fault, Loading, Notice, Section } from '../../ui/page.tsx'
import type { Pickable } from '../../ui/picker.tsx'
import { readable } from '../../ui/sentences.ts'
import type { Tone } from '../../ui/status.tsx'
import { Badge } from '../../ui/status.tsx'
import { duration, exactTime } from '../../ui/time.tsx'
import { textOfContent } from '../activity/sent-messages.tsx'
import { useProviderName } from '../integrations/provider-names.ts'
import { SubscriberPicker } from '../subscribers/subscriber-picker.tsx'
import type { Draft, DraftStep, Json } from './draft.ts'
import { bodyOf } from './draft.ts'
import { stepSchema } from './step-schemas.ts'
import { unfinishedOf } from './unfinished.ts'

const settleMs = 400

function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  const text = JSON.stringify(value)
  // biome-ignore lint/correctness/useExhaustiveDependencies: compared by what it holds
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settleMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

export function Preview({
  workflowId,
  identifier,
  firstStepId,
  draft,
  chosen,
}: {
  workflowId: string
  identifier: string
  firstStepId: string | undefined
  draft: Draft
  chosen: DraftStep | undefined
}) {
  const mayChange = useMayChange()
  const mayTry = useMayTry()
  const [person, setPerson] = useState<Pickable>()
  const [locale, setLocale] = useState('')
  const [payload, setPayload] = useState<Json>()
  const [isValid, setValid] = useState(true)
  const example = useAsk(
    ['workflows', 'example', workflowId],
    async () => {
      const answer = await answerOf(
        client.POST('/v1/workflows/{workflowId}/steps/{stepId}/preview', {
          params: { path: { workflowId, stepId: firstStepId ?? '' } },
          body: {},
        }),
      )
      return (answer.previewPayloadExample.payload ?? {}) as Json
    },
    { enabled: firstStepId !== undefined },
  )
  const sample = payload ?? example.data ?? {}
  const inLocale = locale.trim() === '' ? {} : { locale: locale.trim() }
  const to =
    person === undefined
      ? {
          subscriberId: 'preview-person',
          firstName: 'Ada',
          lastName: 'Lovelace',
          email: 'ada@example.com',
          phone: '+4915112345678',
          ...inLocale,
        }
      : { subscriberId: person.id, ...inLocale }
  const workflow = { ...bodyOf(draft), active: true } as Json
  const which: { workflow?: Json; name?: string } = mayTry ? { workflow } : { name: identifier }
  const asked = useSettled({ ...which, to, payload: sample })
  const unfinished =
    asked.workflow === undefined ? [] : unfinishedOf(stepSchema, asked.workflow.steps as readonly Json[])
  const simulation = useAsk(
    ['simulate', { asked }],
    () => answerOf(client.POST('/v1/events/simulate', { body: asked as never })),
    { keeps: true, enabled: unfinished.length === 0 && (firstStepId === undefined || example.isFetched) },
  )
  const send = useChange(
    () =>
      answerOf(
        client.POST('/v1/workflows/{workflowId}/test', {
          params: { path: { workflowId } },
          // A test is sent as they are: only the preview looks at another locale.
          body: { to: person === undefined ? to : person.id, payload: sample, skipDelays: true } as never,
        }),
      ),
    { touches: ['activity', 'outbox'], says: 'The saved version was sent as a test; it is in the activity' },
  )
  // The one before is of other steps.
  const simulated = unfinished.length > 0 ? undefined : simulation.data
  const steps = simulated?.recipients?.[0]?.steps ?? []
  const list = useRef<HTMLOListElement>(null)
  // With each step that is chosen, and once what it would do is known.
  // biome-ignore lint/correctness/useExhaustiveDependencies: where they stand is read from the page
  useEffect(
    () => showWithin(list.current?.closest<HTMLElement>('[data-scrolls]') ?? null, '[data-chosen]'),
    [chosen?.key, steps.length],
  )
  const nothing = nothingFor[simulated?.status ?? '']
  // A draft may be left over of someone who may no longer save it: its steps are not the saved ones.
  const keyOf = (index: number) => (mayTry ? draft.steps[index]?.key : undefined)
  return (
    <Section
      title="What would happen"
      actions={
        mayChange && (
          <Button icon="send" disabled={!isValid} busy={send.isPending} onClick={() => send.mutate(undefined)}>
            Send a test
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4 p-4">
        <div className="flex flex-col gap-1">
          <span aria-hidden="true" className="text-sm font-medium">
            For
          </span>
          <SubscriberPicker label="For" all="Ada Lovelace, made up" value={person} onPick={setPerson} />
        </div>
        <TextField
          label="Locale"
          placeholder={person === undefined ? 'en, de, ar …' : 'Theirs, or another: en, de, ar …'}
          value={locale}
          maxLength={35}
          onText={setLocale}
        />
        <JsonField label="With the payload" value={sample} onValue={setPayload} onValid={setValid} />
        {unfinished.length > 0 && (
          <Notice tone="info">
            What would happen is shown once this is filled in:
            <ul className="list-disc pl-4">
              {unfinished.map((words) => (
                <li key={words}>{words}</li>
              ))}
            </ul>
          </Notice>
        )}
        {!mayTry && <p className="text-xs text-ink-2">This is what the saved version does.</p>}
        <Fault error={simulation.error} />
        {simulated?.error !== undefined && simulated.error.length > 0 && (
          <Notice tone="error">{simulated.error.join(' ')}</Notice>
        )}
        {nothing !== undefined && <Notice tone="info">{nothing}</Notice>}
        {simulation.data === undefined && simulation.error === null && unfinished.length === 0 && <Loading rows={4} />}
        <ol ref={list} className="flex flex-col gap-4" aria-live="polite">
          {steps.map((step, index) => (
            <SimulatedStep
              // Ids of steps that are not saved are made for each simulation; how a message is looked at outlives it.
              key={keyOf(index) ?? step.stepId}
              step={step}
              startedAt={simulated?.at ?? ''}
              isChosen={!mayTry || chosen === undefined || keyOf(index) === chosen.key}
            />
          ))}
        </ol>
        {simulated?.assumptions?.map((sentence) => (
          <p key={sentence} className="text-xs text-ink-3">
            {sentence}
          </p>
        ))}
        <EnvLink to="/activity" search={{ workflow: workflowId }} className="link text-xs">
          What it did so far
        </EnvLink>
      </div>
    </Section>
  )
}

/** Whether what is not saved may be simulated; for others it is the saved version. */
function useMayTry(): boolean {
  const { user } = useEnvironment().session
  const mayChange = useMayChange()
  const maySave = useMayChange('workflows:write')
  return mayChange || (maySave && user !== undefined)
}

/** Why nothing would happen at all. */
const nothingFor: Readonly<Record<string, string>> = {
  trigger_not_active: 'It is switched off: an event does nothing.',
  no_workflow_steps_defined: 'It has no step yet: an event does nothing.',
  no_workflow_active_steps_defined: 'No step of it is switched on: an event does nothing.',
}

/** Names people know instead of ids. */
const byProvider = /through (\S+) \(integration [^)]+\)/

const outcomes: Readonly<Record<string, readonly [Tone, string]>> = {
  run: ['green', 'Would run'],
  wait: ['amber', 'Would wait'],
  skip: ['grey', 'Skipped'],
  fail: ['red', 'Would fail'],
  merge: ['grey', 'Merged'],
  cancel: ['grey', 'Cancelled'],
  inactive: ['grey', 'Off'],
}

function SimulatedStep({
  step,
  startedAt,
  isChosen,
}: {
  step: Schemas['SimulatedStep']
  startedAt: string
  isChosen: boolean
}) {
  const providerName = useProviderName()
  const [tone, word] = outcomes[step.outcome] ?? ['grey', step.outcome]
  const afterMs = step.beginsAt === undefined ? 0 : new Date(step.beginsAt).getTime() - new Date(startedAt).getTime()
  return (
    <li className="flex flex-col gap-2" {...(isChosen ? { 'data-chosen': true } : {})}>
      <div className="flex flex-wrap items-center gap-2">
        <Icon name={iconOfStep(step.type)} className="text-ink-2" />
        <span className="font-medium">{step.name}</span>
        <Badge tone={tone}>{word}</Badge>
        {afterMs >= 1_000 && (
          <span
            className="text-xs text-ink-3"
            title={step.beginsAt === undefined ? undefined : exactTime(step.beginsAt)}
          >
            after {duration(afterMs)}
          </span>
        )}
      </div>
      <p className="text-ink-2">
        {readable(step.sentence).replace(byProvider, (_, provider: string) => `through ${providerName(provider)}`)}
      </p>
      {isChosen &&
        step.messages?.map((message) => (
          <SimulatedMessage
            key={`${message.channel}${message.integration?.identifier ?? ''}${message.email ?? message.phone ?? ''}`}
            message={message}
          />
        ))}
    </li>
  )
}

function SimulatedMessage({ message }: { message: Schemas['SimulatedMessage'] }) {
  const envelope = (message.envelope ?? {}) as { html?: string; text?: string }
  const html =
    envelope.html ?? (message.channel === 'email' && typeof message.content === 'string' ? message.content : undefined)
  if (message.errorText !== undefined) return <Notice tone="error">{message.errorText}</Notice>
  if (message.channel !== 'email')
    return (
      <Bubble
        channel={message.channel}
        title={message.title ?? message.subject}
        content={textOfContent(message.content)}
      />
    )
  return (
    <div className="flex flex-col gap-2">
      <p className="rounded-md border border-line px-3 py-2">
        <span className="text-ink-3">Subject </span>
        <span className="font-medium">{message.subject}</span>
      </p>
      {html === undefined ? (
        <Bubble channel="email" content={textOfContent(message.content)} />
      ) : (
        <EmailView html={html} text={envelope.text} subject={message.subject} height="h-[340px]" />
      )}
    </div>
  )
}
