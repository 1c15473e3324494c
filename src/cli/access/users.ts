// posthorn users: creates, lists, disables and enables users of the dashboard, changes their roles, and resets passwords.
import type { Environment } from '../../domain/environment.ts'
import { passwordMistake } from '../../domain/operate/password.ts'
import type { User, UserRole } from '../../domain/operate/user.ts'
import { isEmail, normalEmail, userRoles } from '../../domain/operate/user.ts'
import { ownAddress } from '../../main/dashboard.ts'
import type { Store } from '../../main/store.ts'
import type { WantedChange } from '../../manage/operate/users.ts'
import { changeUser, createUser, resetPassword, setPassword } from '../../manage/operate/users.ts'
import { listEnvironments } from '../../store/operate/installation.ts'
import { listOrganizations } from '../../store/operate/organizations.ts'
import { findUserByEmail, listUsers, usersMax } from '../../store/operate/users.ts'
import type { Command, Terminal } from '../command.ts'
import { CommandFailed, UsageError } from '../command.ts'
import { commandAuthor } from '../local/author.ts'
import { organizationNamed, withStore } from '../local/with-store.ts'
import { parsed } from '../terminal/arguments.ts'
import { refuseForeign } from '../terminal/usage-lines.ts'
import { visible } from '../terminal/visible-text.ts'

export const usersCommand: Command = {
  name: 'users',
  about:
    'Creates, lists, disables and enables users of the dashboard, changes their roles, and resets passwords. Local: it ' +
    'also lets in the first user, before there is anyone who could invite one.',
  examples: [
    'posthorn users create ada@example.com --role owner     # prints a link with which Ada sets a password',
    'posthorn users list',
    'posthorn users disable ada@example.com',
  ],
  usage: [
    'users create EMAIL [--role viewer] [--name NAME] [--password] [--organization NAME] [--url ADDRESS]',
    'users list [--organization NAME]',
    'users role EMAIL owner|editor|viewer [--organization NAME]',
    'users disable EMAIL [--organization NAME]',
    'users enable EMAIL [--organization NAME]',
    'users reset EMAIL [--password] [--organization NAME] [--url ADDRESS]',
  ],
  run: async (terminal, args) => {
    const { values, positionals } = readArguments(args)
    const [action, email = '', role = '', ...more] = positionals
    refuseForeign(usersCommand, args, action)
    const given = [email, role].filter((one) => one !== '').length
    if (action === undefined || more.length > 0 || wanted[action] !== given) throw usage()
    // Before anything is done: whoever mistypes it twice has created no one.
    if (email !== '' && !isEmail(email)) throw new UsageError(`"${visible(email)}" is no e-mail address`)
    const password = values.password === true ? await newPassword(terminal, email) : undefined
    await withStore(terminal, async (store) => {
      const environment = await firstEnvironment(store, values.organization)
      const at = { terminal, store, environment }
      if (action === 'list') return list(at)
      if (action === 'create')
        return create(at, { email, role: roleOf(values.role), name: values.name }, password, values)
      const user = await userNamed(at, email)
      if (action === 'reset') return reset(at, user, password, values)
      return change(at, user, changeOf(action, role))
    })
  },
}

/** How many arguments each takes. */
const wanted: Readonly<Record<string, number>> = { list: 0, create: 1, role: 2, disable: 1, enable: 1, reset: 1 }

const usage = () => new UsageError(`Usage:\n${usersCommand.usage.map((line) => `  posthorn ${line}`).join('\n')}`)

function readArguments(args: readonly string[]) {
  return parsed({
    args: [...args],
    allowPositionals: true,
    options: {
      organization: { type: 'string' },
      role: { type: 'string', default: 'viewer' },
      name: { type: 'string' },
      password: { type: 'boolean' },
      url: { type: 'string' },
    },
  })
}

function roleOf(text: string): UserRole {
  const role = userRoles.find((one) => one === text)
  if (role === undefined) throw new UsageError(`Unknown role "${text}"; the roles are ${userRoles.join(', ')}`)
  return role
}

const changeOf = (action: string, role: string): WantedChange =>
  action === 'role' ? { role: roleOf(role) } : { disabled: action === 'disable' }

/** At the terminal twice and unseen; otherwise the first line of standard input. Never an argument: other users see those. */
async function newPassword(terminal: Terminal, email: string): Promise<string> {
  const password = await typedPassword(terminal)
  const mistake = passwordMistake(password, email)
  if (mistake !== undefined) throw new CommandFailed(`The password ${mistake}; nothing was changed`)
  return password
}

async function typedPassword({ askSecret, readInput }: Terminal): Promise<string> {
  if (askSecret === undefined) return (await readInput(inputBytesMax)).split(/\r?\n/, 1)[0] ?? ''
  const first = await askSecret('Password: ')
  if (first !== (await askSecret('Again: '))) throw new CommandFailed('The passwords differ; nothing was changed')
  return first
}

const inputBytesMax = 4_096

interface At {
  readonly terminal: Terminal
  readonly store: Store
  /** The first of the organization; users belong to all of them. */
  readonly environment: Environment
}

async function firstEnvironment(store: Store, organization: string | undefined): Promise<Environment> {
  const [first] = await listOrganizations(store.db)
  const { id, name } =
    organization === undefined && first !== undefined ? first : await organizationNamed(store, organization ?? '')
  const environment = (await listEnvironments(store.db)).find(({ organizationId }) => organizationId === id)
  if (environment === undefined) throw new CommandFailed(`The organization ${name} has no environment`)
  return environment
}

async function userNamed({ store, environment }: At, email: string): Promise<User> {
  const user = await findUserByEmail(store.db, environment.organizationId, normalEmail(email))
  if (user === undefined)
    throw new CommandFailed(`There is no user ${visible(email)}; \`posthorn users list\` shows them`)
  return user
}

const asCommand = () => ({ author: commandAuthor(), idempotency: undefined })

async function list({ terminal, store, environment }: At): Promise<void> {
  for (const user of await listUsers(store.db, environment.organizationId, { offset: 0, limit: usersMax })) {
    const { email, name, role, state, signsInBy, lastSignInAt = 'never' } = user
    const how = signsInBy.length === 0 ? '' : `  by ${signsInBy.join(' and ')}`
    terminal.print(`${visible(email)}  ${role}  ${state}${how}  signed in ${lastSignInAt}  ${visible(name)}`)
  }
}

async function create(
  { terminal, store: { db, world }, environment }: At,
  user: { email: string; role: UserRole; name: string | undefined },
  password: string | undefined,
  { url }: { url?: string },
): Promise<void> {
  const { body } = await createUser(db, world, environment, { ...asCommand(), user })
  terminal.note(`${visible(body.email)} is created as ${body.role}.`)
  if (password === undefined) return giveLink(terminal, body, url)
  await setPassword(db, world, environment, { id: body._id, password, author: commandAuthor() })
}

async function reset(
  { terminal, store: { db, world }, environment }: At,
  user: User,
  password: string | undefined,
  { url }: { url?: string },
): Promise<void> {
  const id = user._id
  if (password !== undefined) {
    await setPassword(db, world, environment, { id, password, author: commandAuthor() })
    return terminal.print(`The password of ${visible(user.email)} is set; their sessions are ended.`)
  }
  const { body } = await resetPassword(db, world, environment, { ...asCommand(), id })
  terminal.note(`The password of ${visible(user.email)} is removed and their sessions are ended.`)
  giveLink(terminal, body, url)
}

function giveLink(
  { config, print, note }: Terminal,
  given: { link: string; linkExpiresAt: string },
  url?: string,
): void {
  const base = url ?? config.baseUrl ?? config.serviceUrl ?? ownAddress(config, config.port)
  print(`${base.replace(/\/$/, '')}${given.link}`)
  note(`The link sets the password. It works once, until ${given.linkExpiresAt}.`)
}

async function change(
  { terminal, store: { db, world }, environment }: At,
  user: User,
  wanted: WantedChange,
): Promise<void> {
  const { body } = await changeUser(db, world, environment, { ...asCommand(), id: user._id, change: wanted })
  const { email, role, disabledAt } = body
  terminal.print(`${visible(email)} is ${disabledAt === undefined ? role : 'disabled; their sessions are ended'}.`)
}
