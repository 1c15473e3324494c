// A template: Liquid with highlighting and completion once its editor is loaded, a plain field until then.
import { lazy, Suspense } from 'react'
import { TextArea } from './controls.tsx'
import type { TemplateFieldProps } from './template-props.ts'

// Asked for with the page that has such fields, so that it is there when the first is shown.
const loaded = import('./template-editor.tsx')
const TemplateEditor = lazy(() => loaded)

export function TemplateField(props: TemplateFieldProps) {
  const { label, hint, error, isLabelHidden = false } = props
  const shown = error ?? hint
  return (
    <Suspense fallback={<TextArea {...props} rows={props.rows ?? 1} />}>
      <div className="flex flex-col gap-1">
        {!isLabelHidden && (
          <span aria-hidden="true" className="text-sm font-medium text-ink">
            {label}
          </span>
        )}
        <TemplateEditor {...props} />
        {shown !== undefined && (
          <p
            role={error === undefined ? undefined : 'alert'}
            className={`text-xs ${error === undefined ? 'text-ink-3' : 'text-red'}`}
          >
            {shown}
          </p>
        )}
      </div>
    </Suspense>
  )
}
