// What a message other than an e-mail says: its title and its text.
import { TemplateField } from '../../ui/template-field.tsx'
import type { Json } from './draft.ts'
import type { StepFormProps } from './step-fields.tsx'
import { errorAt, useVariables, Variables } from './step-fields.tsx'

export function TextForm(props: StepFormProps) {
  const { step, onChange } = props
  const variables = useVariables()
  const { type, title, subject, content } = step.template as {
    type: string
    title?: string
    subject?: string
    content?: unknown
  }
  const set = (members: Json) => onChange({ ...step, template: { ...step.template, ...members } })
  return (
    <>
      {type === 'push' && (
        <TemplateField
          label="Title"
          value={title ?? ''}
          variables={variables}
          error={errorAt(props, 'template.title')}
          onText={(text) => set({ title: text })}
        />
      )}
      {type === 'in_app' && (
        <TemplateField
          label="Heading"
          hint="Optional"
          value={subject ?? ''}
          variables={variables}
          error={errorAt(props, 'template.subject')}
          onText={(text) => set({ subject: text })}
        />
      )}
      <TemplateField
        label="Text"
        rows={type === 'sms' ? 3 : 5}
        variables={variables}
        value={typeof content === 'string' ? content : ''}
        error={errorAt(props, 'template.content')}
        hint={<Variables />}
        onText={(text) => set({ content: text })}
      />
    </>
  )
}
