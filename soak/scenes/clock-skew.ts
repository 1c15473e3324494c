// Nodes whose clocks are wrong: one is ten minutes ahead, one ten minutes behind, and they are killed as well.
import type { Scene } from '../scene.ts'
import { findProgram } from '../unprivileged.ts'
import { killNodes, prepareServer, sharedEnvironment } from './several-nodes.ts'

/** The program `faketime` stays the service's parent, and would be killed in its place; so only its library is used. */
const libraries = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (platform) => `/usr/lib/${platform}/faketime/libfaketimeMT.so.1`,
)

/** The clock that only goes forward stays as it is: no real machine is wrong about how long a second is. */
const skewed = (by: string): Record<string, string> => ({
  LD_PRELOAD: findProgram(...libraries) ?? '',
  FAKETIME: by,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  DONT_FAKE_MONOTONIC: '1',
})

export const clockSkew: Scene = {
  name: 'clock-skew',
  what: 'Three nodes, of which one is ten minutes ahead and one ten minutes behind; one at a time is killed.',
  unavailable: () =>
    findProgram(...libraries) === undefined ? 'libfaketime is missing (Debian: apt-get install faketime)' : undefined,
  prepare: async (stage) => {
    const server = await prepareServer(stage)
    const environment = sharedEnvironment(server.port)
    for (const clock of [{}, skewed('+10m'), skewed('-10m')]) {
      await stage.start(await stage.addNode({ ...environment, ...clock }))
    }
  },
  faults: (stage) => killNodes(stage, () => [stage.random.oneOf(stage.nodes)]),
}
