// posthorn reseal: moves everything sealed with POSTHORN_ENCRYPTION_KEY_PREVIOUS to the current encryption key.
import { migrateStore, openStore } from '../../main/store.ts'
import { ensureInstallation } from '../../manage/operate/first-start.ts'
import { reseal } from '../../manage/operate/reseal.ts'
import type { Command } from '../command.ts'
import { refuseArguments } from '../command.ts'

export const resealCommand: Command = {
  name: 'reseal',
  about:
    'Encrypts every secret again with POSTHORN_ENCRYPTION_KEY, after it replaced POSTHORN_ENCRYPTION_KEY_PREVIOUS. Local: it needs the database and both keys.',
  examples: ['POSTHORN_ENCRYPTION_KEY=… POSTHORN_ENCRYPTION_KEY_PREVIOUS=… posthorn reseal'],
  usage: ['reseal'],
  run: async ({ config, log, print }, args) => {
    refuseArguments('reseal', args)
    const store = await openStore(config, log, { embedded: 'join', mustExist: true })
    try {
      await migrateStore(store)
      await ensureInstallation(store.db, store.world)
      const total = await reseal(store.db, store.world, (what, environment, count) => {
        print(`${environment.name}: ${count} ${what} re-encrypted`)
      })
      print(`Done: ${total} values were re-encrypted; everything is now encrypted with the current key.`)
      if (config.previousEncryptionKey === undefined) return
      print(
        'POSTHORN_ENCRYPTION_KEY_PREVIOUS is needed for one more day, until the stored responses to repeated requests have expired.',
      )
    } finally {
      await store.close()
    }
  },
}
