// posthorn dashboard: makes a link that signs in to the dashboard, once.

import { dashboardFolder, ownAddress, signInAddress } from '../../main/dashboard.ts'
import type { Command } from '../command.ts'
import { CommandFailed } from '../command.ts'
import { parsed } from '../terminal/arguments.ts'
import { environmentNamed, withStore } from './with-store.ts'

export const dashboardCommand: Command = {
  name: 'dashboard',
  about:
    'Prints a link that signs in to the dashboard, once. Local: whoever can read the database is the operator, and needs no password.',
  examples: ['posthorn dashboard', 'posthorn dashboard --environment Production'],
  usage: ['dashboard [--environment Development] [--url ADDRESS]'],
  run: async (terminal, args) => {
    const { config, print, note } = terminal
    const { environment: name, url } = readArguments(args)
    if (config.dashboard === 'off') throw new CommandFailed('The dashboard is disabled: POSTHORN_DASHBOARD is off.')
    if (dashboardFolder(config) === undefined) {
      throw new CommandFailed('The dashboard is not built. Run `npm run build`.')
    }
    await withStore(terminal, async (store) => {
      const environment = await environmentNamed(store, name)
      const base = (url ?? config.serviceUrl ?? ownAddress(config, config.port)).replace(/\/$/, '')
      print(await signInAddress(store.db, store.world, environment, base))
      note(`The link signs in to ${environment.name}. It works once, for ten minutes, in a browser on this machine.`)
    })
  },
}

function readArguments(args: readonly string[]): { environment: string; url?: string } {
  const options = { environment: { type: 'string', default: 'Development' }, url: { type: 'string' } } as const
  return parsed({ args: [...args], options }).values
}
