// The transaction of one request: a repeat with the same idempotency key gets the first response, and nothing runs
// twice.

import type { Part } from '../db/one-statement.ts'
import type { Db, Tx } from '../db/sql.ts'
import type { Answer, Idempotency } from '../domain/answer.ts'
import type { Environment } from '../domain/environment.ts'
import { isLong, jsonInTurns } from '../domain/json-pieces.ts'
import { parseOurs } from '../domain/parse-in-turns.ts'
import { Problem } from '../domain/problem.ts'
import type { StoredAnswer } from '../store/operate/idempotency.ts'
import { answerInsertion, findStoredAnswers, storeAnswers, tryIdempotencyLocks } from '../store/operate/idempotency.ts'
import type { World } from '../world/world.ts'

/** How long a repeat gets the stored answer. */
const keptForMs = 24 * 60 * 60 * 1000
/** In letters. An answer that is longer is written, and read again, in turns. */
const longMin = 512 * 1024

export async function once<Body>(
  db: Db,
  world: World,
  environment: Environment,
  idempotency: Idempotency | undefined,
  work: (tx: Tx) => Promise<Answer<Body>>,
): Promise<Answer<Body>> {
  const page = async (tx: Tx): Promise<{ answer: Answer<Body> }> => ({ answer: await work(tx) })
  return onceInPages(db, world, environment, idempotency, undefined, page)
}

/**
 * The same for work that is too long for one transaction: one page in each, and the response with the last. Every page
 * sees the progress of those before it. Completed pages are not undone when a later one fails; a repeat continues with
 * the rest.
 */
export async function onceInPages<Body, State>(
  db: Db,
  world: World,
  environment: Environment,
  idempotency: Idempotency | undefined,
  start: State,
  page: (tx: Tx, state: State) => Promise<Page<Body, State>>,
): Promise<Answer<Body>> {
  let state = start
  for (;;) {
    const done = await db.transaction(async (tx): Promise<Page<Body, State>> => {
      if (idempotency === undefined) return page(tx, state)
      const [stored] = await claimCalls<Body>(tx, world, environment, [idempotency])
      if (stored instanceof Problem) throw stored
      if (stored !== undefined) return { answer: stored }
      const made = await page(tx, state)
      if ('answer' in made) await keepAnswers(tx, world, environment, [{ idempotency, answer: made.answer }])
      return made
    })
    if ('answer' in done) return done.answer
    state = done.next
  }
}

export type Page<Body, State> = { readonly next: State } | { readonly answer: Answer<Body> }

/** For each call: the answer it was given before, the Problem it meets, or undefined when it is ours to carry out. */
export async function claimCalls<Body>(
  tx: Tx,
  world: World,
  environment: Environment,
  calls: readonly Idempotency[],
): Promise<(Answer<Body> | Problem | undefined)[]> {
  const locked = await tryIdempotencyLocks(tx, environment, calls)
  const stored = await findStoredAnswers(tx, environment, calls, world.now())
  const byScope = new Map(stored.map((answer) => [answer.scopeHash.toString('hex'), answer]))
  // Within one transaction a lock can be taken twice, so two equal requests in one group are distinguished here.
  const seen = new Set<string>()
  const claims: (Answer<Body> | Problem | undefined)[] = []
  for (const [index, call] of calls.entries()) {
    const scope = call.scopeHash.toString('hex')
    const first = !seen.has(scope)
    seen.add(scope)
    const answer = byScope.get(scope)
    if (answer !== undefined) claims.push(await replay<Body>(world, environment, call, answer))
    else claims.push(locked[index] === true && first ? undefined : inProgress(call))
  }
  return claims
}

/** A call that was carried out, and what a repeat of it gets. */
export interface AnsweredCall {
  readonly idempotency: Idempotency
  readonly answer: Answer<unknown>
}

export async function keepAnswers(
  tx: Tx,
  world: World,
  environment: Environment,
  calls: readonly AnsweredCall[],
): Promise<void> {
  if (calls.length === 0) return
  await storeAnswers(tx, environment, await storedAnswers(world, environment, calls), keptUntil(world))
}

/**
 * The same for calls that were not claimed, as a part of the statement that carries them out. It returns a row for each that is
 * the first with its key; if one is not, nothing of that statement may be written, and `claimCalls` says why.
 */
export async function firstAnswers(
  world: World,
  environment: Environment,
  calls: readonly AnsweredCall[],
): Promise<Part> {
  return answerInsertion(environment, await storedAnswers(world, environment, calls), keptUntil(world))
}

const keptUntil = (world: World): Date => new Date(world.now().getTime() + keptForMs)

async function storedAnswers(
  world: World,
  environment: Environment,
  calls: readonly AnsweredCall[],
): Promise<StoredAnswer[]> {
  const answers: StoredAnswer[] = []
  for (const { idempotency, answer } of calls) {
    const { scopeHash, requestHash } = idempotency
    const body = isLong(answer.body, longMin) ? await jsonInTurns(answer.body) : JSON.stringify(answer.body)
    // Sealed: the answer may hold credentials.
    const sealed = world.sealer.seal(environment.id, 'idempotent-answer', scopeHash.toString('hex'), body)
    answers.push({ scopeHash, requestHash, status: answer.status, answer: sealed })
  }
  return answers
}

async function replay<Body>(
  world: World,
  environment: Environment,
  call: Idempotency,
  stored: StoredAnswer,
): Promise<Answer<Body> | Problem> {
  if (!stored.requestHash.equals(call.requestHash)) {
    return new Problem(422, `Request with key "${call.key}" is being reused for a different body`, {
      members: { errors: {} },
    })
  }
  const text = world.sealer.open(environment.id, 'idempotent-answer', call.scopeHash.toString('hex'), stored.answer)
  const body = (text.length > longMin ? await parseOurs(text) : JSON.parse(text)) as Body
  return { status: stored.status as Answer<Body>['status'], body, replayed: true }
}

function inProgress(call: Idempotency): Problem {
  return new Problem(409, `Request with key "${call.key}" is currently being processed. Please retry after 1 second`, {
    headers: { 'retry-after': '1' },
  })
}
