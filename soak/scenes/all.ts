// The scenes, in the order in which they are run.
import type { Scene } from '../scene.ts'
import { oneNode, oneNodeAndDatabase, startBursts } from './one-node.ts'
import { databaseKilled, everythingKilled, threeNodes, twoNodesBothKilled, twoNodesOneKilled } from './several-nodes.ts'

export const scenes: readonly Scene[] = [
  oneNode,
  oneNodeAndDatabase,
  startBursts,
  twoNodesOneKilled,
  twoNodesBothKilled,
  threeNodes,
  databaseKilled,
  everythingKilled,
]
