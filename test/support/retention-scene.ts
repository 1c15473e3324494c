// What tests of retention start from: a service whose time goes by in months, with partitions made on the way.
import { sql } from '../../src/db/sql.ts'
import type { RetentionDays } from '../../src/domain/operate/retention.ts'
import { preparePartitions } from '../../src/manage/operate/partitions.ts'
import type { RetentionResult } from '../../src/manage/operate/retention.ts'
import { applyRetention } from '../../src/manage/operate/retention.ts'
import type { TestApp } from './app.ts'
import { createTestApp } from './app.ts'
import { FlowScene } from './flow-scene.ts'

const dayMs = 24 * 60 * 60_000

/** A scene of its own: months that went do not come back. The fake world begins in January 2026. */
export interface RetentionScene {
  readonly app: TestApp
  readonly flow: FlowScene
  /** To noon of that day, with partitions made on the way. */
  until(day: string): Promise<void>
  retain(days?: RetentionDays): Promise<RetentionResult>
  tables(): Promise<string[]>
}

export async function createScene(): Promise<RetentionScene> {
  const app = await createTestApp()
  await preparePartitions(app.database.db, app.world)
  return {
    app,
    flow: new FlowScene(app),
    until: async (day) => {
      const target = Date.parse(`${day}T12:00:00.000Z`)
      while (app.world.now().getTime() < target) {
        app.world.advance(Math.min(14 * dayMs, target - app.world.now().getTime()))
        await preparePartitions(app.database.db, app.world)
      }
    },
    retain: (days = 90) => applyRetention(app.database.db, app.world, days, { progress: () => {} }),
    tables: async () => {
      const rows = await app.database.db.rows<{ name: string }>(sql`
        select relname as name from pg_class where relkind = 'r' and relname ~ '^jobs_[0-9]' order by relname`)
      return rows.map((row) => row.name.slice('jobs_'.length))
    },
  }
}
