// Users: who may sign in to the dashboard of the organization, and with which role.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, basePath, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { roleWords, useEnvironment } from '../../session.tsx'
import { Button, IconButton, SelectField, TextField } from '../../ui/controls.tsx'
import { Code } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Answered, Empty, Fault, Notice } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Table } from '../../ui/table.tsx'
import { exactTime, Time } from '../../ui/time.tsx'
import { SettingsFrame } from './settings-frame.tsx'

type User = Schemas['User']
type Role = User['role']
const pageSize = 50
const roles = ['owner', 'editor', 'viewer'] as const
const roleMeanings: Readonly<Record<Role, string>> = {
  owner: 'Everything, also keys and users',
  editor: 'Content and people, no secrets',
  viewer: 'Read, nothing else',
}

/** What is asked for before it is done. */
type Asked = { readonly what: 'invite' } | { readonly what: 'disable' | 'reset'; readonly user: User }

function State({ of: user }: { of: User }) {
  if (user.state === 'disabled')
    return (
      <Badge tone="grey" icon="ban">
        Disabled
      </Badge>
    )
  return user.state === 'invited' ? (
    <Badge tone="amber" icon="clock">
      Invited
    </Badge>
  ) : (
    <Badge tone="green" icon="check">
      Active
    </Badge>
  )
}

export function UsersPage() {
  const { session } = useEnvironment()
  const [asked, setAsked] = useState<Asked>()
  const [page, setPage] = useState(0)
  const list = useAsk(
    ['users', page],
    () => answerOf(client.GET('/v1/users', { params: { query: { page, limit: pageSize } } })),
    { enabled: session.managesUsers, keeps: true },
  )
  const change = useChange(
    ({ user, ...body }: { user: User } & Schemas['UpdateUser']) =>
      answerOf(client.PATCH('/v1/users/{userId}', { params: { path: { userId: user._id } }, body })),
    {
      touches: ['users', 'audit'],
      says: (user) =>
        `${user.name} is ${user.state === 'disabled' ? 'disabled' : roleWords[user.role].toLowerCase()} now`,
      onDone: () => setAsked(undefined),
    },
  )
  const frame = {
    title: 'Users',
    lead: 'Who may sign in to this dashboard. A user has one role in every environment of the organization.',
  }
  if (!session.managesUsers) {
    return (
      <SettingsFrame {...frame}>
        <div className="card">
          <Empty icon="key" title="Only owners manage users">
            Users reach every environment of the organization. Sign in as an owner to see and invite them.
          </Empty>
        </div>
      </SettingsFrame>
    )
  }
  return (
    <SettingsFrame
      {...frame}
      actions={
        <Button look="primary" icon="plus" onClick={() => setAsked({ what: 'invite' })}>
          Invite a user
        </Button>
      }
    >
      <div className="card overflow-hidden">
        <Answered of={list}>
          {({ data, hasMore }) =>
            data.length === 0 && page === 0 ? (
              <Empty icon="people" title="No users yet">
                Until there are some, people sign in with API keys, and the audit log names the key instead of the
                person.
              </Empty>
            ) : (
              <>
                <Table
                  label="Users"
                  rows={data}
                  columns={columnsFor(session.user?._id, {
                    onRole: (user, role) => change.mutate({ user, role }),
                    onEnable: (user) => change.mutate({ user, disabled: false }),
                    onAsk: setAsked,
                  })}
                  keyOf={({ _id }) => _id}
                />
                {(page > 0 || hasMore) && (
                  <div className="flex justify-end gap-2 border-t border-line p-2">
                    <Button disabled={page === 0} onClick={() => setPage(page - 1)}>
                      Newer
                    </Button>
                    <Button disabled={!hasMore} onClick={() => setPage(page + 1)}>
                      Older
                    </Button>
                  </div>
                )}
              </>
            )
          }
        </Answered>
      </div>
      {asked?.what === 'invite' && <Invite onClose={() => setAsked(undefined)} />}
      {asked?.what === 'reset' && <Reset user={asked.user} onClose={() => setAsked(undefined)} />}
      {asked?.what === 'disable' && (
        <Dialog
          title={`Disable ${asked.user.name}`}
          onClose={() => setAsked(undefined)}
          footer={
            <>
              <Button onClick={() => setAsked(undefined)}>Keep it</Button>
              <Button
                look="danger"
                busy={change.isPending}
                onClick={() => change.mutate({ user: asked.user, disabled: true })}
              >
                Disable
              </Button>
            </>
          }
        >
          <p className="text-ink-2">
            {asked.user.email} is signed out everywhere at once and cannot sign in any more. It can be enabled again.
          </p>
        </Dialog>
      )}
    </SettingsFrame>
  )
}

interface Acts {
  readonly onRole: (user: User, role: Role) => void
  readonly onEnable: (user: User) => void
  readonly onAsk: (asked: Asked) => void
}

function columnsFor(ownId: string | undefined, acts: Acts): readonly Column<User>[] {
  return [
    {
      head: 'Name',
      cell: (user) => (
        <span className="flex min-w-0 items-center gap-2">
          <span className="truncate font-medium">{user.name}</span>
          {user._id === ownId && <Badge tone="blue">You</Badge>}
        </span>
      ),
    },
    { head: 'E-mail', from: 'md', cell: (user) => <span className="block truncate text-ink-2">{user.email}</span> },
    { head: 'Role', width: '80px', cell: (user) => roleWords[user.role] },
    { head: 'State', width: '110px', from: 'sm', cell: (user) => <State of={user} /> },
    {
      head: 'Signed in',
      from: 'md',
      right: true,
      width: '132px',
      cell: (user) => (
        <span className="text-ink-2">
          {user.lastSignInAt === undefined ? 'never' : <Time at={user.lastSignInAt} />}
        </span>
      ),
    },
    {
      head: 'Change',
      right: true,
      width: '88px',
      // One's own is for another owner to change.
      cell: (user) => (user._id === ownId ? <span className="block h-8" /> : <UserMenu user={user} acts={acts} />),
    },
  ]
}

function UserMenu({ user, acts }: { user: User; acts: Acts }) {
  const isOff = user.state === 'disabled'
  return (
    <Menu
      label={`Change ${user.name}`}
      button={<IconButton name="more" label={`Change ${user.name}`} />}
      items={[
        ...roles.map((role) => ({
          text: `Make ${roleWords[role].toLowerCase()}`,
          hint: roleMeanings[role],
          icon: role === user.role ? ('check' as const) : ('right' as const),
          disabled: role === user.role,
          onSelect: () => acts.onRole(user, role),
        })),
        'line',
        ...(isOff
          ? [{ text: 'Enable', icon: 'check' as const, onSelect: () => acts.onEnable(user) }]
          : [
              {
                text: user.state === 'invited' ? 'New invitation link' : 'Reset password',
                icon: 'key' as const,
                onSelect: () => acts.onAsk({ what: 'reset', user }),
              },
              {
                text: 'Disable',
                icon: 'ban' as const,
                danger: true,
                onSelect: () => acts.onAsk({ what: 'disable', user }),
              },
            ]),
      ]}
    />
  )
}

function Invite({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('editor')
  const create = useChange(
    () => {
      const called = name.trim() === '' ? {} : { name: name.trim() }
      return answerOf(client.POST('/v1/users', { body: { email: email.trim(), role, ...called } }))
    },
    { touches: ['users', 'audit'], quiet: true },
  )
  if (create.data !== undefined) return <GivenLink title="The user is created" given={create.data} onClose={onClose} />
  return (
    <Dialog
      title="Invite a user"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Discard</Button>
          <Button
            look="primary"
            busy={create.isPending}
            disabled={email.trim() === ''}
            onClick={() => create.mutate(undefined)}
          >
            Create the link
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Fault error={create.error} />
        <TextField label="E-mail address" type="email" value={email} maxLength={254} onText={setEmail} />
        <TextField label="Name (optional)" value={name} maxLength={200} onText={setName} />
        <SelectField
          label="Role"
          hint={roleMeanings[role]}
          value={role}
          options={roles.map((one) => [one, roleWords[one]] as const)}
          onText={(next) => setRole(next as Role)}
        />
      </div>
    </Dialog>
  )
}

function Reset({ user, onClose }: { user: User; onClose: () => void }) {
  const path = { userId: user._id }
  const reset = useChange(() => answerOf(client.POST('/v1/users/{userId}/password-link', { params: { path } })), {
    touches: ['users', 'audit'],
    quiet: true,
  })
  if (reset.data !== undefined) {
    return <GivenLink title="The old password is gone" given={{ ...reset.data, email: user.email }} onClose={onClose} />
  }
  return (
    <Dialog
      title={user.state === 'invited' ? 'New invitation link' : 'Reset password'}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="primary" busy={reset.isPending} onClick={() => reset.mutate(undefined)}>
            Create the link
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Fault error={reset.error} />
        <p className="text-ink-2">
          {user.state === 'invited'
            ? `The link that ${user.email} was given before stops working.`
            : `The password of ${user.email} is removed, they are signed out everywhere, and the link sets another one.`}
        </p>
      </div>
    </Dialog>
  )
}

function GivenLink({
  title,
  given,
  onClose,
}: {
  title: string
  given: { link: string; linkExpiresAt: string; email: string }
  onClose: () => void
}) {
  const address = `${location.origin}${basePath.replace(/\/$/, '')}${given.link}`
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have it
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <p className="text-ink-2">
          Give this link to {given.email}. Whoever opens it sets the password: send it where only they read it. It works
          once, until {exactTime(given.linkExpiresAt)}.
        </p>
        <Notice tone="warning">It is shown only this once: we keep no copy.</Notice>
        <Code label="link" text={address} />
      </div>
    </Dialog>
  )
}
