// One layout: its HTML, and how an e-mail looks in it.
import { useParams } from '@tanstack/react-router'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, TextField } from '../../ui/controls.tsx'
import { EditPage } from '../../ui/edit-page.tsx'
import { useEdits } from '../../ui/edits.ts'
import { EmailView } from '../../ui/message-frame.tsx'
import { Answered, Section } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { TemplateField } from '../../ui/template-field.tsx'

type Layout = Schemas['Layout']
const sample =
  '<h1 style="font-size:20px">Order 7 is on its way</h1><p>Hello Ada, your order left our warehouse today.</p><p><a href="https://example.com">Follow the parcel</a></p>'

export function LayoutPage() {
  const { layoutId = '' } = useParams({ strict: false }) as { layoutId?: string }
  const layout = useAsk(['layouts', 'one', layoutId], () =>
    answerOf(client.GET('/v1/layouts/{layoutId}', { params: { path: { layoutId } } })),
  )
  return <Answered of={layout}>{(one) => <LayoutForm key={one._id} layout={one} />}</Answered>
}

function LayoutForm({ layout }: { layout: Layout }) {
  const go = useGo()
  const mayChange = useMayChange('workflows:write')
  const path = { layoutId: layout._id ?? '' }
  const edits = useEdits({ name: layout.name, content: layout.content }, `layout-${layout._id}`)
  const { name, content } = edits.values
  const save = useChange(
    (body: typeof edits.changed) => answerOf(client.PATCH('/v1/layouts/{layoutId}', { params: { path }, body })),
    {
      touches: ['layouts'],
      says: 'The layout is saved',
      quiet: true,
      onDone: (_answer, sent) => edits.settle(sent),
    },
  )
  const elect = useChange(() => answerOf(client.POST('/v1/layouts/{layoutId}/default', { params: { path } })), {
    touches: ['layouts'],
    says: 'It is the default layout now',
  })
  const remove = useChange(() => answerOf(client.DELETE('/v1/layouts/{layoutId}', { params: { path } })), {
    touches: ['layouts'],
    says: 'The layout is deleted',
    leaves: true,
    onDone: () => {
      edits.discard()
      go('/layouts')
    },
  })
  return (
    <EditPage
      what="layout"
      title={layout.name}
      list={{ to: '/layouts', name: 'Layouts' }}
      mayChange={mayChange}
      actions={
        <>
          {edits.isChanged && <Badge tone="amber">Not saved</Badge>}
          {layout.isDefault ? (
            <Badge tone="blue">Default</Badge>
          ) : (
            <Button busy={elect.isPending} onClick={() => elect.mutate(undefined)}>
              Make it the default
            </Button>
          )}
        </>
      }
      edits={edits}
      save={save}
      remove={{
        word: layout.identifier,
        means: 'E-mails that name it go out in the default layout.',
        isPending: remove.isPending,
        onConfirm: () => remove.mutate(undefined),
      }}
    >
      <div className="grid grid-cols-1 items-start gap-5 xl:grid-cols-2">
        <Section title="HTML">
          <fieldset disabled={!mayChange} className="flex flex-col gap-3 p-4">
            <TextField label="Name" value={name} maxLength={255} onText={(next) => edits.set({ name: next })} />
            <TemplateField
              label="Content"
              rows={22}
              value={content}
              hint={
                <>
                  Liquid in HTML, with one <code>{'{{{body}}}'}</code> where the e-mail goes.
                </>
              }
              onText={(next) => edits.set({ content: next })}
            />
          </fieldset>
        </Section>
        <Section title="An e-mail in it">
          <div className="p-4">
            <EmailView html={content.replace(/\{\{\{\s*body\s*\}\}\}/, () => sample)} subject="Order 7 is on its way" />
          </div>
        </Section>
      </div>
    </EditPage>
  )
}
