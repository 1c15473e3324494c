// Stories of the states of a page, of dialogs and of news.
import { useState } from 'react'
import { ApiError } from '../api.ts'
import { Button } from '../ui/controls.tsx'
import { ConfirmByTyping, Dialog, FormDialog, ShownOnce } from '../ui/dialog.tsx'
import { DeleteByTyping, SaveButtons, SaveNotices } from '../ui/edit-page.tsx'
import { Answered, Empty, Failed, Fault, Loading, Notice, Section } from '../ui/page.tsx'
import { say } from '../ui/toast.tsx'
import type { Story } from './story.tsx'
import { Row, State } from './story.tsx'

const fault = new ApiError(500, { message: 'Something went wrong', errorId: '019b7ca9-8f2e-757d-ad65-a2d8f4e13205' })
const refetch = () => undefined

const States = () => (
  <Row>
    <State name="Nothing there yet">
      <Section title="Topics">
        <Empty icon="topic" title="No topics yet" action={<Button look="primary">New topic</Button>}>
          Named groups of subscribers.
        </Empty>
      </Section>
    </State>
    <State name="Loading">
      <Section title="Topics">
        <Loading rows={4} />
      </Section>
    </State>
    <State name="A fault of the service">
      <Section title="Topics">
        <Answered of={{ data: undefined, error: fault, refetch }}>{() => null}</Answered>
      </Section>
    </State>
    <State name="Not allowed">
      <Section title="Topics">
        <Failed error={new ApiError(403, { message: 'The key lacks the scope read' })} />
      </Section>
    </State>
    <State name="Offline">
      <Section title="Topics">
        <Failed error={new ApiError(0, undefined)} retry={refetch} />
      </Section>
    </State>
  </Row>
)

const Notices = () => (
  <div className="flex flex-col gap-2">
    <Notice tone="info">It is being sent.</Notice>
    <Notice tone="good">All is well.</Notice>
    <Notice tone="warning">It is disabled.</Notice>
    <Notice tone="error">It did not work.</Notice>
    <Fault error={fault} />
  </div>
)

const News = () => (
  <Row>
    <Button onClick={() => say('The topic is created')}>Good news</Button>
    <Button onClick={() => say('The topic could not be created', 'error')}>Bad news</Button>
    <Button onClick={() => say('The subscriber was removed', 'good', () => undefined)}>With a way back</Button>
  </Row>
)

const dialogs = ['plain', 'form', 'refused form', 'by typing', 'shown once', 'delete'] as const

function Dialogs() {
  const [shown, setShown] = useState<(typeof dialogs)[number]>()
  const close = () => setShown(undefined)
  const form = { title: 'New topic', action: 'Create', busy: false, onSubmit: close, onClose: close }
  return (
    <Row>
      {dialogs.map((one) => (
        <Button key={one} onClick={() => setShown(one)}>
          {`Dialog, ${one}`}
        </Button>
      ))}
      {shown === 'plain' && (
        <Dialog title="A dialog" onClose={close} footer={<Button onClick={close}>Close</Button>}>
          It keeps the focus, and Escape closes it.
        </Dialog>
      )}
      {shown === 'form' && (
        <FormDialog {...form} error={null}>
          Fields stand here.
        </FormDialog>
      )}
      {shown === 'refused form' && (
        <FormDialog {...form} error={fault}>
          What was typed is still here.
        </FormDialog>
      )}
      {shown === 'by typing' && (
        <ConfirmByTyping
          title="Empty the outbox"
          word="empty"
          action="Empty"
          busy={false}
          onConfirm={close}
          onClose={close}
        >
          All messages are deleted.
        </ConfirmByTyping>
      )}
      {shown === 'shown once' && (
        <ShownOnce what="key" secret="ph_dev_0123456789" onClose={close}>
          It goes into the header.
        </ShownOnce>
      )}
      {shown === 'delete' && (
        <DeleteByTyping
          what="layout"
          of={{ word: 'acme', means: 'E-mails use the default one.', isPending: false, onConfirm: close }}
          onClose={close}
        />
      )}
    </Row>
  )
}

const Saving = () => {
  const idle = { isPending: false, error: null }
  const nothing = () => undefined
  return (
    <Row>
      <State name="Nothing changed">
        <Row>
          <SaveButtons isChanged={false} save={idle} onSave={nothing} onDiscard={nothing} />
        </Row>
      </State>
      <State name="Changed">
        <Row>
          <SaveButtons isChanged save={idle} onSave={nothing} onDiscard={nothing} />
        </Row>
      </State>
      <State name="Someone else saved">
        <SaveNotices what="layout" isOvertaken save={idle} />
      </State>
    </Row>
  )
}

export const pageStories: readonly Story[] = [
  { name: 'States of a page', shows: States },
  { name: 'Notices', shows: Notices },
  { name: 'News at the edge', shows: News },
  { name: 'Dialogs', shows: Dialogs },
  { name: 'Saving', shows: Saving },
]
