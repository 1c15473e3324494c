// What goes wrong in a seed beside single statements: freezes, outages, lost leases, stops, bad providers.
import type { Db } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Ledger } from './ledger.ts'
import type { SimulatedNode } from './node.ts'
import type { Behaviour, FakeProviders } from './providers.ts'
import type { Scenario } from './scenario.ts'
import type { Actor, Schedule } from './schedule.ts'
import type { Deaths, SeedFaults } from './seed-faults.ts'

export interface TroubleParts extends Deaths {
  readonly schedule: Schedule
  readonly scenario: Scenario
  readonly ledger: Ledger
  readonly faults: SeedFaults
  readonly providers: FakeProviders
  readonly actor: Actor
  readonly db: Db
  readonly environmentId: string
  living(): SimulatedNode[]
  startNode(): void
  setActive(account: string, active: boolean): Promise<void>
}

export function planTrouble(parts: TroubleParts): void {
  const { schedule, scenario, providers, faults } = parts
  const { random } = schedule
  const often = (count: number, label: string, happens: () => Promise<void> | void, transaction?: null): void => {
    for (let place = 0; place < count; place += 1) {
      schedule.add(parts.actor, random.integer(scenario.troubleMs), label, happens, transaction)
    }
  }
  often(scenario.freezes, 'freeze', () => freeze(parts))
  often(scenario.outages, 'outage', () => {
    const ms = 500 + random.integer(8_000)
    schedule.note(parts.actor, `OUTAGE of ${ms} ms`)
    faults.outage(ms)
  })
  often(scenario.expiries, 'expire', () => expireLeases(parts), null)
  often(scenario.stops, 'stop', () => stopNode(parts))
  often(scenario.switches, 'switch', () => switchOff(parts))
  if (scenario.providersAreBad) spoilProviders(parts)
  providers.onCall = (actor) => {
    if (!faults.isOver() && parts.mayDie(actor) && random.chance(0.05)) parts.kill(actor)
  }
}

const awake = ({ living, schedule }: TroubleParts): SimulatedNode[] =>
  living().filter((node) => node.frozenUntilMs <= schedule.nowMs && !node.isStopping)

function freeze(parts: TroubleParts): void {
  const { random } = parts.schedule
  const nodes = awake(parts)
  if (nodes.length === 0) return
  const ms = random.oneOf([3_000, 15_000, 70_000, 130_000])
  random.oneOf(nodes).freeze(ms, ms > 10_000 && random.chance(0.7))
}

/** Some of the leases end at once, while their nodes work on. */
async function expireLeases({ schedule, db, environmentId, ledger, actor }: TroubleParts): Promise<void> {
  const now = new Date(schedule.nowMs)
  const held = await db.rows<{ id: string }>(sql`
    select id from jobs where environment_id = ${environmentId} and lease is not null and due_at > ${now} order by id`)
  const lost = held.filter(() => schedule.random.chance(0.6)).map(({ id }) => id)
  if (lost.length === 0) return
  schedule.note(actor, `EXPIRES ${lost.length} leases`)
  ledger.interruptions.push({ node: 'all', fromMs: schedule.nowMs, untilMs: schedule.nowMs })
  await db.run(sql`
    update jobs set due_at = ${now} where environment_id = ${environmentId} and id = any(${lost}::uuid[])`)
}

function stopNode(parts: TroubleParts): void {
  const { random } = parts.schedule
  const nodes = awake(parts)
  if (nodes.length === 0) return
  random.oneOf(nodes).stop()
  parts.schedule.add(parts.actor, random.integer(3_000), 'start', () => parts.startNode())
}

/** One of several e-mail accounts: the others take over. */
function switchOff(parts: TroubleParts): void {
  const { random } = parts.schedule
  const accounts = parts.ledger.accounts.filter(({ channel }) => channel === 'email')
  if (accounts.length < 2) return
  const { name } = random.oneOf(accounts.slice(1))
  void parts.setActive(name, false)
  parts.schedule.add(parts.actor, 5_000 + random.integer(60_000), 'switch on', () => void parts.setActive(name, true))
}

function spoilProviders({ schedule: { random, nowMs }, ledger, providers }: TroubleParts): void {
  const behaviours: readonly Behaviour[] = ['flaky', 'busy', 'down', 'unsure', 'good']
  const names = [...ledger.accounts.map((one) => one.name), 'custom', 'rules']
  for (const name of names) {
    const untilMs = nowMs + random.integer(random.oneOf([30_000, 300_000, 900_000, 3_600_000]))
    providers.behave(name, random.oneOf(behaviours), untilMs)
  }
}
