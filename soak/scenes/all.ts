// The scenes, in the order in which they are run.
import type { Scene } from '../scene.ts'
import { clockSkew } from './clock-skew.ts'
import { failoverHaproxy, failoverPgbouncer } from './failover.ts'
import { frozenNode } from './frozen.ts'
import { fullDisk } from './full-disk.ts'
import { databaseResets, providerResets, slowDatabase } from './network.ts'
import { oneNode, oneNodeAndDatabase, startBursts } from './one-node.ts'
import { processKilled } from './processes.ts'
import { providerFaults, providerSlow } from './providers.ts'
import { databaseKilled, everythingKilled, threeNodes, twoNodesBothKilled, twoNodesOneKilled } from './several-nodes.ts'

export const scenes: readonly Scene[] = [
  oneNode,
  oneNodeAndDatabase,
  startBursts,
  processKilled,
  twoNodesOneKilled,
  twoNodesBothKilled,
  threeNodes,
  databaseKilled,
  everythingKilled,
  failoverHaproxy,
  failoverPgbouncer,
  databaseResets,
  slowDatabase,
  clockSkew,
  frozenNode,
  fullDisk,
  providerSlow,
  providerResets,
  providerFaults,
]
