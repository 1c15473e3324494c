// One layout: its HTML, and how an e-mail looks in it.
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, TextArea, TextField } from '../../ui/controls.tsx'
import { ConfirmByTyping } from '../../ui/dialog.tsx'
import { BackTo } from '../../ui/list.tsx'
import { EmailView } from '../../ui/message-frame.tsx'
import { Answered, Notice, Page, Section } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'

type Layout = Schemas['Layout']
const sample =
  '<h1 style="font-size:20px">Order 7 is on its way</h1><p>Hello Ada, your order left our warehouse today.</p><p><a href="https://example.com">Follow the parcel</a></p>'

export function LayoutPage() {
  const { layoutId = '' } = useParams({ strict: false }) as { layoutId?: string }
  const layout = useAsk(['layouts', 'one', layoutId], () =>
    answerOf(client.GET('/v1/layouts/{layoutId}', { params: { path: { layoutId } } })),
  )
  return <Answered of={layout}>{(one) => <LayoutForm key={one.updatedAt} layout={one} />}</Answered>
}

function LayoutForm({ layout }: { layout: Layout }) {
  const go = useGo()
  const mayChange = useMayChange('workflows:write')
  const path = { layoutId: layout._id ?? '' }
  const [name, setName] = useState(layout.name)
  const [content, setContent] = useState(layout.content)
  const [deleting, setDeleting] = useState(false)
  const isChanged = name !== layout.name || content !== layout.content
  const save = useChange(
    () => answerOf(client.PATCH('/v1/layouts/{layoutId}', { params: { path }, body: { name, content } })),
    { touches: ['layouts'], says: 'The layout is saved', quiet: true },
  )
  const elect = useChange(() => answerOf(client.POST('/v1/layouts/{layoutId}/default', { params: { path } })), {
    touches: ['layouts'],
    says: 'It is the default layout now',
  })
  const remove = useChange(() => answerOf(client.DELETE('/v1/layouts/{layoutId}', { params: { path } })), {
    touches: ['layouts'],
    says: 'The layout is deleted',
    leaves: true,
    onDone: () => go('/layouts'),
  })
  return (
    <Page
      title={layout.name}
      above={<BackTo to="/layouts">Layouts</BackTo>}
      actions={
        mayChange && (
          <>
            {layout.isDefault ? (
              <Badge tone="blue">Default</Badge>
            ) : (
              <Button busy={elect.isPending} onClick={() => elect.mutate(undefined)}>
                Make it the default
              </Button>
            )}
            <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
              Delete
            </Button>
            <Button
              look="primary"
              icon="check"
              disabled={!isChanged}
              busy={save.isPending}
              onClick={() => save.mutate(undefined)}
            >
              Save
            </Button>
          </>
        )
      }
    >
      {save.error !== null && <Notice tone="error">{save.error.message}</Notice>}
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <Section title="HTML">
          <fieldset disabled={!mayChange} className="flex flex-col gap-3 p-4">
            <TextField label="Name" value={name} maxLength={255} onText={setName} />
            <TextArea
              label="Content"
              mono
              rows={22}
              value={content}
              hint={
                <>
                  Liquid in HTML, with one <code>{'{{{body}}}'}</code> where the e-mail goes.
                </>
              }
              onText={setContent}
            />
          </fieldset>
        </Section>
        <Section title="An e-mail in it">
          <div className="p-4">
            <EmailView html={content.replace(/\{\{\{\s*body\s*\}\}\}/, sample)} subject="Order 7 is on its way" />
          </div>
        </Section>
      </div>
      {deleting && (
        <ConfirmByTyping
          title="Delete the layout"
          word={layout.identifier}
          action="Delete"
          busy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setDeleting(false)}
        >
          E-mails that name it go out in the default layout.
        </ConfirmByTyping>
      )}
    </Page>
  )
}
