// Layouts: the frames around e-mails, of which one is the default.
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { ListPage } from '../../ui/list.tsx'
import { Badge } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

type Layout = Schemas['Layout']

const columns: readonly Column<Layout>[] = [
  { head: 'Name', cell: (one) => <span className="block truncate font-medium">{one.name}</span> },
  {
    head: 'Identifier',
    from: 'sm',
    cell: (one) => <span className="block truncate font-mono text-xs text-ink-2">{one.identifier}</span>,
  },
  {
    head: 'Use',
    width: '100px',
    cell: (one) => (one.isDefault ? <Badge tone="blue">Default</Badge> : <span className="text-ink-3">By name</span>),
  },
  {
    head: 'Changed',
    from: 'sm',
    right: true,
    width: '132px',
    cell: (one) => <span className="text-ink-2">{one.updatedAt === undefined ? '' : <Time at={one.updatedAt} />}</span>,
  },
]

export const firstLayout = `<!doctype html>
<html>
  <body style="margin:0;padding:24px;background:#f4f5f7;font:15px/1.6 system-ui,sans-serif;color:#1b1f24">
    <div style="max-width:560px;margin:0 auto;padding:32px;background:#ffffff;border-radius:8px">
      {{{body}}}
    </div>
    <p style="max-width:560px;margin:16px auto 0;font-size:12px;color:#626b77">You receive this because you have an account with us.</p>
  </body>
</html>
`

export function LayoutsPage() {
  const go = useGo()
  const list = useAskRows(['layouts', 'list'], ({ page }) =>
    answerOf(client.GET('/v1/layouts', { params: { query: { page, limit: 100 } } })),
  )
  const create = useChange(
    () =>
      answerOf(
        client.POST('/v1/layouts', {
          body: { name: 'New layout', identifier: `layout-${Date.now().toString(36)}`, content: firstLayout },
        }),
      ),
    { touches: ['layouts'], onDone: (made) => go(`/layouts/${(made as { _id: string })._id}`) },
  )
  return (
    <ListPage
      title="Layouts"
      count={list.total ?? list.count}
      lead="The frames around e-mails: your logo at the top, your address at the foot."
      creates={{
        text: 'New layout',
        scope: 'workflows:write',
        busy: create.isPending,
        onClick: () => create.mutate(undefined),
      }}
      {...list.table}
      columns={columns}
      keyOf={({ _id }) => _id ?? ''}
      onOpen={({ _id }) => go(`/layouts/${_id}`)}
      empty={{
        icon: 'layout',
        title: 'E-mails have the plain built-in frame',
        text: 'A layout is put around every e-mail that names it; the default one around all others.',
      }}
    />
  )
}
