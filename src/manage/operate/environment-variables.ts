// Variables of an environment: create, change, delete. A secret value is never shown again.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Sql } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { noContent, ok } from '../../domain/answer.ts'
import { hiddenSecret } from '../../domain/delivery/hidden-secrets.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { Recorded } from '../../domain/operate/audit-difference.ts'
import type { Problem } from '../../domain/problem.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import type { EnvironmentVariable } from '../../domain/workflows/environment-variable.ts'
import { variablesMax } from '../../domain/workflows/environment-variable.ts'
import {
  deleteVariable,
  findVariable,
  insertVariable,
  listVariables,
  updateVariable,
} from '../../store/operate/environment-variables.ts'
import { stampVariables } from '../../store/operate/installation.ts'
import type { NamedWorkflow } from '../../store/workflows/workflow-references.ts'
import { workflowsUsingVariable } from '../../store/workflows/workflow-references.ts'
import type { World } from '../../world/world.ts'

interface Change {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

interface GivenValue {
  readonly _environmentId: string
  readonly value: string
}

export interface VariableChange {
  readonly key?: string | undefined
  readonly isSecret?: boolean | undefined
  readonly values?: readonly GivenValue[] | undefined
}

/** With the value of this environment alone: a key opens no other. */
export interface ShownVariable extends Omit<EnvironmentVariable, 'value'> {
  readonly _organizationId: string
  readonly type: 'string'
  readonly values: readonly GivenValue[]
}

export async function shownVariables(
  db: Sql,
  world: World,
  environment: Environment,
  search: string | undefined,
): Promise<ShownVariable[]> {
  const all = await listVariables(db, world.sealer, environment)
  const text = search?.toLowerCase() ?? ''
  return all.filter(({ key }) => key.toLowerCase().includes(text)).map((one) => shown(environment, one))
}

export async function shownVariable(
  db: Sql,
  world: World,
  environment: Environment,
  key: string,
): Promise<ShownVariable> {
  const found = await findVariable(db, world.sealer, environment, key)
  if (found === undefined) throw unknownVariable(key)
  return shown(environment, found)
}

/** A list of users is for a person to look at. */
const usersMax = 100

export async function variableUsage(
  db: Sql,
  world: World,
  environment: Environment,
  key: string,
): Promise<NamedWorkflow[]> {
  await shownVariable(db, world, environment, key)
  return workflowsUsingVariable(db, environment, key, usersMax)
}

export async function createVariable(
  db: Db,
  world: World,
  environment: Environment,
  call: Change & VariableChange & { key: string },
): Promise<Answer<ShownVariable>> {
  const { key, isSecret = false, author } = call
  const value = valueIn(environment, call.values) ?? ''
  if (isSecret && value === hiddenSecret) throw hiddenValue()
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    await stampVariables(tx, environment, now)
    const all = await listVariables(tx, world.sealer, environment)
    if (all.some((one) => one.key === key)) throw taken(key)
    if (all.length >= variablesMax) throw conflict(`There are already ${variablesMax} variables; delete one first`)
    const fields = { id: world.newId(now), key, isSecret, value, now }
    const made = await insertVariable(tx, world.sealer, environment, fields)
    await audit(tx, world, environment, author, { ...named(made), action: 'create', after: recordOf(made) })
    return ok(shown(environment, made))
  })
}

export async function changeVariable(
  db: Db,
  world: World,
  environment: Environment,
  call: Change & VariableChange & { variableKey: string },
): Promise<Answer<ShownVariable>> {
  const given = valueIn(environment, call.values)
  return once(db, world, environment, call.idempotency, async (tx) => {
    const now = world.now()
    await stampVariables(tx, environment, now)
    const before = await findVariable(tx, world.sealer, environment, call.variableKey)
    if (before === undefined) throw unknownVariable(call.variableKey)
    const { key = before.key, isSecret = before.isSecret } = call
    if (key !== before.key && (await findVariable(tx, world.sealer, environment, key))) throw taken(key)
    // What was read as hidden and is saved again stays as it is.
    const isKept = given === undefined || (before.isSecret && given === hiddenSecret)
    if (isKept && before.isSecret && !isSecret) {
      throw invalidField('isSecret', 'isSecret can be switched off only together with a new value')
    }
    const fields = { id: before._id, key, isSecret, value: isKept ? before.value : given, now }
    const after = await updateVariable(tx, world.sealer, environment, fields)
    const records = { before: recordOf(before), after: recordOf(after) }
    await audit(tx, world, environment, call.author, { ...named(after), action: 'change', ...records })
    return ok(shown(environment, after))
  })
}

export async function removeVariable(
  db: Db,
  world: World,
  environment: Environment,
  call: Change & { key: string },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    await stampVariables(tx, environment, world.now())
    const found = await findVariable(tx, world.sealer, environment, call.key)
    if (found === undefined) throw unknownVariable(call.key)
    await deleteVariable(tx, environment, found._id)
    await audit(tx, world, environment, call.author, { ...named(found), action: 'delete', before: recordOf(found) })
    return noContent
  })
}

/** The value that is given for this environment; those of others are refused. */
function valueIn(environment: Environment, values: readonly GivenValue[] | undefined): string | undefined {
  const other = values?.find(({ _environmentId }) => _environmentId !== environment.id)
  if (other === undefined) return values?.at(-1)?.value
  throw invalidField(
    'values',
    'values must be for the environment of the API key: set those of others with keys of their own',
    other._environmentId,
  )
}

function shown(environment: Environment, { value, ...one }: EnvironmentVariable): ShownVariable {
  const values = [{ _environmentId: environment.id, value: one.isSecret ? hiddenSecret : value }]
  return { ...one, _organizationId: environment.organizationId, type: 'string', values }
}

/** That a secret changed is seen; what it is, is not. */
function recordOf({ key, isSecret, value }: EnvironmentVariable): Recorded {
  return { compared: { key, isSecret, value }, shown: { key, isSecret, value: isSecret ? hiddenSecret : value } }
}

const named = ({ _id, key }: EnvironmentVariable) => ({ kind: 'environment-variable', id: _id, name: key }) as const
const unknownVariable = (key: string): Problem => notFound(`Environment variable ${key} not found`)
const taken = (key: string): Problem => conflict(`Environment variable ${key} already exists`)
const hiddenValue = (): Problem =>
  invalidField('values', `values must not be ${hiddenSecret}, which stands for a value that is not shown`)
