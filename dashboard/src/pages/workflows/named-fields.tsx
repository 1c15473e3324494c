// Settings that name another record: the layout of an e-mail, the feed of an inbox message.
import { ApiError, answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { SelectField } from '../../ui/controls.tsx'
import type { FieldProps } from './step-fields.tsx'
import { errorAt } from './step-fields.tsx'
import { valueAt, withValue } from './step-values.ts'

/** As the service takes it for no layout. */
const none = 'none'

/** Drafts of an earlier version of this page have it by its other name. */
const chosenOf = ({ step, field }: FieldProps, alias: string): string => {
  const value = valueAt(step, field.path)
  return value === null ? none : String(value ?? valueAt(step, ['template', alias]) ?? '')
}

const withChoice = ({ step, field }: FieldProps, alias: string, next: string) =>
  withValue(withValue(step, ['template', alias], undefined), field.path, next)

export function LayoutField(props: FieldProps) {
  const { field, onChange } = props
  const layouts = useAsk(['layouts', 'names'], () =>
    answerOf(client.GET('/v1/layouts', { params: { query: { limit: 100 } } })),
  )
  const layoutId = chosenOf(props, '_layoutId')
  const isListed =
    ['', none].includes(layoutId) || layouts.data === undefined || layouts.data.data.some(({ _id }) => _id === layoutId)
  // One beyond the first hundred, or one that was deleted: it is shown as what it is, not as the default one.
  const other = useAsk(
    ['layouts', 'name', layoutId],
    () =>
      answerOf(client.GET('/v1/layouts/{layoutId}', { params: { path: { layoutId } } })).then(
        ({ name }) => name,
        (error: unknown) => {
          if (error instanceof ApiError && error.status === 404) return 'A deleted layout'
          throw error
        },
      ),
    { enabled: !isListed },
  )
  return (
    <SelectField
      label={field.label}
      hint={field.hint}
      error={errorAt(props, field.path.join('.'))}
      value={layoutId}
      options={[
        ['', 'The default one'],
        [none, 'None'],
        ...(layouts.data?.data.map(({ _id, name }) => [_id ?? '', name] as const) ?? []),
        ...(isListed ? [] : [[layoutId, other.data ?? 'Another layout'] as const]),
      ]}
      onText={(next) => onChange(withChoice(props, '_layoutId', next))}
    />
  )
}

export function FeedField(props: FieldProps) {
  const { field, onChange } = props
  const feeds = useAsk(['feeds', 'names'], () =>
    answerOf(client.GET('/v1/feeds', { params: { query: { limit: 100 } } })),
  )
  const feedId = chosenOf(props, '_feedId')
  const known = feeds.data?.data.map(({ _id, name }) => [_id, name] as const) ?? []
  const isListed = ['', none].includes(feedId) || known.some(([id]) => id === feedId)
  return (
    <SelectField
      label={field.label}
      hint={field.hint}
      error={errorAt(props, field.path.join('.'))}
      value={feedId === none ? '' : feedId}
      options={[['', 'The whole inbox'], ...known, ...(isListed ? [] : [[feedId, 'Another feed'] as const])]}
      onText={(next) => onChange(withChoice(props, '_feedId', next))}
    />
  )
}
