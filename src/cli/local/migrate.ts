// posthorn migrate: updates the database schema, and says what it did.
import { migrateStore, openStore } from '../../main/store.ts'
import type { Command } from '../command.ts'
import { refuseArguments } from '../command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  about:
    'Updates the database schema to this version, or installs it. `posthorn start` does the same. Local: it needs the database.',
  examples: ['DATABASE_URL=postgres://posthorn@db/posthorn posthorn migrate'],
  usage: ['migrate'],
  run: async ({ config, log, print }, args) => {
    refuseArguments('migrate', args)
    const store = await openStore(config, log, { embedded: 'join' })
    try {
      const applied = await migrateStore(store)
      print(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`)
    } finally {
      await store.close()
    }
  },
}
