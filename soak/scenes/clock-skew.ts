// Nodes whose clocks are wrong: one is ten minutes ahead, one ten minutes behind, and they are killed as well.
import type { Scene } from '../scene.ts'
import { findProgram } from '../unprivileged.ts'
import { killNodes, prepareServer, sharedEnvironment } from './several-nodes.ts'

const faketime = '/usr/bin/faketime'

/** The clock that only goes forward stays as it is: no real machine is wrong about how long a second is. */
const skewed = (by: string): string[] => [faketime, '--exclude-monotonic', '-f', by]

export const clockSkew: Scene = {
  name: 'clock-skew',
  what: 'Three nodes, of which one is ten minutes ahead and one ten minutes behind; one at a time is killed.',
  unavailable: () =>
    findProgram(faketime) === undefined ? 'faketime is missing (Debian: apt-get install faketime)' : undefined,
  prepare: async (stage) => {
    const server = await prepareServer(stage)
    const environment = sharedEnvironment(server.port)
    for (const prefix of [[], skewed('+10m'), skewed('-10m')]) {
      await stage.start(await stage.addNode(environment, prefix))
    }
  },
  faults: (stage) => killNodes(stage, () => [stage.random.oneOf(stage.nodes)]),
}
