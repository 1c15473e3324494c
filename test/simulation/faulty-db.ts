// A database that fails as the seed says: before a statement, after its commit, by timeouts, deadlocks and long waits.
import type { Database } from '../../src/db/connect.ts'
import type { Db, Sql, Statement, TransactionLimits, Tx } from '../../src/db/sql.ts'
import { DatabaseUnavailable } from '../../src/db/sql.ts'
import type { Actor, Schedule, TransactionOwner } from './schedule.ts'

/** What happens to one statement, or to one commit. */
export type Fault = 'none' | 'cut-before' | 'cut-after' | 'timeout' | 'deadlock' | 'late-answer' | 'die' | 'die-after'

export interface Faults {
  /** Asked for every statement and every commit. */
  next(actor: Actor, what: string): Fault
  latencyMs(): number
  lateMs(): number
  /** Ends the process: nothing of it happens any more. */
  kill(actor: Actor): void
}

const cut = (): DatabaseUnavailable => new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))
const timedOut = (): DatabaseUnavailable =>
  new DatabaseUnavailable(Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' }))
const deadlock = (): Error => Object.assign(new Error('deadlock detected'), { code: '40P01' })

type Ask = 'rows' | 'row' | 'run'

/** Open transactions, which end when their process does. */
interface Attempt {
  broken: Error | undefined
  end(error: Error): void
}

export class FaultyDb implements Db {
  readonly #real: Database
  readonly #schedule: Schedule
  readonly #actor: Actor
  readonly #faults: Faults
  readonly #open = new Set<Attempt>()

  constructor(real: Database, schedule: Schedule, actor: Actor, faults: Faults) {
    this.#real = real
    this.#schedule = schedule
    this.#actor = actor
    this.#faults = faults
  }

  rows<Row extends object>(statement: Statement): Promise<Row[]> {
    return this.#ask<Row[]>('rows', statement)
  }
  row<Row extends object>(statement: Statement): Promise<Row | undefined> {
    return this.#ask<Row | undefined>('row', statement)
  }
  run(statement: Statement): Promise<number> {
    return this.#ask<number>('run', statement)
  }
  together<Result>(work: (db: Sql) => Promise<Result>): Promise<Result> {
    return work(this)
  }

  /** The server ends what a process that died or froze had open. */
  breakTransactions(): void {
    for (const attempt of this.#open) {
      attempt.broken = cut()
      attempt.end(attempt.broken)
    }
  }

  #ask<Result>(how: Ask, statement: Statement): Promise<Result> {
    const what = nameOf(statement)
    return new Promise<Result>((resolve, reject) => {
      const fire = async (): Promise<void> => {
        const fault = this.#faults.next(this.#actor, what)
        this.#schedule.note(this.#actor, `${what}${fault === 'none' ? '' : ` [${fault}]`}`)
        if (fault === 'die') return this.#faults.kill(this.#actor)
        if (fault === 'cut-before') return reject(cut())
        if (fault === 'timeout') return reject(timedOut())
        if (fault === 'deadlock') return reject(new DatabaseUnavailable(deadlock()))
        const ended = await settled(() => this.#real[how](statement) as Promise<Result>)
        if (fault === 'die-after') return this.#faults.kill(this.#actor)
        const answer = (): void => {
          if (fault === 'cut-after') reject(cut())
          else if ('error' in ended) reject(ended.error)
          else resolve(ended.value)
        }
        if (fault === 'late-answer') this.#schedule.add(this.#actor, this.#faults.lateMs(), `answer ${what}`, answer)
        else answer()
      }
      const reads = /^\s*(select|with)\b/i.test(statement.text) && !/\b(update|insert|delete)\b/i.test(statement.text)
      this.#schedule.add(this.#actor, this.#faults.latencyMs(), what, fire, null, reads)
    })
  }

  transaction<Result>(work: (tx: Tx) => Promise<Result>, limits?: TransactionLimits): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const fire = async (): Promise<void> => {
        if (this.#schedule.owner !== undefined) throw new Error('Two transactions at a time')
        const fault = this.#faults.next(this.#actor, 'begin')
        if (fault === 'die') return this.#faults.kill(this.#actor)
        if (fault === 'cut-before') return reject(cut())
        await new TransactionRun<Result>(this.#parts(), { work, limits, resolve, reject }).begin()
      }
      this.#schedule.add(this.#actor, this.#faults.latencyMs(), 'begin', fire, null)
    })
  }

  #parts(): RunParts {
    return {
      real: this.#real,
      schedule: this.#schedule,
      actor: this.#actor,
      faults: this.#faults,
      open: this.#open,
    }
  }
}

interface RunParts {
  readonly real: Database
  readonly schedule: Schedule
  readonly actor: Actor
  readonly faults: Faults
  readonly open: Set<Attempt>
}

interface Asked<Result> {
  work(tx: Tx): Promise<Result>
  readonly limits: TransactionLimits | undefined
  resolve(result: Result): void
  reject(error: unknown): void
}

/** One call of `transaction`: the database is its own until it ends. */
class TransactionRun<Result> implements TransactionOwner {
  isAbandoned = false
  readonly #parts: RunParts
  readonly #asked: Asked<Result>
  /** Called when the real transaction has begun another attempt, or is over. */
  #moved: () => void = () => {}
  #lostAnswer = false

  constructor(parts: RunParts, asked: Asked<Result>) {
    this.#parts = parts
    this.#asked = asked
  }

  get actor(): Actor {
    return this.#parts.actor
  }

  async begin(): Promise<void> {
    const { schedule, real, actor } = this.#parts
    schedule.owner = this
    const over = (): void => {
      if (schedule.owner === this) schedule.owner = undefined
      this.#moved()
    }
    await this.#next(() => {
      real
        .transaction((tx) => this.#attempt(tx), this.#asked.limits)
        .then(
          (result) => {
            over()
            if (actor.isDead) return
            if (this.#lostAnswer) this.#asked.reject(cut())
            else this.#asked.resolve(result)
          },
          (error) => {
            over()
            if (!actor.isDead) this.#asked.reject(error)
          },
        )
    })
  }

  /** Until the real transaction has come to its next rest. */
  #next(start: () => void): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#moved = resolve
      start()
    })
  }

  #attempt(real: Tx): Promise<Result> {
    const { schedule, actor, faults, open } = this.#parts
    return new Promise<Result>((resolve, reject) => {
      const attempt: Attempt = {
        broken: undefined,
        end: (error) => {
          this.isAbandoned = true
          open.delete(attempt)
          reject(error)
        },
      }
      open.add(attempt)
      const end = (what: string, how: () => void): void =>
        schedule.add(
          actor,
          0,
          what,
          () => {
            // The server has ended it already, as its process was frozen meanwhile: nothing moves any more.
            if (this.isAbandoned) return
            return this.#next(() => {
              open.delete(attempt)
              how()
            })
          },
          this,
        )
      this.#asked.work(this.#txOf(real, attempt)).then(
        (result) =>
          end('commit', () => {
            const fault = faults.next(actor, 'commit')
            schedule.note(actor, `commit${fault === 'none' ? '' : ` [${fault}]`}`)
            if (attempt.broken !== undefined) return reject(attempt.broken)
            if (fault === 'cut-before' || fault === 'timeout') return reject(cut())
            if (fault === 'deadlock') return reject(deadlock())
            if (fault === 'die') faults.kill(actor)
            if (fault === 'die') return reject(cut())
            if (fault === 'die-after') faults.kill(actor)
            if (fault === 'cut-after') this.#lostAnswer = true
            resolve(result)
          }),
        (error) => end('rollback', () => reject(error)),
      )
      this.#moved()
    })
  }

  #txOf(real: Tx, attempt: Attempt): Tx {
    const { schedule, actor, faults } = this.#parts
    const ask = <Answer>(how: Ask, statement: Statement): Promise<Answer> => {
      const what = `tx ${nameOf(statement)}`
      return new Promise<Answer>((resolve, reject) => {
        const fire = async (): Promise<void> => {
          if (attempt.broken !== undefined) return reject(attempt.broken)
          const fault = faults.next(actor, what)
          schedule.note(actor, `${what}${fault === 'none' ? '' : ` [${fault}]`}`)
          if (fault === 'die' || fault === 'die-after') return faults.kill(actor)
          if (fault === 'cut-before' || fault === 'cut-after') attempt.broken = cut()
          if (fault === 'timeout') attempt.broken = timedOut()
          if (fault === 'deadlock') attempt.broken = deadlock()
          if (attempt.broken !== undefined) return reject(attempt.broken)
          const ended = await settled(() => real[how](statement) as Promise<Answer>)
          if ('error' in ended) reject(ended.error)
          else resolve(ended.value)
        }
        schedule.add(actor, faults.latencyMs(), what, fire, this)
      })
    }
    return {
      inTransaction: true,
      // No one follows an inbox in a simulation.
      afterCommit: () => {},
      rows: (statement) => ask('rows', statement),
      row: (statement) => ask('row', statement),
      run: (statement) => ask('run', statement),
    }
  }
}

async function settled<Result>(work: () => Promise<Result>): Promise<{ value: Result } | { error: unknown }> {
  try {
    return { value: await work() }
  } catch (error) {
    return { error }
  }
}

/** Enough of a statement to know it by. */
export function nameOf(statement: Statement): string {
  return statement.name ?? statement.text.replace(/\s+/g, ' ').trim().slice(0, 60)
}
